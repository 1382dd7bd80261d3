#include "core/analysis/wide_pairs.h"

#include "core/base/float_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace ulpscope::analysis {
namespace {

using base::DType;

void count(session::NonfiniteCounts& counts, double x) {
  if (std::isnan(x))
    ++counts.nan;
  else
    ++(x > 0 ? counts.plusInf : counts.minusInf);
}

template <typename T>
const double* widen(const void* from, std::int64_t count, double* to) {
  const T* values = static_cast<const T*>(from);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(values[i]);
  return to;
}

const double* asDoubles(const Runs& runs, TileBuffer& joinedBuffer, TileBuffer& wideBuffer) {
  const void* from = joined(runs, joinedBuffer);
  const std::int64_t count = runs.length * runs.count;
  auto* to = wideBuffer.as<double>();
  switch (runs.dtype) {
    case DType::float64: return static_cast<const double*>(from);
    case DType::float32: return widen<float>(from, count, to);
    case DType::int64: return widen<std::int64_t>(from, count, to);
    case DType::int32: return widen<std::int32_t>(from, count, to);
    case DType::int16: return widen<std::int16_t>(from, count, to);
    case DType::int8: return widen<std::int8_t>(from, count, to);
    case DType::float16:
    case DType::bfloat16:
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint16_t bits = static_cast<const std::uint16_t*>(from)[i];
        to[i] = runs.dtype == DType::float16 ? base::floatFromHalf(bits) : base::floatFromBfloat16(bits);
      }
      return to;
    default: return widen<std::uint8_t>(from, count, to);
  }
}

// float32 bits hold the limits of either low format exactly.
struct Limits {
  double tiny, roundsToZero, roundsToNormal;
};

void addSide(SideRange& range, double& maxAbs, double x, const Limits& limits) {
  const double magnitude = std::fabs(x);
  if (!(range.min <= x)) range.min = x + 0.0;
  if (!(range.max >= x)) range.max = x + 0.0;
  maxAbs = std::max(maxAbs, magnitude);
  if (magnitude != 0 && !(range.smallestNonZero <= magnitude)) range.smallestNonZero = magnitude;
  range.subnormal += magnitude > limits.roundsToZero && magnitude < limits.roundsToNormal;
}

void addFinite(SampleDivergence& s, double a, double b, const PairParameters& p, const Limits& limits) {
  ++s.finitePairs;
  const double magnitude = std::fabs(a);
  const double difference = std::fabs(b - a);
  s.maxAbs = std::max(s.maxAbs, difference);
  const long double wideA = a, wideB = b, wideDifference = difference;
  s.sumAbs += wideDifference;
  s.sumSquaredDifference += wideDifference * wideDifference;
  s.sumSquaredReference += wideA * wideA;
  s.sumSquaredCandidate += wideB * wideB;
  s.sumProduct += wideA * wideB;
  s.flushedToZero += b == 0 && a != 0 && magnitude <= limits.roundsToZero;
  if (difference == 0) return;
  s.maxRel = std::max(s.maxRel, difference / std::max(magnitude, limits.tiny));
  s.overTolerance += difference > p.atol + p.rtol * magnitude;
  if (p.ulp) s.maxUlp = std::max<std::int64_t>(s.maxUlp, std::abs(orderedLow(a, p.low16) - orderedLow(b, p.low16)));
}

}  // namespace

void countNonfinite(SampleDivergence& s, double a, double b) {
  if (!std::isfinite(a)) count(s.reference, a);
  if (!std::isfinite(b)) count(s.candidate, b);
  if ((std::isnan(a) && std::isnan(b)) || a == b) return;
  if (!std::isfinite(b)) count(s.candidateOnly, b);
  ++s.overTolerance;
  ++s.differing;
}

void WideComparison::add(std::int64_t sample, const Runs& a, const Runs& b) {
  SampleDivergence& s = m_samples[static_cast<std::size_t>(sample)];
  const std::int64_t count = a.length * a.count;
  const double* x = asDoubles(a, m_joinedA, m_wideA);
  const double* y = asDoubles(b, m_joinedB, m_wideB);
  // Beyond 2^53 neighbouring int64 values share a double.
  const bool integers = a.dtype == DType::int64 && b.dtype == DType::int64;
  const auto* i64 = static_cast<const std::int64_t*>(integers ? joined(a, m_joinedA) : nullptr);
  const auto* j64 = static_cast<const std::int64_t*>(integers ? joined(b, m_joinedB) : nullptr);
  const Limits limits{m_parameters.tiny, std::bit_cast<float>(m_parameters.roundsToZero), std::bit_cast<float>(m_parameters.roundsToNormal)};
  s.elements += count;
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isfinite(x[i])) addSide(s.referenceRange, s.referenceMaxAbs, x[i], limits);
    if (std::isfinite(y[i])) addSide(s.candidateRange, s.candidateMaxAbs, y[i], limits);
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
      countNonfinite(s, x[i], y[i]);
      continue;
    }
    addFinite(s, x[i], y[i], m_parameters, limits);
    s.differing += integers ? i64[i] != j64[i] : x[i] != y[i];
  }
}

}  // namespace ulpscope::analysis
