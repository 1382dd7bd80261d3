// What should make somebody stop and look, read off a ledger.
#pragma once

#include "core/session/training.h"

#include <vector>

namespace ulpscope::analysis {

inline constexpr std::int64_t kSkipsInARow = 5, kStepsWithoutUpdate = 20;

// Each at most once a trajectory (once an optimizer where it is the optimizer's), at the step it first holds:
// - "scale_below_1", "scale_infinite": the scale after update()
// - "skips_in_a_row": an optimizer skipped kSkipsInARow steps in a row
// - "no_update": no optimizer stepped in kStepsWithoutUpdate steps in a row
// - "forward_nonfinite": an input, a parameter, an output or the loss is not finite, which no scale mends
// - "update_norm_far": in the first step in which both this trajectory and FP32 applied an optimizer's update, its norm is over twice or under
//   half of FP32's, or not finite where FP32's is. fp32 may be null.
// - "buffers_poisoned": a buffer is not finite at the end
// - "nonfinite_loss_applied": an optimizer steps although the loss that it takes is not finite
// - "fp32_nonfinite": FP32 has a non-finite value of its own, so it is nothing to compare with
// "nothing_autocast" comes from the trainer: no op ran in the low dtype.
// "gradients_flushed_to_zero" comes from the first step's comparison (core/train/watched_step.h).
// A line says nothing by what it did not record.
std::vector<session::Alarm> findAlarms(const session::Trajectory& run, const session::Trajectory* fp32);

}  // namespace ulpscope::analysis
