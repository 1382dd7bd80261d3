// How far a candidate's tensor is from the reference's, per sample.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/base/pair.h"
#include "core/session/run_record.h"

#include <vector>

namespace ulpscope::analysis {

// One sample's entries of a pair (reference a, candidate b). Both are widened to double before subtracting; sums and
// maxima run over elements that are finite in both.
struct SampleDivergence {
  std::int64_t elements = 0;
  std::int64_t finitePairs = 0;
  double maxAbs = 0;       // max |b-a|
  double sumSquaredDifference = 0;
  double sumSquaredReference = 0;
  double sumSquaredCandidate = 0;
  double sumProduct = 0;
  double maxRel = 0;       // max |b-a| / max(|a|, tiny), tiny = the low format's smallest normal
  double referenceMaxAbs = 0;  // over the reference's own finite elements
  double candidateMaxAbs = 0;  // over the candidate's own
  std::int64_t overTolerance = 0;       // |b-a| > atol + rtol|a|, or non-finite in just one run or of another kind
  std::int64_t differing = 0;           // elements whose values differ (NaN equals NaN)
  std::int64_t maxUlp = 0;              // of the low format; only where CompareOptions::ulp
  session::NonfiniteCounts candidateOnly;  // candidate's kind where the reference has not that kind
  session::NonfiniteCounts candidate;
  session::NonfiniteCounts reference;

  // ||b-a|| / ||a||; ||a|| = 0: 0 if b = a, else +inf. NaN: no finite pair ("not evaluated").
  double relL2() const;
  // max |b-a|; NaN: no finite pair.
  double maxAbsOrNan() const;
  // 1 - <a,b> / (||a|| ||b||); 0 when both norms are 0, 1 when one is. NaN: no finite pair.
  double cosineDistance() const;
  void merge(const SampleDivergence& other);
};

struct CompareOptions {
  base::DType low = base::DType::float16;
  session::SiteTolerance tolerance{1e-3, 1e-5};
  bool ulp = false;
};

// Precondition: equal shapes, neither complex. One entry a sample of `layout`.
std::vector<SampleDivergence> compareTensors(const base::Reference<TensorView>& reference,
                                             const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                             const CompareOptions& options);

// The reference's values at the places where the candidate alone is non-finite, over the samples of `layout` listed in `samples`
// (empty: all).
RangeSummary referenceAtCandidateNonfinite(const base::Reference<TensorView>& reference,
                                           const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                           const std::vector<std::int64_t>& samples);

}  // namespace ulpscope::analysis
