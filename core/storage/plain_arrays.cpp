#include "core/storage/plain_arrays.h"

#include "core/base/float_formats.h"
#include "core/storage/h5_data.h"
#include "core/storage/strided_copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ulpscope::storage {
namespace {

using base::DType;
using base::Error;
using base::ErrorKind;
using base::Result;

std::string placeOf(const PlainArrays& file, const PlainArray& array) { return file.path + ", " + array.name; }

Error faultOf(const PlainArrays& file, const PlainArray& array, const std::string& what, const std::string& remedy) {
  return Error{ErrorKind::input, what, placeOf(file, array), remedy};
}

std::vector<std::int64_t> stridesOf(const PlainArray& array) {
  std::vector<std::int64_t> strides(array.shape.size());
  std::int64_t step = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t axis = array.fortranOrder ? i : strides.size() - 1 - i;
    strides[axis] = step;
    step *= array.shape[axis];
  }
  return strides;
}

// The two halves of a complex number are turned each by itself, as is each character of a text.
std::size_t turnedBytes(const ElementType& type) {
  if (type.kind == ElementType::Kind::bytes) return 1;
  if (type.kind == ElementType::Kind::unicode) return 4;
  return type.kind == ElementType::Kind::number && base::isComplex(type.dtype) ? type.sizeBytes / 2 : type.sizeBytes;
}

void turn(std::vector<std::byte>& bytes, const ElementType& type) {
  const std::size_t unit = turnedBytes(type);
  if (!type.bigEndian || unit == 1) return;
  for (std::size_t i = 0; i + unit <= bytes.size(); i += unit) std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + unit));
}

// All bytes of the array in row-major order.
Result<std::vector<std::byte>> bytesOf(const PlainArrays& file, const PlainArray& array) {
  const auto count = byteCount(array.shape, array.type.sizeBytes);
  if (!count) return faultOf(file, array, "declares more elements than any memory can hold", "the file is damaged or hostile");
  if (*count == 0) return std::vector<std::byte>();
  auto read = file.read(array.record, {{array.firstByte, *count}});
  if (!read) return read.error();
  std::vector<std::byte> bytes = std::move(read.value().front());
  turn(bytes, array.type);
  if (!array.fortranOrder || array.shape.size() < 2) return bytes;
  std::vector<std::byte> ordered(bytes.size());
  StridedCopy(bytes.data(), array.type.sizeBytes, array.shape, stridesOf(array)).next(ordered.data(), ordered.size());
  return ordered;
}

base::Status checkTensor(const PlainArrays& file, const PlainArray& array) {
  if (array.type.isText()) return faultOf(file, array, "holds text; an input is an array of numbers", "move other data into a file of its own");
  if (array.type.kind == ElementType::Kind::unsignedInteger)
    return faultOf(file, array, fmt::format("is uint{}, which PyTorch does not have", 8 * array.type.sizeBytes), "store it as int64");
  return base::success();
}

base::Status checkBools(const PlainArrays& file, const PlainArray& array, const RawTensor& tensor) {
  if (tensor.dtype != DType::boolean || std::all_of(tensor.bytes.begin(), tensor.bytes.end(), [](std::byte b) { return b <= std::byte{1}; })) return base::success();
  return faultOf(file, array, "holds bools that are neither false nor true", "the file is damaged");
}

base::Status checkColumn(const PlainArrays& file, const PlainArray& array) {
  if (array.shape.size() == 1) return base::success();
  return faultOf(file, array, fmt::format("has {} where one entry a sample belongs", shapeText(array.shape)), "store it with one dimension");
}

template <typename T>
T elementAt(const std::vector<std::byte>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

bool isInteger(const ElementType& type) {
  return type.kind == ElementType::Kind::unsignedInteger || (type.kind == ElementType::Kind::number && !base::isInexact(type.dtype) && type.dtype != DType::boolean);
}

// Precondition: isInteger. Of an unsigned 64-bit number beyond int64 the negative that its bits are.
std::int64_t integerAt(const std::vector<std::byte>& bytes, const ElementType& type, std::size_t i) {
  const bool isUnsigned = type.kind == ElementType::Kind::unsignedInteger || type.dtype == DType::uint8;
  switch (type.sizeBytes) {
    case 1: return isUnsigned ? std::int64_t{elementAt<std::uint8_t>(bytes, i)} : std::int64_t{elementAt<std::int8_t>(bytes, i)};
    case 2: return isUnsigned ? std::int64_t{elementAt<std::uint16_t>(bytes, i)} : std::int64_t{elementAt<std::int16_t>(bytes, i)};
    case 4: return isUnsigned ? std::int64_t{elementAt<std::uint32_t>(bytes, i)} : std::int64_t{elementAt<std::int32_t>(bytes, i)};
    default: return elementAt<std::int64_t>(bytes, i);
  }
}

double doubleAt(const std::vector<std::byte>& bytes, DType dtype, std::size_t i) {
  switch (dtype) {
    case DType::float64: return elementAt<double>(bytes, i);
    case DType::float32: return elementAt<float>(bytes, i);
    case DType::float16: return base::floatFromHalf(elementAt<std::uint16_t>(bytes, i));
    default: return base::floatFromBfloat16(elementAt<std::uint16_t>(bytes, i));
  }
}

// False for what is no character: a surrogate, or beyond U+10FFFF.
bool appendUtf8(std::string& text, std::uint32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return false;
  const int following = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr std::array<std::uint32_t, 4> kLead{0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kLead[static_cast<std::size_t>(following)] | c >> 6 * following);
  for (int i = following; i-- > 0;) text += static_cast<char>(0x80 | (c >> 6 * i & 0x3F));
  return true;
}

// numpy fills texts up with zeros. Nothing: it is not Unicode, or holds a zero before its end.
std::optional<std::string> textAt(const std::vector<std::byte>& bytes, const ElementType& type, std::size_t i) {
  const std::byte* first = bytes.data() + i * type.sizeBytes;
  std::string text;
  if (type.kind == ElementType::Kind::bytes) {
    text.assign(reinterpret_cast<const char*>(first), type.sizeBytes);
    text.erase(text.find_last_not_of('\0') + 1);
  } else {
    std::vector<std::uint32_t> characters(type.sizeBytes / 4);
    if (!characters.empty()) std::memcpy(characters.data(), first, 4 * characters.size());
    while (!characters.empty() && characters.back() == 0) characters.pop_back();
    for (const std::uint32_t c : characters)
      if (!appendUtf8(text, c)) return std::nullopt;
  }
  return h5::isUtf8(text) && text.find('\0') == std::string::npos ? std::optional(text) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> byteCount(const std::vector<std::int64_t>& shape, std::size_t elementBytes) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 46;
  std::uint64_t bytes = elementBytes;
  bool isEmpty = bytes == 0;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    isEmpty = isEmpty || size == 0;
  }
  if (isEmpty) return 0;
  for (const std::int64_t size : shape) {
    if (static_cast<std::uint64_t>(size) > kLargest / bytes) return std::nullopt;
    bytes *= static_cast<std::uint64_t>(size);
  }
  return bytes;
}

