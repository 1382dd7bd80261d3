// Elements of a tensor, borrowed.
#pragma once

#include "core/base/dtype.h"
#include "core/session/run_record.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ulpscope::analysis {

// Native byte order; the owner outlives the view. An empty shape is a scalar. Elements are numbered row-major over `shape`,
// however they lie in memory.
struct TensorView {
  const void* data = nullptr;
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides = {};  // in elements, may be 0 or negative; empty: contiguous, row-major

  std::int64_t elementCount() const;
  bool isContiguous() const;  // in memory as numbered, whether strides are given or not
};

// Element i as double; exact for every dtype but int64 beyond 2^53. Of a complex one its modulus; NaN where a
// part is NaN.
double elementAt(const TensorView& view, std::int64_t i);
double modulusOf(std::complex<double> z);

// Copies elements [first, first + count) to `out`, in their own dtype, one after another.
void packElements(const TensorView& view, std::int64_t first, std::int64_t count, void* out);

// Range over finite elements, and what is not finite. zeros counts +0 and -0.
struct RangeSummary {
  session::ValueRange range;  // NaN in every field where no element is finite
  session::NonfiniteCounts nonfinite;
  std::int64_t zeros = 0;
  double smallestNonZero = 0;  // magnitude; NaN: none
};
RangeSummary emptyRange();  // of no elements
void add(RangeSummary& summary, double x);
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
