// Element types, with the names used in JSON, HDF5 attributes and texts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace ulpscope::base {

enum class DType { float64, float32, float16, bfloat16, int64, int32, int16, int8, uint8, boolean, complex64, complex128 };

std::string name(DType dtype);                              // "float32", "bool", ...
std::optional<DType> dtypeFromName(const std::string& name);
std::size_t sizeBytes(DType dtype);
bool isFloating(DType dtype);  // float64, float32, float16, bfloat16
bool isComplex(DType dtype);
// Floating or complex: values that have a distance; of integers and bools the differing ones are counted.
bool isInexact(DType dtype);

}  // namespace ulpscope::base
