// The elements of two tensors in pieces that fit the cache, in place where they lie contiguous. Private to core/analysis.
#pragma once

#include "core/analysis/tensor_view.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace ulpscope::analysis {

constexpr std::int64_t kTileElements = 16384;

// Memory for one tile, made when first asked for.
class TileBuffer {
 public:
  std::byte* bytes();
  template <typename T>
  T* as() { return reinterpret_cast<T*>(bytes()); }

 private:
  std::unique_ptr<std::byte[]> m_memory;
};

// `count` runs of `length` elements of one sample and one dtype, `step` elements from start to start.
struct Runs {
  const void* data;
  base::DType dtype;
  std::int64_t length, count, step;
  std::int64_t ahead = 0;  // from each element to one that is read soon: a hint for prefetching, may point anywhere
};

// The runs one after another, copied into the buffer unless they lie so already.
const void* joined(const Runs& runs, TileBuffer& buffer);

using PairVisitor = std::function<void(std::int64_t sample, const Runs& reference, const Runs& candidate)>;

// Every element once; both sides' runs have equal length and count, together at most kTileElements elements. How a tensor is cut
// hangs on its shape and layout alone, not on its strides. Precondition: equal shapes.
void forEachPairOfRuns(const TensorView& reference, const TensorView& candidate, const SampleLayout& layout, const PairVisitor& visit);

}  // namespace ulpscope::analysis