std::string shapeText(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Result<RawTensor> readPlain(const PlainArrays& file, const PlainArray& array) {
  if (auto good = checkTensor(file, array); !good) return good.error();
  auto bytes = bytesOf(file, array);
  if (!bytes) return bytes.error();
  RawTensor tensor{array.name, array.type.dtype, array.shape, std::move(bytes).value()};
  if (auto good = checkBools(file, array, tensor); !good) return good.error();
  return tensor;
}

Result<std::vector<std::string>> readPlainTexts(const PlainArrays& file, const PlainArray& array) {
  if (!array.type.isText()) return faultOf(file, array, "does not hold text", "store it as numpy.array([\"a\", \"b\"])");
  if (array.shape.size() > 1) return faultOf(file, array, fmt::format("has {} where one text a row belongs", shapeText(array.shape)), "store it with one dimension");
  const auto bytes = bytesOf(file, array);
  if (!bytes) return bytes.error();
  const std::int64_t count = array.shape.empty() ? 1 : array.shape.front();
  std::vector<std::string> texts;
  if (array.type.sizeBytes == 0 && count > 1) return faultOf(file, array, "holds empty texts alone", "store what they are to say");
  for (std::int64_t i = 0; i < count; ++i) {
    auto text = textAt(bytes.value(), array.type, static_cast<std::size_t>(i));
    if (!text) return faultOf(file, array, fmt::format("holds a text, number {}, that is not UTF-8 or has a zero in it", i), "store it as numpy.array([\"a\", \"b\"])");
    texts.push_back(std::move(*text));
  }
  return texts;
}

Result<std::vector<std::int64_t>> readPlainIntegers(const PlainArrays& file, const PlainArray& array) {
  if (!isInteger(array.type)) return faultOf(file, array, "does not hold integers", "store it as int64");
  if (auto good = checkColumn(file, array); !good) return good.error();
  const auto bytes = bytesOf(file, array);
  if (!bytes) return bytes.error();
  const bool mayExceed = array.type.kind == ElementType::Kind::unsignedInteger && array.type.sizeBytes == 8;
  std::vector<std::int64_t> values(static_cast<std::size_t>(array.shape.front()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = integerAt(bytes.value(), array.type, i);
    if (mayExceed && values[i] < 0) return faultOf(file, array, fmt::format("holds {}, more than int64 does", static_cast<std::uint64_t>(values[i])), "store it as int64");
  }
  return values;
}

Result<std::vector<double>> readPlainDoubles(const PlainArrays& file, const PlainArray& array) {
  if (array.type.kind != ElementType::Kind::number || !base::isFloating(array.type.dtype)) return faultOf(file, array, "does not hold floating-point numbers", "store it as float32 or float64");
  if (auto good = checkColumn(file, array); !good) return good.error();
  const auto bytes = bytesOf(file, array);
  if (!bytes) return bytes.error();
  std::vector<double> values(static_cast<std::size_t>(array.shape.front()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = doubleAt(bytes.value(), array.type.dtype, i);
  return values;
}

Result<std::vector<RawTensor>> readPlainSamples(const PlainArrays& file, const PlainArray& array, const SampleSlices& slices) {
  if (auto good = checkTensor(file, array); !good) return good.error();
  const StridedTensor strided{array.name, array.type.dtype, array.shape, stridesOf(array), array.firstByte};
  auto samples = readStridedSamples(file.path, strided, slices, [&](const std::vector<model::StorageWindow>& windows) { return file.read(array.record, windows); });
  if (!samples) return samples.error();
  for (RawTensor& sample : samples.value()) {
    turn(sample.bytes, array.type);
    if (auto good = checkBools(file, array, sample); !good) return good.error();
  }
  return samples;
}

}  // namespace ulpscope::storage
