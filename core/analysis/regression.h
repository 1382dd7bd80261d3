// Errors and extreme values where an output is a quantity, not a decision. Private to core/analysis.
#pragma once

#include "core/analysis/choice.h"
#include "core/analysis/decisions.h"

namespace ulpscope::analysis {

// mean = sum |b - a| / n, root mean square = sqrt(sum (b - a)^2 / n), max = the largest |b - a|, over the n elements that are finite in both;
// NaN each with n = 0. Against targets (SampleSet::targets): likewise, over elements finite in that run; an element that is not makes its
// errors +inf. Error kind run where the targets do not fit the output.
base::Result<session::Regression> regressionOf(const DecisionInput& input, const PositionGrid& grid, const session::SampleSet& samples);

}  // namespace ulpscope::analysis
