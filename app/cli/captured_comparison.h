// Activations that two runs stored, held against each other.
#pragma once

#include "core/base/error.h"
#include "core/report/run_comparison.h"

#include <vector>

namespace ulpscope::cli {

// Of op sites that both captured, one after another; empty: there are none. Errors as storage::readCapture's.
base::Result<std::vector<report::ComparedCapture>> compareCaptures(const report::ComparedRun& a, const report::ComparedRun& b);

}  // namespace ulpscope::cli
