// The two numbers that tell how far two stored activations are apart, fast: for tensors of gigabytes.
#pragma once

#include "core/base/dtype.h"

#include <cstddef>
#include <cstdint>

namespace ulpscope::analysis {

// Sums over pairs whose elements are both finite.
struct LightSums {
  double squaredDifference = 0, squaredReference = 0;
  double maxAbs = 0;
  std::int64_t finitePairs = 0;
  void add(const LightSums& other);
};

// Whether lightSums() takes the dtype: float16, bfloat16 and float32.
bool isLight(base::DType dtype);

// a, b: `count` elements each, of light dtypes, contiguous. Each widened to double, then subtracted; sums in 16 lanes of double that are added in
// one order, so that every processor gives the same bits.
LightSums lightSums(const std::byte* a, base::DType aDtype, const std::byte* b, base::DType bDtype, std::int64_t count);

}  // namespace ulpscope::analysis
