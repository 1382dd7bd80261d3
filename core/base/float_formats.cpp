#include "core/base/float_formats.h"

#include "core/base/error.h"

#include <bit>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace ulpscope::base {
namespace {

// Rounds |value| to a binary format with `mantissaBits` explicit bits and exponents down to `minExponent` (of the
// smallest normal), in exact double arithmetic: scaling by a power of two is exact, nearbyint ties to even.
double roundMagnitude(double magnitude, int mantissaBits, int minExponent) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 1, minExponent) - mantissaBits;
  return std::ldexp(std::nearbyint(std::ldexp(magnitude, -unit)), unit);
}

struct SmallFormat {
  int mantissaBits;
  int exponentBits;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int minExponent() const { return 1 - bias(); }
};

constexpr SmallFormat kHalf{10, 5};
constexpr SmallFormat kBfloat16{7, 8};

std::uint16_t encode(double value, SmallFormat format) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const std::uint16_t infinity = static_cast<std::uint16_t>(((1 << format.exponentBits) - 1) << format.mantissaBits);
  if (std::isnan(value)) return sign | infinity | static_cast<std::uint16_t>(1 << (format.mantissaBits - 1));
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  const double rounded = roundMagnitude(magnitude, format.mantissaBits, format.minExponent());
  if (rounded >= std::ldexp(1.0, format.bias() + 1)) return sign | infinity;
  if (rounded < std::ldexp(1.0, format.minExponent()))
    return sign | static_cast<std::uint16_t>(std::ldexp(rounded, format.mantissaBits - format.minExponent()));
  int exponent = 0;
  const double fraction = std::frexp(rounded, &exponent);  // in [0.5, 1)
  const auto mantissa = static_cast<std::uint16_t>(std::ldexp(fraction, format.mantissaBits + 1)) &
                        static_cast<std::uint16_t>((1 << format.mantissaBits) - 1);
  return sign | static_cast<std::uint16_t>((exponent - 1 + format.bias()) << format.mantissaBits) |
         static_cast<std::uint16_t>(mantissa);
}

const SmallFormat& smallFormat(DType low) {
  ULPSCOPE_CHECK(low == DType::float16 || low == DType::bfloat16);
  return low == DType::float16 ? kHalf : kBfloat16;
}

}  // namespace

FormatLimits limits(DType dtype) {
  switch (dtype) {
    case DType::float16: return {65504.0, 65520.0, 0x1p-14, 0x1p-24, 10};
    case DType::bfloat16: return {0x1.fep127, 0x1.ffp127, 0x1p-126, 0x1p-133, 7};
    case DType::float32: return {0x1.fffffep127, 0x1.ffffffp127, 0x1p-126, 0x1p-149, 23};
    case DType::float64:
      return {std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity(), 0x1p-1022, 0x0.0000000000001p-1022, 52};
    default: ULPSCOPE_CHECK(isFloating(dtype)); std::abort();
  }
}

std::uint16_t halfFromDouble(double value) { return encode(value, kHalf); }
std::uint16_t bfloat16FromDouble(double value) { return encode(value, kBfloat16); }
std::uint16_t halfFromFloat(float value) { return encode(value, kHalf); }

std::uint16_t bfloat16FromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float floatFromHalf(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7FFFU;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  if (magnitude >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | ((magnitude & 0x3FFU) << 13));
  // The exponent field moves from bias 15 to bias 127: times 2^112, exact, and it normalises subnormals as well.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

float floatFromBfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

float roundToTf32(float value) {
  if (!std::isfinite(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFFU);
}

FormatLimits tf32Limits() { return {0x1.ffcp127, 0x1.ffep127, 0x1p-126, 0x1p-136, 10}; }

double tf32FromDouble(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const double rounded = roundMagnitude(std::fabs(value), 10, -126);
  return std::copysign(rounded > tf32Limits().maxFinite ? std::numeric_limits<double>::infinity() : rounded, value);
}

double roundTo(DType dtype, double value) {
  switch (dtype) {
    case DType::float16: return floatFromHalf(halfFromDouble(value));
    case DType::bfloat16: return floatFromBfloat16(bfloat16FromDouble(value));
    case DType::float32: return static_cast<float>(value);
    case DType::float64: return value;
    default: ULPSCOPE_CHECK(isFloating(dtype)); std::abort();
  }
}

std::int64_t ulpDistance(DType low, double a, double b) {
  const SmallFormat& format = smallFormat(low);
  const auto ordered = [&](double v) -> std::int64_t {
    const std::uint16_t bits = encode(v, format);
    const std::int64_t magnitude = bits & 0x7FFF;
    return (bits & 0x8000) ? -magnitude : magnitude;
  };
  return std::llabs(ordered(a) - ordered(b));
}

}  // namespace ulpscope::base
