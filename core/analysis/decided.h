// What one run decides, sample by sample: names for the decisions that did not flip.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/session/settings.h"

#include <cstdint>
#include <vector>

namespace ulpscope::analysis {

// One entry a sample, with one number (as session::Flip::referenceDecision), or with those of top-k's set in ascending order. Empty: a NaN
// among its scores, several positions a sample (decisions.h), or a rule that does not fit `scores`, [.., samples, ..]: nothing to name.
std::vector<std::vector<std::int64_t>> decidedIn(const TensorView& scores, int sampleAxis, const session::DecisionRule& rule);

}  // namespace ulpscope::analysis
