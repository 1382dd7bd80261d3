// Range and non-finite counts of one tensor, per sample.
#pragma once

#include "core/analysis/tensor_view.h"

#include <vector>

namespace ulpscope::analysis {

// One pass, any strides, copying a chunk at most. Complex elements count by their modulus. One entry a sample of `layout`, what add() gives element
// after element; a zero's sign is not told: min and max of zeros are +0.
std::vector<RangeSummary> rangesOf(const TensorView& view, const SampleLayout& layout);

}  // namespace ulpscope::analysis
