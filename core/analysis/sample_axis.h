// Where samples lie in a tensor: found by experiment, not guessed from shapes.
#pragma once

#include "core/analysis/tensor_view.h"

namespace ulpscope::analysis {

// Two tensors of one op from runs that differ in the inputs of one sample only.
struct SampleProbe {
  std::int64_t samples = 1;   // in the batch
  std::int64_t replaced = 0;  // index of the sample whose inputs were replaced
};

// What one or more probes say of a tensor.
struct SampleAxisEvidence {
  bool changed = false;  // some probe changed something
  std::vector<session::SampleAxis> qualifying;  // under every probe that changed something
  // Dimensions of `samples` entries in which every entry changed, the replaced sample's by far the most: samples hang on each
  // other (BatchNorm in train mode), each in its own place. A permutation of samples is none: it moves entries, and leaves others.
  std::vector<int> coupled;

  // The axis when just one qualifies, else wholeBatch: nothing changed, ambiguous, or other samples' entries changed.
  session::SampleAxis axis() const;
  // Entries changed, and no axis holds them all: other samples' entries depend on the replaced one, or no axis exists.
  bool unconfined() const { return changed && qualifying.empty(); }
  void add(const SampleAxisEvidence& other);
};

// A dimension qualifies when every changed element lies at that sample's place along it: index `replaced` of `samples`
// (plain), block replaced*n..replaced*n+n-1 (sampleMajor) or indices congruent to `replaced` (sampleMinor). "By far the most":
// at least twice the sum of squared changes of any other entry; non-finite values are no part of the sums.
// Precondition: equal dtypes. Different shapes: changed, nothing qualifies.
SampleAxisEvidence findSampleAxis(const TensorView& before, const TensorView& after, const SampleProbe& probe);

// Whether `after`, of a run on the samples `order` of the batch of `before`, holds at each place what that sample had in `before`:
// ||after - expected|| <= 1e-3 ||expected|| over elements finite in both (other batch sizes sum in other orders). Where samples are
// sorted by what is in them it does not, though replacing one may move nothing. True where the layouts cannot be compared.
bool keepsPlaces(const TensorView& before, const TensorView& after, const session::SampleAxis& axis, std::int64_t samples,
                 const std::vector<std::int64_t>& order);

}  // namespace ulpscope::analysis
