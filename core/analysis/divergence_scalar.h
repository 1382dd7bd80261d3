// One element at a time: the arithmetic that every instruction set must agree with. Private to core/analysis.
// Everything has internal linkage, for the reason given in divergence_kernel.h.
#pragma once

#include "core/analysis/divergence_kernel.h"

namespace ulpscope::analysis {
namespace {

constexpr int kLanes = 16;

[[maybe_unused]] inline std::uint32_t bitsOf(float x) { return __builtin_bit_cast(std::uint32_t, x); }
[[maybe_unused]] inline float floatOf(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
[[maybe_unused]] inline float magnitudeOf(float x) { return floatOf(bitsOf(x) & 0x7FFFFFFFU); }

// Adding 0.5 puts the rounding at 2^-24, float16's step below 2^-14: the addition rounds.
[[maybe_unused]] inline std::uint32_t halfMagnitude(std::uint32_t magnitude) {
  if (magnitude >= 0x477FF000U) return 0x7C00;  // 65520
  if (magnitude < 0x38800000U) return bitsOf(floatOf(magnitude) + 0.5F) - 0x3F000000U;
  return ((magnitude + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13) - (112U << 10);
}

[[maybe_unused]] inline std::uint32_t bfloatMagnitude(std::uint32_t magnitude) {
  return (magnitude + 0x7FFFU + ((magnitude >> 16) & 1U)) >> 16;
}

[[maybe_unused]] inline std::int32_t ordered(float x, bool low16) {
  const std::uint32_t bits = bitsOf(x);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const auto steps = static_cast<std::int32_t>(low16 ? halfMagnitude(magnitude) : bfloatMagnitude(magnitude));
  return bits >> 31 ? -steps : steps;
}

struct PairSums {
  double abs, difference, reference, candidate, product;
};

[[maybe_unused]] inline double maxOf(double a, double b) { return b > a ? b : a; }

[[maybe_unused]] inline void addSide(PairSide& side, float x, const PairParameters& p) {
  const std::uint32_t magnitude = bitsOf(x) & 0x7FFFFFFFU;
  const float plain = x + 0.0F;  // a zero is +0
  if (plain < side.min) side.min = plain;
  if (plain > side.max) side.max = plain;
  if (magnitude != 0 && magnitude < side.smallest) side.smallest = magnitude;
  side.subnormal += magnitude > p.roundsToZero && magnitude < p.roundsToNormal;
}

// Precondition: both finite.
[[maybe_unused]] inline void addPair(PairState& s, PairSums& sums, const PairParameters& p, float a, float b) {
  const double x = a;
  const double y = b;
  const double magnitude = magnitudeOf(a);
  const double difference = y < x ? x - y : y - x;
  sums.abs += difference;
  sums.difference = __builtin_fma(difference, difference, sums.difference);
  sums.reference += x * x;
  sums.candidate += y * y;
  sums.product += x * y;
  s.maxAbs = maxOf(s.maxAbs, difference);
  if (difference != 0) {
    s.maxRel = maxOf(s.maxRel, difference / maxOf(magnitude, p.tiny));
    s.overTolerance += difference > p.atol + p.rtol * magnitude;
    ++s.differing;
  }
  addSide(s.side[0], a, p);
  addSide(s.side[1], b, p);
  s.flushed += b == 0 && a != 0 && (bitsOf(a) & 0x7FFFFFFFU) <= p.roundsToZero;
  if (p.ulp && difference != 0) {
    const std::int32_t steps = ordered(a, p.low16) - ordered(b, p.low16);
    const std::int32_t distance = steps < 0 ? -steps : steps;
    if (distance > s.maxUlp) s.maxUlp = distance;
  }
}

[[maybe_unused]] inline double sumOfLanes(const double* lanes) {
  double sums[kLanes];
  for (int i = 0; i < kLanes; ++i) sums[i] = lanes[i];
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) sums[i] += sums[i + width];
  return sums[0];
}

// Sums of products come out of the squares where those are alike, ab = (a^2 + b^2 - (b-a)^2) / 2, and nothing cancels; else they
// have to be taken.
[[maybe_unused]] inline bool productFollows(const PairSums& sums) { return 4 * sums.difference <= sums.reference; }
[[maybe_unused]] inline double followingProduct(const PairSums& sums) { return (sums.reference + sums.candidate - sums.difference) / 2; }

[[maybe_unused]] inline void addSums(PairState& s, const PairSums& sums) {
  s.sumAbs += sums.abs;
  s.sumSquaredDifference += sums.difference;
  s.sumSquaredReference += sums.reference;
  s.sumSquaredCandidate += sums.candidate;
  s.sumProduct += sums.product;
}

// What is left of a block after its last 16, at most 15 elements.
[[maybe_unused]] inline void addTail(PairState& s, const PairParameters& p, const float* a, const float* b, std::int64_t count) {
  PairSums sums{};
  for (std::int64_t i = 0; i < count; ++i) addPair(s, sums, p, a[i], b[i]);
  addSums(s, sums);
}

}  // namespace
}  // namespace ulpscope::analysis
