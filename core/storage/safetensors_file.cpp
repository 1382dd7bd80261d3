#include "core/storage/array_files.h"
#include "core/storage/file_windows.h"
#include "core/storage/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ulpscope::storage {
namespace {

using base::DType;
using base::Error;
using base::ErrorKind;
using base::Result;
using Kind = ElementType::Kind;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeader = 100'000'000;  // the format's own limit
constexpr const char* kAgain = "copy the file again, or save it again";

struct NamedType {
  const char* name;
  ElementType type;
};
constexpr std::array<NamedType, 14> kTypes{{{"F64", {Kind::number, DType::float64, 8}}, {"F32", {Kind::number, DType::float32, 4}}, {"F16", {Kind::number, DType::float16, 2}},
                                            {"BF16", {Kind::number, DType::bfloat16, 2}}, {"I64", {Kind::number, DType::int64, 8}}, {"I32", {Kind::number, DType::int32, 4}},
                                            {"I16", {Kind::number, DType::int16, 2}}, {"I8", {Kind::number, DType::int8, 1}}, {"U8", {Kind::number, DType::uint8, 1}},
                                            {"BOOL", {Kind::number, DType::boolean, 1}}, {"C64", {Kind::number, DType::complex64, 8}}, {"U16", {Kind::unsignedInteger, DType::int64, 2}},
                                            {"U32", {Kind::unsignedInteger, DType::int64, 4}}, {"U64", {Kind::unsignedInteger, DType::int64, 8}}}};

Result<PlainArray> arrayOf(const SafetensorsEntry& entry, std::uint64_t dataBegin, const std::string& path) {
  const std::string place = path + ", " + entry.name;
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const NamedType& t) { return entry.dtype == t.name; });
  if (type == kTypes.end())
    return Error{ErrorKind::input, "is of the type '" + entry.dtype.substr(0, 20) + "', which no tensor here has", place, "F16, BF16, F32, F64, I8 to I64, U8, BOOL and C64 are read"};
  const auto bytes = byteCount(entry.shape, type->type.sizeBytes);
  if (!bytes) return Error{ErrorKind::input, "declares " + shapeText(entry.shape) + ", more elements than any memory can hold", place, "the file is damaged or hostile"};
  if (entry.begin > entry.end || entry.end - entry.begin != *bytes)
    return Error{ErrorKind::input, fmt::format("lies from byte {} to {} of the data, but {} of {} takes {} bytes", entry.begin, entry.end, shapeText(entry.shape), entry.dtype, *bytes), place, kAgain};
  return PlainArray{entry.name, type->type, entry.shape, false, "", dataBegin + entry.begin};
}

// The format allows neither holes nor overlaps: nothing can hide between tensors.
base::Status checkCovered(std::vector<SafetensorsEntry> entries, std::uint64_t dataBytes, const std::string& path) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t at = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.end > dataBytes) return Error{ErrorKind::input, fmt::format("is cut short: '{}' ends at byte {} of the data, of which there are {}", entry.name.substr(0, 80), entry.end, dataBytes), path, kAgain};
    if (entry.begin != at)
      return Error{ErrorKind::input, fmt::format("{} at byte {} of its data, before '{}' begins at {}", entry.begin > at ? "has a hole" : "has tensors that overlap", at, entry.name.substr(0, 80), entry.begin), path, kAgain};
    at = entry.end;
  }
  if (at != dataBytes) return Error{ErrorKind::input, fmt::format("has {} bytes after its last tensor, at byte {} of its data", dataBytes - at, at), path, kAgain};
  return base::success();
}

Result<std::string> headerText(const std::string& path, std::uint64_t size) {
  if (size < kLengthBytes + 2) return Error{ErrorKind::input, fmt::format("is cut short: {} bytes, not even a header", size), path, kAgain};
  const auto start = startOfFile(path, kLengthBytes);
  if (!start) return start.error();
  std::uint64_t length = 0;
  std::memcpy(&length, start->data(), std::min<std::size_t>(start->size(), kLengthBytes));
  if (length > kMostHeader) return Error{ErrorKind::input, fmt::format("declares a header of {} bytes; safetensors allows {}", length, kMostHeader), path, kAgain};
  if (length > size - kLengthBytes) return Error{ErrorKind::input, fmt::format("is cut short: its header is to end at byte {}, the file at {}", kLengthBytes + length, size), path, kAgain};
  const auto bytes = readFileWindows(path, {{kLengthBytes, length}});
  if (!bytes) return bytes.error();
  const std::vector<std::byte>& text = bytes->front();
  return std::string(reinterpret_cast<const char*>(text.data()), text.size());
}

}  // namespace

Result<PlainArrays> openSafetensors(const std::string& path) {
  const auto size = sizeOfFile(path);
  if (!size) return size.error();
  const auto text = headerText(path, size.value());
  if (!text) return text.error();
  auto header = readSafetensorsHeader(text.value(), path);
  if (!header) return header.error();
  const std::uint64_t dataBegin = kLengthBytes + text->size();
  PlainArrays file{path, {}, std::move(header.value().metadata), [path](const std::string&, const std::vector<model::StorageWindow>& windows) { return readFileWindows(path, windows); }};
  for (const SafetensorsEntry& entry : header->entries) {
    auto array = arrayOf(entry, dataBegin, path);
    if (!array) return array.error();
    file.arrays.push_back(std::move(array).value());
  }
  if (auto covered = checkCovered(header->entries, size.value() - dataBegin, path); !covered) return covered.error();
  return file;
}

}  // namespace ulpscope::storage
