// torch::optim's optimizers by a recipe. Private to core/train.
#pragma once

#include "core/base/error.h"
#include "core/session/recipe.h"
#include "core/train/training_model.h"

#include <torch/optim/optimizer.h>

#include <memory>
#include <string>
#include <vector>

namespace ulpscope::train {

// Which optimizer takes which parameter: one list of numbers of `names` an optimizer. Error kind usage: a glob that matches nothing, with
// the nearest names; a parameter that two take.
base::Result<std::vector<std::vector<std::size_t>>> assignParameters(const std::vector<session::OptimizerRecipe>& optimizers, const std::vector<std::string>& names);

struct TrainedOptimizer {
  session::OptimizerRecipe recipe;
  std::vector<std::size_t> parameters;  // numbers in the model
  std::vector<at::Tensor> tensors;
  std::unique_ptr<torch::optim::Optimizer> optimizer;

  void setRate(double lr);
};

// Throws StepFailure (usage) with assignParameters' errors.
std::vector<TrainedOptimizer> makeOptimizers(const std::vector<session::OptimizerRecipe>& recipes, const TrainingModel& model);

}  // namespace ulpscope::train
