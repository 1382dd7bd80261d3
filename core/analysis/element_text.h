// One element as people read and copy it, exact in its own dtype.
#pragma once

#include "core/analysis/tensor_view.h"

#include <string>

namespace ulpscope::analysis {

// float64 in its shortest round-trip form, other floats to 9 digits, integers in full, "true", "0.5 - 2i" of a complex one.
std::string elementText(const TensorView& view, std::int64_t element);

}  // namespace ulpscope::analysis
