// How the magnitudes of a tensor spread over the binary exponents.
#pragma once

#include "core/analysis/tensor_view.h"

namespace ulpscope::analysis {

// counts[i]: elements with 2^e <= |x| < 2^(e+1), e = firstExponent + i; first and last are not 0. Zeros and what is not finite have no
// exponent and are counted apart. Integers and bools count as the numbers they are, complex ones by their modulus.
struct ExponentHistogram {
  int firstExponent = 0;
  std::vector<std::int64_t> counts;  // empty: no finite element but zeros
  std::int64_t zeros = 0, nan = 0, infinite = 0;
  std::int64_t elements = 0;  // all of these

  std::int64_t at(int exponent) const;  // 0 outside
  int endExponent() const { return firstExponent + static_cast<int>(counts.size()); }  // exclusive
};
// 2^e of the median of the counted magnitudes, NaN where there is none: what is usual in a tensor with outliers.
double typicalMagnitude(const ExponentHistogram& histogram);
// Precondition: contiguous.
ExponentHistogram exponentHistogram(const TensorView& view);

}  // namespace ulpscope::analysis
