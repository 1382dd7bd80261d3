// Holds a training against the criteria of its recipe.
#pragma once

#include "core/session/training.h"
#include "core/session/verdict.h"

#include <optional>
#include <string>

namespace ulpscope::analysis {

// Of the trajectory "recipe" (of a recorded loop its own), where a criterion needs it against "fp32": pass when every criterion passes, fail when one fails or the
// trajectory ended early. Empty: the recipe has none.
// skip_rate: of the optimizer that skipped most, over the steps. applied_updates: of the one that was applied least, at least the limit. final_loss_increase and accuracy_drop: of the last
// step against FP32's; not finite where FP32's is: fails. alarms: their number, limit 0.
// Not evaluated: no step was done, no FP32 trajectory or no accuracy to compare with, or one that is itself not finite.
// As a whole not evaluated where the training was cancelled, nothing was autocast, FP32 is not finite, or neither could run.
std::optional<session::Verdict> judgeTraining(const session::Recipe& recipe, const session::Training& training);

bool hasAlarm(const session::Trajectory& run, const std::string& id);

}  // namespace ulpscope::analysis
