// What a ledger says of a gradient, in one pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ulpscope::train {

struct GradientStatistics {
  std::int64_t elements = 0, zeros = 0, subnormals = 0, nonfinite = 0;  // subnormals: below `tiny`, not zero
  double squares = 0;  // sum; infinite or NaN where an element is
  bool hasNan = false;

  double share(std::int64_t count) const { return elements == 0 ? 0 : static_cast<double>(count) / static_cast<double>(elements); }
  GradientStatistics& operator+=(const GradientStatistics& other);
};

// Of a floating tensor, any strides; a sparse gradient's elements are its values. tiny: the smallest normal of the format that subnormal
// is meant in.
GradientStatistics statisticsOf(const at::Tensor& gradient, double tiny);

// Sum of squares of after - before; same dtype and sizes.
double squaredDistance(const at::Tensor& after, const at::Tensor& before);

bool allFinite(const at::Tensor& tensor);

}  // namespace ulpscope::train
