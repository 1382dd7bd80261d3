// torch::optim's state of an optimizer, into a checkpoint and back. Private to core/train.
#pragma once

#include "core/storage/training_checkpoint.h"
#include "core/train/optimizers.h"
#include "core/train/training_model.h"

namespace ulpscope::train {

storage::OptimizerState stateOf(const TrainedOptimizer& optimizer, const TrainingModel& model);
// Throws StepFailure (input) where a parameter or a tensor is not the optimizer's.
void restoreState(const storage::OptimizerState& state, const TrainedOptimizer& optimizer, const TrainingModel& model);

}  // namespace ulpscope::train
