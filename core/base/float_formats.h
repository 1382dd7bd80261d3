// The number formats that autocast moves between, and rounding into them.
//
// All roundings are to nearest, ties to even; overflow gives infinity (IEEE 754-2019, 4.3.1 and 7.4), subnormals are
// kept, NaN stays NaN. Conversions are ours because HDF5's are wrong for 16-bit floats; tests walk all 65,536
// patterns against c10.
#pragma once

#include "core/base/dtype.h"

#include <cstdint>

namespace ulpscope::base {

// Limits of a floating format. maxFinite: largest finite value. overflowFrom: smallest |x| that rounds to infinity.
struct FormatLimits {
  double maxFinite;
  double overflowFrom;   // float16: 65520, bfloat16: 2^128 - 2^119
  double minNormal;      // "tiny"
  double minSubnormal;
  int mantissaBits;      // explicit bits
};

// Precondition: isFloating(dtype).
FormatLimits limits(DType dtype);

std::uint16_t halfFromFloat(float value);
float floatFromHalf(std::uint16_t bits);
std::uint16_t bfloat16FromFloat(float value);
float floatFromBfloat16(std::uint16_t bits);

// From double in one rounding (not by way of float32, which would round twice).
std::uint16_t halfFromDouble(double value);
std::uint16_t bfloat16FromDouble(double value);

// float32 with the mantissa rounded to 10 bits, as NVIDIA's TF32 operands.
float roundToTf32(float value);
// The same from double in one rounding, subnormals (down to 2^-136) kept. Limits: 2^128 - 2^117, overflow from 2^128 - 2^116.
double tf32FromDouble(double value);
FormatLimits tf32Limits();

// Value rounded into `dtype` and widened again. Precondition: isFloating(dtype).
double roundTo(DType dtype, double value);

// Number of representable steps of `low` between the roundings of a and b; +0 and -0 are equal; infinity counts as one
// step beyond the largest finite value. Precondition: low is float16 or bfloat16; neither is NaN.
std::int64_t ulpDistance(DType low, double a, double b);

}  // namespace ulpscope::base
