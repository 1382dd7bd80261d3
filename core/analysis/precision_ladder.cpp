#include "core/analysis/precision_ladder.h"

#include "core/base/float_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ulpscope::analysis {
namespace {

using base::DType;

struct Format {
  const char* name;
  int exponentBits;
  base::FormatLimits limits;
};

// The pattern of a value that the format holds, in the low bits.
std::uint64_t pattern(const Format& format, double rounded) {
  const auto single = [rounded] { return std::bit_cast<std::uint32_t>(static_cast<float>(rounded)); };
  if (format.limits.mantissaBits == 52) return std::bit_cast<std::uint64_t>(rounded);
  if (format.limits.mantissaBits == 23) return single();
  if (format.exponentBits == 5) return base::halfFromDouble(rounded);
  return format.limits.mantissaBits == 7 ? base::bfloat16FromDouble(rounded) : single() >> 13;
}

std::string bitsText(const Format& format, std::uint64_t bits) {
  const int mantissa = format.limits.mantissaBits;
  std::string text;
  for (int i = mantissa + format.exponentBits; i >= 0; --i) {
    text += (bits >> i) & 1 ? '1' : '0';
    const bool startsGroup = mantissa > 10 && i < mantissa && (mantissa - i) % 4 == 0;
    if (i == mantissa + format.exponentBits || i == mantissa || (startsGroup && i > 0)) text += ' ';
  }
  return text;
}

double roundInto(const Format& format, double exact) {
  if (format.limits.mantissaBits == 52) return exact;
  if (format.limits.mantissaBits == 23) return base::roundTo(DType::float32, exact);
  if (format.exponentBits == 5) return base::roundTo(DType::float16, exact);
  return format.limits.mantissaBits == 7 ? base::roundTo(DType::bfloat16, exact) : base::tf32FromDouble(exact);
}

// One unit in the last place of the format where the exact value lies; the smallest subnormal is the least.
double unitAt(const Format& format, double exact) {
  const double magnitude = std::max(std::fabs(exact), format.limits.minNormal);
  return std::ldexp(1.0, std::ilogb(magnitude) - format.limits.mantissaBits);
}

LadderRung rungOf(const Format& format, double exact) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  LadderRung rung;
  rung.name = format.name;
  rung.value = roundInto(format, exact);
  rung.bits = bitsText(format, pattern(format, rung.value));
  rung.headroomBits = std::log2(format.limits.maxFinite) - std::log2(std::fabs(exact));
  if (!std::isfinite(exact)) {
    rung.error = rung.ulps = kNan;
    return rung;
  }
  rung.error = rung.value - exact;
  rung.ulps = std::fabs(rung.error) / unitAt(format, exact);
  rung.overflows = std::isinf(rung.value);
  rung.flushed = exact != 0 && rung.value == 0;
  rung.subnormal = rung.value != 0 && std::fabs(rung.value) < format.limits.minNormal;
  return rung;
}

}  // namespace

std::array<LadderRung, 5> precisionLadder(double exact) {
  return {rungOf({"FP64", 11, base::limits(DType::float64)}, exact), rungOf({"FP32", 8, base::limits(DType::float32)}, exact),
          rungOf({"TF32", 8, base::tf32Limits()}, exact), rungOf({"BF16", 8, base::limits(DType::bfloat16)}, exact),
          rungOf({"FP16", 5, base::limits(DType::float16)}, exact)};
}

}  // namespace ulpscope::analysis
