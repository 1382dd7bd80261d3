// Elements of a tensor, borrowed.
#pragma once

#include "core/base/dtype.h"
#include "core/session/run_record.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ulpscope::analysis {

// Contiguous, row-major, native byte order; the owner outlives the view. An empty shape is a scalar.
struct TensorView {
  const void* data = nullptr;
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;

  std::int64_t elementCount() const;
};

// Element i as double; exact for every dtype but int64 beyond 2^53. Precondition: not complex.
double elementAt(const TensorView& view, std::int64_t i);

// Range over finite elements, and what is not finite. zeros counts +0 and -0.
struct RangeSummary {
  session::ValueRange range;  // NaN in every field where no element is finite
  session::NonfiniteCounts nonfinite;
  std::int64_t zeros = 0;
  double smallestNonZero = 0;  // magnitude; NaN: none
};
RangeSummary rangeOf(const TensorView& view);

// How a tensor splits into samples: element (outer, a, inner) of [outer, axis, inner] belongs to sampleOf(a).
struct SampleLayout {
  std::int64_t outer = 1, axis = 1, inner = 1;
  std::int64_t samples = 1;
  session::SampleAxis::Kind kind = session::SampleAxis::Kind::wholeBatch;

  std::int64_t sampleOf(std::int64_t a) const;
};
// Falls back to wholeBatch (samples = 1) when the axis does not fit the shape: it is not a multiple of `samples`.
SampleLayout layoutOf(const std::vector<std::int64_t>& shape, const session::SampleAxis& axis, std::int64_t samples);

}  // namespace ulpscope::analysis
