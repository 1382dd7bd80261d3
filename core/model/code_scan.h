// Whether TorchScript source nests deeper than LibTorch's recursive parser and compiler can bear.
#pragma once

#include "core/base/error.h"

#include <string_view>

namespace ulpscope::model {

// Counts what recurses there: brackets, operators and calls chained within one expression, indentation and `elif`.
// Errors (kind input) name the line. Limit: kMaxCodeNesting (archive.h).
base::Status scanCode(std::string_view source);

}  // namespace ulpscope::model
