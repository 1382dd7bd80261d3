// What a training found, for people.
#pragma once

#include "core/analysis/event_order.h"
#include "core/session/training.h"

#include <string>
#include <vector>

namespace ulpscope::report {

// Plain text: the recipe's trajectory (updates, skipped steps and what made the first of them, scale, losses, zero gradients), violations of the
// order, alarms, the other trajectories in one table, and the verdict.
std::string trainingSummary(const session::Training& training);

// "0-11, 14": consecutive steps as ranges.
std::string stepRanges(const std::vector<std::int64_t>& steps);

// "1.28 to 0.4", of the first and the last step; what was not recorded is called so. Precondition: there is a step.
std::string lossText(const session::Trajectory& run);

// stepRanges of the steps that were skipped, of all optimizers, with their names where there are several: "a: 0-11; b: 3"; empty: none skipped.
std::string skippedText(const session::Trajectory& run);

// "aten::linear in layer (model.py:7): inf in the gradient of its output; first parameter layer.bias".
std::string firstNonfiniteText(const session::FirstNonfinite& first);

// A row a rule: its steps as ranges, event, optimizer, what to do. "The order is right." where there are none, "Nothing to judge: no step ..." for a log
// without one.
std::string orderText(const std::vector<analysis::OrderViolation>& violations);

}  // namespace ulpscope::report
