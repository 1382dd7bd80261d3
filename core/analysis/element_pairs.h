// Elements of two tensors, widened to double, one pair after another: for what is looked at, not for the cost of a run.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/base/pair.h"

#include <algorithm>
#include <array>

namespace ulpscope::analysis {

// reference, candidate: as elementAt gives them (complex: moduli). difference: candidate - reference, taken after widening; of two int64
// exact before it is rounded to double; of complex ones the modulus of the difference. Same infinities give NaN, as everywhere.
struct ElementPair {
  double reference = 0, candidate = 0, difference = 0;
};
using ReferenceView = base::Reference<TensorView>;
using CandidateView = base::Candidate<TensorView>;

// Not the same value, an infinity of the other sign or a NaN in one of the two only. Two NaN are alike.
bool isNonfiniteInOne(const ElementPair& pair);

inline constexpr std::int64_t kPairChunk = 1024;
// Elements [first, first + count) to `out`. Preconditions: both contiguous and of the same shape, count <= kPairChunk.
void widenPairs(const ReferenceView& reference, const CandidateView& candidate, std::int64_t first, std::int64_t count, ElementPair* out);
// The same of one tensor.
void widenElements(const TensorView& view, std::int64_t first, std::int64_t count, double* out);

// visit(element, pair), in order.
template <typename Visit>
void forEachPair(const ReferenceView& reference, const CandidateView& candidate, Visit&& visit) {
  std::array<ElementPair, kPairChunk> chunk;
  const std::int64_t elements = reference.value.elementCount();
  for (std::int64_t first = 0; first < elements; first += kPairChunk) {
    const std::int64_t count = std::min(kPairChunk, elements - first);
    widenPairs(reference, candidate, first, count, chunk.data());
    for (std::int64_t i = 0; i < count; ++i) visit(first + i, chunk[static_cast<std::size_t>(i)]);
  }
}

}  // namespace ulpscope::analysis
