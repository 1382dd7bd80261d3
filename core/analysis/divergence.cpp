#include "core/analysis/divergence.h"

#include "core/base/error.h"
#include "core/base/float_formats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

void count(session::NonfiniteCounts& counts, double x) {
  if (std::isnan(x))
    ++counts.nan;
  else
    ++(x > 0 ? counts.plusInf : counts.minusInf);
}

bool sameKind(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

// The rare path: at least one of the two is not finite.
void addNonfinite(SampleDivergence& s, double a, double b) {
  const bool same = !std::isfinite(a) && !std::isfinite(b) && sameKind(a, b);
  if (!std::isfinite(a)) count(s.reference, a);
  if (!std::isfinite(b)) count(s.candidate, b);
  if (same) return;
  if (!std::isfinite(b)) count(s.candidateOnly, b);
  ++s.overTolerance;
  ++s.differing;
}

struct Accumulator {
  const CompareOptions& options;
  double tiny;

  void add(SampleDivergence& s, double a, double b) const {
    ++s.elements;
    // Ranges are each side's own: what overflowed in the candidate is just where the reference is largest.
    if (std::isfinite(a)) s.referenceMaxAbs = std::max(s.referenceMaxAbs, std::fabs(a));
    if (std::isfinite(b)) s.candidateMaxAbs = std::max(s.candidateMaxAbs, std::fabs(b));
    if (!std::isfinite(a) || !std::isfinite(b)) {
      addNonfinite(s, a, b);
      return;
    }
    ++s.finitePairs;
    const double magnitude = std::fabs(a);
    const double difference = std::fabs(b - a);
    s.maxAbs = std::max(s.maxAbs, difference);
    s.sumSquaredDifference += difference * difference;
    s.sumSquaredReference += a * a;
    s.sumSquaredCandidate += b * b;
    s.sumProduct += a * b;
    s.maxRel = std::max(s.maxRel, difference / std::max(magnitude, tiny));
    s.overTolerance += difference > options.tolerance.atol + options.tolerance.rtol * magnitude;
    s.differing += difference != 0;
    if (options.ulp) s.maxUlp = std::max(s.maxUlp, base::ulpDistance(options.low, a, b));
  }
};

// Reads element i as double with the dtype fixed at compile time.
struct Float64 { static double at(const void* d, std::int64_t i) { return static_cast<const double*>(d)[i]; } };
struct Float32 { static double at(const void* d, std::int64_t i) { return static_cast<const float*>(d)[i]; } };
struct Float16 {
  static double at(const void* d, std::int64_t i) { return base::floatFromHalf(static_cast<const std::uint16_t*>(d)[i]); }
};
struct Bfloat16 {
  static double at(const void* d, std::int64_t i) { return base::floatFromBfloat16(static_cast<const std::uint16_t*>(d)[i]); }
};

template <typename A, typename B>
void walk(const TensorView& a, const TensorView& b, const SampleLayout& layout, const Accumulator& accumulator,
          std::vector<SampleDivergence>& samples) {
  std::int64_t i = 0;
  for (std::int64_t outer = 0; outer < layout.outer; ++outer)
    for (std::int64_t axis = 0; axis < layout.axis; ++axis) {
      SampleDivergence& sample = samples[static_cast<std::size_t>(layout.sampleOf(axis))];
      for (std::int64_t inner = 0; inner < layout.inner; ++inner, ++i) accumulator.add(sample, A::at(a.data, i), B::at(b.data, i));
    }
}

void walkAny(const TensorView& a, const TensorView& b, const SampleLayout& layout, const Accumulator& accumulator,
             std::vector<SampleDivergence>& samples) {
  std::int64_t i = 0;
  for (std::int64_t outer = 0; outer < layout.outer; ++outer)
    for (std::int64_t axis = 0; axis < layout.axis; ++axis) {
      SampleDivergence& sample = samples[static_cast<std::size_t>(layout.sampleOf(axis))];
      for (std::int64_t inner = 0; inner < layout.inner; ++inner, ++i) accumulator.add(sample, elementAt(a, i), elementAt(b, i));
    }
}

session::NonfiniteCounts sum(const session::NonfiniteCounts& a, const session::NonfiniteCounts& b) {
  return {a.nan + b.nan, a.plusInf + b.plusInf, a.minusInf + b.minusInf};
}

}  // namespace

