#include "core/base/dtype.h"

#include "core/base/error.h"

#include <array>

namespace ulpscope::base {
namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  std::size_t size;
};

constexpr std::array<DTypeRow, 12> kDTypes{{{DType::float64, "float64", 8},
                                            {DType::float32, "float32", 4},
                                            {DType::float16, "float16", 2},
                                            {DType::bfloat16, "bfloat16", 2},
                                            {DType::int64, "int64", 8},
                                            {DType::int32, "int32", 4},
                                            {DType::int16, "int16", 2},
                                            {DType::int8, "int8", 1},
                                            {DType::uint8, "uint8", 1},
                                            {DType::boolean, "bool", 1},
                                            {DType::complex64, "complex64", 8},
                                            {DType::complex128, "complex128", 16}}};

const DTypeRow& row(DType dtype) {
  for (const DTypeRow& r : kDTypes)
    if (r.dtype == dtype) return r;
  ULPSCOPE_CHECK(false);
}

}  // namespace

std::string name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtypeFromName(const std::string& name) {
  for (const DTypeRow& r : kDTypes)
    if (name == r.name) return r.dtype;
  return std::nullopt;
}

std::size_t sizeBytes(DType dtype) { return row(dtype).size; }

bool isFloating(DType dtype) {
  return dtype == DType::float64 || dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16;
}

bool isComplex(DType dtype) { return dtype == DType::complex64 || dtype == DType::complex128; }

bool isInexact(DType dtype) { return isFloating(dtype) || isComplex(dtype); }

}  // namespace ulpscope::base
