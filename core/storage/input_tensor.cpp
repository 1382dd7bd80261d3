#include "core/storage/input_tensor.h"

#include "core/storage/h5_data.h"

#include <algorithm>
#include <bit>

namespace ulpscope::storage {
namespace {

using base::DType;

static_assert(std::endian::native == std::endian::little, "16-bit floats are read as they lie in the file");

constexpr const char* kTypesRead = "float16, bfloat16, float32, float64, int8 to int64, uint8 and bool are read";

// How a dataset's elements become a tensor's: the type asked of HDF5, and whether we turn the bytes afterwards.
struct Reading {
  DType dtype;
  h5::Type memory;  // equal to the stored type but for byte order
  bool swapBytes = false;
};

Reading reading(DType dtype, hid_t memory) { return {dtype, h5::Type(h5::check(H5Tcopy(memory), "cannot be made")), false}; }

// The stored type itself, so that HDF5 converts nothing.
Reading asStored(DType dtype, hid_t stored, bool bigEndian) {
  Reading result = reading(dtype, stored);
  result.swapBytes = bigEndian;
  return result;
}

bool hasLayout(hid_t type, hid_t layout) {
  const h5::Type little(h5::check(H5Tcopy(type), "has no readable type"));
  h5::check(H5Tset_order(little, H5T_ORDER_LE), "has no readable type");
  return H5Tequal(little, layout) > 0;
}

std::string dtypeAttribute(hid_t dataset) { return h5::hasAttribute(dataset, "dtype") ? h5::readTextAttribute(dataset, "dtype") : ""; }

Reading floatReading(hid_t stored, const std::string& name) {
  const bool bigEndian = H5Tget_order(stored) == H5T_ORDER_BE;
  if (hasLayout(stored, H5T_IEEE_F32LE)) return reading(DType::float32, H5T_NATIVE_FLOAT);
  if (hasLayout(stored, H5T_IEEE_F64LE)) return reading(DType::float64, H5T_NATIVE_DOUBLE);
  if (hasLayout(stored, h5::halfType())) return asStored(DType::float16, stored, bigEndian);
  if (hasLayout(stored, h5::bfloat16Type())) return asStored(DType::bfloat16, stored, bigEndian);
  h5::fail("is a float of " + std::to_string(8 * H5Tget_size(stored)) + " bits in a layout PyTorch does not have", name, kTypesRead);
}

Reading integerReading(hid_t stored, const std::string& dtype, const std::string& name) {
  const std::size_t size = H5Tget_size(stored);
  const bool isSigned = H5Tget_sign(stored) == H5T_SGN_2;
  if (H5Tget_precision(stored) != 8 * size) h5::fail("is an integer with padding bits", name, kTypesRead);
  if (!isSigned && size == 1) return reading(DType::uint8, H5T_NATIVE_UINT8);
  if (!isSigned && size == 2 && dtype == "bfloat16") return asStored(DType::bfloat16, stored, H5Tget_order(stored) == H5T_ORDER_BE);
  if (!isSigned)
    h5::fail("is uint" + std::to_string(8 * size) + ", which PyTorch does not have", name,
             "store it as int64 (bfloat16 bits in uint16: add the attribute dtype=\"bfloat16\")");
  switch (size) {
    case 1: return reading(DType::int8, H5T_NATIVE_INT8);
    case 2: return reading(DType::int16, H5T_NATIVE_INT16);
    case 4: return reading(DType::int32, H5T_NATIVE_INT32);
    case 8: return reading(DType::int64, H5T_NATIVE_INT64);
    default: h5::fail("is an integer of " + std::to_string(size) + " bytes", name, kTypesRead);
  }
}

Reading readingOf(hid_t dataset, hid_t stored, const std::string& name) {
  switch (H5Tget_class(stored)) {
    case H5T_FLOAT: return floatReading(stored, name);
    case H5T_INTEGER: return integerReading(stored, dtypeAttribute(dataset), name);
    case H5T_ENUM:
      if (H5Tequal(stored, h5::boolType()) > 0) return asStored(DType::boolean, stored, false);
      h5::fail("is an enumeration other than h5py's bool", name, kTypesRead);
    case H5T_OPAQUE:
      if (H5Tget_size(stored) == 2 && dtypeAttribute(dataset) == "bfloat16") return asStored(DType::bfloat16, stored, false);
      h5::fail("is opaque data", name, std::string(kTypesRead) + " (bfloat16 in 2 opaque bytes: add the attribute dtype=\"bfloat16\")");
    case H5T_STRING: h5::fail("holds text; an input is an array of numbers", name, "move other data into a file of its own");
    case H5T_COMPOUND: h5::fail("holds records (or complex numbers); an input is an array of plain numbers", name, kTypesRead);
    default: h5::fail("is of a type no tensor has", name, kTypesRead);
  }
}

void swapPairs(std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) std::swap(bytes[i], bytes[i + 1]);
}

// The elements that `file` and `memory` (spaces, or H5S_ALL) choose, of which there are as many as tensor.shape says.
void readInto(RawTensor& tensor, const h5::Dataset& dataset, const Reading& how, hid_t memory, hid_t file) {
  tensor.dtype = how.dtype;
  tensor.bytes.resize(h5::byteCount(tensor.shape, base::sizeBytes(how.dtype), tensor.name));
  if (!tensor.bytes.empty())
    h5::check(H5Dread(dataset, how.memory, memory, file, H5P_DEFAULT, tensor.bytes.data()), "cannot be read", tensor.name);
  if (how.swapBytes) swapPairs(tensor.bytes);
  checkBools(tensor);
}

Reading readingOf(const h5::Dataset& dataset, const std::string& name) {
  const h5::Type stored(h5::check(H5Dget_type(dataset), "has no readable type", name));
  return readingOf(dataset, stored, name);
}

}  // namespace

void checkBools(const RawTensor& tensor) {
  if (tensor.dtype != DType::boolean) return;
  if (std::any_of(tensor.bytes.begin(), tensor.bytes.end(), [](std::byte b) { return b > std::byte{1}; }))
    h5::fail("holds bools that are neither false nor true", tensor.name, "the file is damaged");
}

RawTensor readTensor(hid_t group, const std::string& name) {
  const h5::Dataset dataset = h5::openDataset(group, name);
  RawTensor tensor;
  tensor.name = name;
  const Reading how = readingOf(dataset, name);
  tensor.shape = h5::shapeOf(dataset, name);
  readInto(tensor, dataset, how, H5S_ALL, H5S_ALL);
  return tensor;
}

InputShape shapeOfTensor(hid_t group, const std::string& name) {
  const h5::Dataset dataset = h5::openDataset(group, name);
  return {name, readingOf(dataset, name).dtype, h5::shapeOf(dataset, name)};
}

RawTensor readSlice(hid_t group, const std::string& name, int axis, std::int64_t index) {
  const h5::Dataset dataset = h5::openDataset(group, name);
  RawTensor tensor;
  tensor.name = name;
  tensor.shape = h5::shapeOf(dataset, name);
  std::vector<hsize_t> start(tensor.shape.size(), 0), count(tensor.shape.begin(), tensor.shape.end());
  start[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(index);
  count[static_cast<std::size_t>(axis)] = 1;
  tensor.shape.erase(tensor.shape.begin() + axis);
  const h5::Space file(h5::check(H5Dget_space(dataset), "has no readable shape", name));
  h5::check(H5Sselect_hyperslab(file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "cannot be read", name);
  const h5::Space memory(h5::check(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), "cannot be read", name));
  readInto(tensor, dataset, readingOf(dataset, name), memory, file);
  return tensor;
}

}  // namespace ulpscope::storage