double SampleDivergence::relL2() const {
  if (finitePairs == 0) return kNaN;
  if (sumSquaredReference == 0) return sumSquaredDifference == 0 ? 0 : kInf;
  return std::sqrt(sumSquaredDifference) / std::sqrt(sumSquaredReference);
}

double SampleDivergence::maxAbsOrNan() const { return finitePairs == 0 ? kNaN : maxAbs; }

double SampleDivergence::cosineDistance() const {
  if (finitePairs == 0) return kNaN;
  const double norms = std::sqrt(sumSquaredReference) * std::sqrt(sumSquaredCandidate);
  if (norms == 0) return sumSquaredReference == sumSquaredCandidate ? 0 : 1;
  return std::clamp(1 - sumProduct / norms, 0.0, 2.0);
}

void SampleDivergence::merge(const SampleDivergence& o) {
  elements += o.elements;
  finitePairs += o.finitePairs;
  maxAbs = std::max(maxAbs, o.maxAbs);
  sumSquaredDifference += o.sumSquaredDifference;
  sumSquaredReference += o.sumSquaredReference;
  sumSquaredCandidate += o.sumSquaredCandidate;
  sumProduct += o.sumProduct;
  maxRel = std::max(maxRel, o.maxRel);
  referenceMaxAbs = std::max(referenceMaxAbs, o.referenceMaxAbs);
  candidateMaxAbs = std::max(candidateMaxAbs, o.candidateMaxAbs);
  overTolerance += o.overTolerance;
  differing += o.differing;
  maxUlp = std::max(maxUlp, o.maxUlp);
  candidateOnly = sum(candidateOnly, o.candidateOnly);
  candidate = sum(candidate, o.candidate);
  reference = sum(reference, o.reference);
}

std::vector<SampleDivergence> compareTensors(const base::Reference<TensorView>& reference,
                                             const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                             const CompareOptions& options) {
  using base::DType;
  const TensorView& a = reference.value;
  const TensorView& b = candidate.value;
  ULPSCOPE_CHECK(a.shape == b.shape);
  std::vector<SampleDivergence> samples(static_cast<std::size_t>(layout.samples));
  const Accumulator accumulator{options, base::limits(options.low).minNormal};
  if (a.dtype == DType::float32 && b.dtype == DType::float32)
    walk<Float32, Float32>(a, b, layout, accumulator, samples);
  else if (a.dtype == DType::float32 && b.dtype == DType::float16)
    walk<Float32, Float16>(a, b, layout, accumulator, samples);
  else if (a.dtype == DType::float32 && b.dtype == DType::bfloat16)
    walk<Float32, Bfloat16>(a, b, layout, accumulator, samples);
  else if (a.dtype == DType::float64 && b.dtype == DType::float64)
    walk<Float64, Float64>(a, b, layout, accumulator, samples);
  else
    walkAny(a, b, layout, accumulator, samples);
  return samples;
}

RangeSummary referenceAtCandidateNonfinite(const base::Reference<TensorView>& reference,
                                           const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                           const std::vector<std::int64_t>& samples) {
  std::vector<double> values;
  std::int64_t i = 0;
  for (std::int64_t outer = 0; outer < layout.outer; ++outer)
    for (std::int64_t axis = 0; axis < layout.axis; ++axis) {
      const std::int64_t sample = layout.sampleOf(axis);
      const bool wanted = samples.empty() || std::find(samples.begin(), samples.end(), sample) != samples.end();
      for (std::int64_t inner = 0; inner < layout.inner; ++inner, ++i) {
        if (!wanted) continue;
        const double a = elementAt(reference.value, i);
        const double b = elementAt(candidate.value, i);
        if (!std::isfinite(b) && !sameKind(a, b)) values.push_back(a);
      }
    }
  return rangeOf({values.data(), base::DType::float64, {static_cast<std::int64_t>(values.size())}});
}

}  // namespace ulpscope::analysis
