#include "core/storage/capture_types.h"

#include <fmt/format.h>

namespace ulpscope::storage {
namespace {

using base::DType;

constexpr DType kAll[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64,     DType::int32,
                          DType::int16,   DType::int8,    DType::uint8,   DType::boolean,  DType::complex64, DType::complex128};

h5::Type copied(hid_t type) { return h5::Type(h5::check(H5Tcopy(type), "cannot be made")); }

h5::Type complexType(hid_t part) {
  const std::size_t size = H5Tget_size(part);
  h5::Type type(h5::check(H5Tcreate(H5T_COMPOUND, 2 * size), "cannot be made"));
  h5::check(H5Tinsert(type, "r", 0, part), "cannot be made");
  h5::check(H5Tinsert(type, "i", size, part), "cannot be made");
  return type;
}

}  // namespace

h5::Type typeOf(DType dtype) {
  switch (dtype) {
    case DType::float64: return copied(H5T_IEEE_F64LE);
    case DType::float32: return copied(H5T_IEEE_F32LE);
    case DType::float16: return h5::halfType();
    case DType::bfloat16: return h5::bfloat16Type();
    case DType::int64: return copied(H5T_STD_I64LE);
    case DType::int32: return copied(H5T_STD_I32LE);
    case DType::int16: return copied(H5T_STD_I16LE);
    case DType::int8: return copied(H5T_STD_I8LE);
    case DType::uint8: return copied(H5T_STD_U8LE);
    case DType::boolean: return h5::boolType();
    case DType::complex64: return complexType(H5T_IEEE_F32LE);
    case DType::complex128: return complexType(H5T_IEEE_F64LE);
  }
  h5::fail("has no type in HDF5", base::name(dtype));
}

DType dtypeOf(hid_t type, const std::string& name) {
  for (const DType dtype : kAll)
    if (H5Tequal(type, typeOf(dtype)) > 0) return dtype;
  h5::fail("has a type that no captured tensor has", name, "the file is damaged");
}

std::string captureName(std::size_t index) { return fmt::format("capture_{:06}", index); }
std::string sideName(RunSide side) { return side == RunSide::reference ? "reference" : "candidate"; }
std::string batchName(RunSide side, std::int64_t batch) { return fmt::format("{}_b{:04}", sideName(side), batch); }

}  // namespace ulpscope::storage
