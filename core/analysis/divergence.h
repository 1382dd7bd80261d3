// How far a candidate's tensor is from the reference's, per sample.
//
// Reference a, candidate b; both are widened to double before they are subtracted. Sums and maxima of differences run over
// elements that are finite in both ("finite pairs"); ranges are each side's own, over that side's finite elements. Without a
// finite pair a metric is NaN ("not evaluated"), never 0; so it is for an empty tensor. Format quantities (ULP, tiny, subnormal,
// flushed) are those of CompareOptions::low, whatever the tensors' dtypes.
//
// Complex elements: |b-a|, |a| and |b| are moduli, ranges too; a product is the real part of conj(a) b, so that norms, cosine and
// SQNR are those of the real and imaginary parts taken together; ULP distance is the larger of both parts'; flushed: both parts of
// a round to zero and b = 0. One with a NaN part counts as NaN, else one with an infinite part as +inf.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/base/pair.h"
#include "core/session/run_record.h"

#include <vector>

namespace ulpscope::analysis {

// One side's elements, besides its largest magnitude. min and max: NaN where nothing is finite, a zero is +0.
struct SideRange {
  double min, max;
  double smallestNonZero;       // magnitude; NaN: none
  std::int64_t subnormal = 0;   // 0 < |round_low(x)| < tiny: what rounds to zero or up to tiny is none
  SideRange();
  void merge(const SideRange& other);
};

// One sample's entries of a pair.
struct SampleDivergence {
  std::int64_t elements = 0;
  std::int64_t finitePairs = 0;
  double maxAbs = 0;  // max |b-a|; +inf where a float64 difference exceeds double's range
  // long double where the platform has a wider one: squares of float64 values leave double's range.
  long double sumAbs = 0;  // of |b-a|
  long double sumSquaredDifference = 0;
  long double sumSquaredReference = 0;
  long double sumSquaredCandidate = 0;
  long double sumProduct = 0;
  double maxRel = 0;       // max |b-a| / max(|a|, tiny), tiny = the low format's smallest normal
  double referenceMaxAbs = 0;  // 0 where nothing is finite
  double candidateMaxAbs = 0;
  SideRange referenceRange;
  SideRange candidateRange;
  std::int64_t flushedToZero = 0;       // b = 0 and round_low(a) = 0 with a != 0
  std::int64_t overTolerance = 0;       // |b-a| > atol + rtol|a|, or non-finite in just one run or of another kind
  std::int64_t differing = 0;           // elements whose values differ (NaN equals NaN, +0 equals -0); integers exactly
  // max distance of round_low(a) and round_low(b) in steps of the low format, +0 = -0, overflow = one step beyond the largest;
  // only where CompareOptions::ulp.
  std::int64_t maxUlp = 0;
  session::NonfiniteCounts candidateOnly;  // candidate's kind where the reference has not that kind
  session::NonfiniteCounts candidate;
  session::NonfiniteCounts reference;

  // ||b-a|| / ||a||; ||a|| = 0: 0 if b = a, else +inf.
  double relL2() const;
  // max |b-a|.
  double maxAbsOrNan() const;
  // sum |b-a| / finite pairs.
  double meanAbs() const;
  // 1 - <a,b> / (||a|| ||b||); 0 when both norms are 0, 1 when one is. Where ||b-a|| <= ||a||/2 computed as
  // (||b-a||^2 - (||a||-||b||)^2) / (2 ||a|| ||b||), the same number without the cancellation of 1 - cos.
  double cosineDistance() const;
  // Signal-to-quantisation-noise ratio, 10 log10(||a||^2 / ||b-a||^2); b = a: +inf (||a|| = 0 as well), else ||a|| = 0: -inf.
  double sqnrDecibels() const;
  // Parts of all elements, non-finite ones included. NaN: no elements.
  double shareOverTolerance() const;
  double shareSubnormalReference() const;
  double shareSubnormalCandidate() const;
  double shareFlushedToZero() const;
  void merge(const SampleDivergence& other);
};

struct CompareOptions {
  base::DType low = base::DType::float16;  // float16 or bfloat16
  session::SiteTolerance tolerance{1e-3, 1e-5};
  bool ulp = false;
};

session::NonfiniteCounts sum(const session::NonfiniteCounts& a, const session::NonfiniteCounts& b);

// One pass over both, any strides, copying a chunk at most. Precondition: equal shapes. One entry a sample of
// `layout`. The answer is the same to the bit on every processor and for every way the elements lie in memory.
std::vector<SampleDivergence> compareTensors(const base::Reference<TensorView>& reference,
                                             const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                             const CompareOptions& options);

// The reference's values at the places where the candidate alone is non-finite, over the samples of `layout` listed in `samples`
// (empty: all).
RangeSummary referenceAtCandidateNonfinite(const base::Reference<TensorView>& reference,
                                           const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                           const std::vector<std::int64_t>& samples);

}  // namespace ulpscope::analysis
