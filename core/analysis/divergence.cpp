#include "core/analysis/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// fmin and fmax prefer the number to a NaN, which here says "none".
double smaller(double a, double b) { return std::fmin(a, b); }
double larger(double a, double b) { return std::fmax(a, b); }

double share(std::int64_t part, std::int64_t all) { return all == 0 ? kNaN : static_cast<double>(part) / static_cast<double>(all); }

bool sameKind(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

}  // namespace

session::NonfiniteCounts sum(const session::NonfiniteCounts& a, const session::NonfiniteCounts& b) {
  return {a.nan + b.nan, a.plusInf + b.plusInf, a.minusInf + b.minusInf};
}

SideRange::SideRange() : min(kNaN), max(kNaN), smallestNonZero(kNaN) {}

void SideRange::merge(const SideRange& o) {
  min = smaller(min, o.min);
  max = larger(max, o.max);
  smallestNonZero = smaller(smallestNonZero, o.smallestNonZero);
  subnormal += o.subnormal;
}

double SampleDivergence::relL2() const {
  if (finitePairs == 0) return kNaN;
  if (sumSquaredReference == 0) return sumSquaredDifference == 0 ? 0 : kInf;
  return static_cast<double>(std::sqrt(sumSquaredDifference) / std::sqrt(sumSquaredReference));
}

double SampleDivergence::maxAbsOrNan() const { return finitePairs == 0 ? kNaN : maxAbs; }

double SampleDivergence::meanAbs() const {
  return finitePairs == 0 ? kNaN : static_cast<double>(sumAbs / static_cast<long double>(finitePairs));
}

double SampleDivergence::cosineDistance() const {
  if (finitePairs == 0) return kNaN;
  const long double a = std::sqrt(sumSquaredReference);
  const long double b = std::sqrt(sumSquaredCandidate);
  if (a == 0 || b == 0) return a == b ? 0 : 1;
  const long double gap = (sumSquaredReference - sumSquaredCandidate) / (a + b);
  const bool near = 4 * sumSquaredDifference <= sumSquaredReference;  // the norms are then alike, and nothing cancels
  const long double distance = near ? (sumSquaredDifference - gap * gap) / (2 * a * b) : 1 - sumProduct / (a * b);
  return std::clamp(static_cast<double>(distance), 0.0, 2.0);
}

double SampleDivergence::sqnrDecibels() const {
  if (finitePairs == 0) return kNaN;
  if (sumSquaredDifference == 0) return kInf;
  if (sumSquaredReference == 0) return -kInf;
  return static_cast<double>(10 * (std::log10(sumSquaredReference) - std::log10(sumSquaredDifference)));
}

double SampleDivergence::shareOverTolerance() const { return share(overTolerance, elements); }
double SampleDivergence::shareSubnormalReference() const { return share(referenceRange.subnormal, elements); }
double SampleDivergence::shareSubnormalCandidate() const { return share(candidateRange.subnormal, elements); }
double SampleDivergence::shareFlushedToZero() const { return share(flushedToZero, elements); }

void SampleDivergence::merge(const SampleDivergence& o) {
  elements += o.elements;
  finitePairs += o.finitePairs;
  maxAbs = std::max(maxAbs, o.maxAbs);
  sumAbs += o.sumAbs;
  sumSquaredDifference += o.sumSquaredDifference;
  sumSquaredReference += o.sumSquaredReference;
  sumSquaredCandidate += o.sumSquaredCandidate;
  sumProduct += o.sumProduct;
  maxRel = std::max(maxRel, o.maxRel);
  referenceMaxAbs = std::max(referenceMaxAbs, o.referenceMaxAbs);
  candidateMaxAbs = std::max(candidateMaxAbs, o.candidateMaxAbs);
  referenceRange.merge(o.referenceRange);
  candidateRange.merge(o.candidateRange);
  flushedToZero += o.flushedToZero;
  overTolerance += o.overTolerance;
  differing += o.differing;
  maxUlp = std::max(maxUlp, o.maxUlp);
  candidateOnly = sum(candidateOnly, o.candidateOnly);
  candidate = sum(candidate, o.candidate);
  reference = sum(reference, o.reference);
}

RangeSummary referenceAtCandidateNonfinite(const base::Reference<TensorView>& reference,
                                           const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                           const std::vector<std::int64_t>& samples) {
  RangeSummary summary = emptyRange();
  std::int64_t i = 0;
  for (std::int64_t outer = 0; outer < layout.outer; ++outer)
    for (std::int64_t axis = 0; axis < layout.axis; ++axis) {
      const std::int64_t sample = layout.sampleOf(axis);
      const bool wanted = samples.empty() || std::find(samples.begin(), samples.end(), sample) != samples.end();
      for (std::int64_t inner = 0; inner < layout.inner; ++inner, ++i) {
        if (!wanted) continue;
        const double a = elementAt(reference.value, i);
        const double b = elementAt(candidate.value, i);
        if (!std::isfinite(b) && !sameKind(a, b)) add(summary, a);
      }
    }
  return summary;
}

}  // namespace ulpscope::analysis
