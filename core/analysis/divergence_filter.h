// What float32 can decide: thresholds that are certain to let pass whatever changes a maximum or is outside a tolerance. Private
// to core/analysis; internal linkage for the reason given in divergence_kernel.h.
//
// With |a|, |b| <= 2^126 the float32 difference is within a factor 1 +- 2^-24 of the exact one (below 2^-126 it is exact), and so
// are a threshold's product and sum. So thresholds moved by kMargin of themselves, and where a product may be subnormal by
// kStep, to the safe side never hide an element; what they let pass is decided in double.
#pragma once

#include "core/analysis/divergence_scalar.h"

namespace ulpscope::analysis {
namespace {

constexpr double kMargin = 0x1p-20;
constexpr double kStep = 0x1p-148;

// Largest float <= x, for finite x; beyond float32 the largest finite.
inline float floatBelow(double x) {
  if (x >= 0x1.fffffep127) return 0x1.fffffep127F;
  const float f = static_cast<float>(x);
  if (f <= x) return f;
  return f > 0 ? floatOf(bitsOf(f) - 1) : f == 0 ? -0x1p-149F : floatOf(bitsOf(f) + 1);
}
inline float floatAbove(double x) { return -floatBelow(-x); }

struct Filter {
  float abs, rel;             // thresholds of the running maxima
  std::uint32_t small[2];     // magnitude - 1 below it: a new smallest, subnormal or rounded to zero
};

inline Filter filterOf(const PairState& s, const PairParameters& p) {
  Filter f;
  f.abs = floatBelow(s.maxAbs * (1 - kMargin));
  f.rel = floatBelow(s.maxRel * (1 - kMargin));
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t smallest = s.side[i].smallest;
    f.small[i] = (smallest > p.roundsToNormal ? smallest : p.roundsToNormal) - 1;
  }
  return f;
}

// The 16-bit magnitudes below x are those with magnitude - 1 below this; x: float32 bits, 0: above all.
inline std::uint16_t limit16(std::uint32_t x, bool half) {
  if (x == 0 || x > 0x7F800000U) return 0x7FFF;
  if (!half) return static_cast<std::uint16_t>(((x + 0xFFFFU) >> 16) - 1);
  std::uint32_t nearest = halfMagnitude(x);
  float value;
  const auto bits = static_cast<std::uint16_t>(nearest);
  widenPortably(&bits, ElementFormat::float16, &value, 1);
  if (bitsOf(value) < x) ++nearest;
  return static_cast<std::uint16_t>(nearest - 1);
}

// The number that lies `order` steps from zero.
inline float valueOf16(std::int16_t order, ElementFormat format) {
  const auto bits = static_cast<std::uint16_t>(order < 0 ? 0x8000 - order : order);
  float value;
  widenPortably(&bits, format, &value, 1);
  return value;
}

struct ToleranceFilter {
  float atolBelow, rtolBelow, atolAbove, rtolAbove;
};

inline ToleranceFilter toleranceFilterOf(const PairParameters& p) {
  return {floatBelow(p.atol * (1 - kMargin) - kStep), floatBelow(p.rtol * (1 - kMargin)), floatAbove(p.atol * (1 + kMargin) + kStep),
          floatAbove(p.rtol * (1 + kMargin))};
}

}  // namespace
}  // namespace ulpscope::analysis
