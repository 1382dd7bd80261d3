// torch.optim.lr_scheduler's StepLR, ExponentialLR and a linear warm-up: the factor on every optimizer's rate. No Torch.
#pragma once

#include "core/session/recipe.h"

#include <cstdint>
#include <optional>

namespace ulpscope::train {

class LearningRates {
 public:
  explicit LearningRates(const std::optional<session::SchedulerRecipe>& recipe) : m_recipe(recipe) {}

  void step() { ++m_steps; }
  void goTo(std::int64_t steps) { m_steps = steps; }
  std::int64_t steps() const { return m_steps; }
  // As PyTorch's own recursion rounds: StepLR and ExponentialLR multiply the rate by gamma, step by step. LinearWarmup: LinearLR's closed
  // form with start_factor gamma, end_factor 1, total_iters step_size.
  double rate(double base) const;

 private:
  std::optional<session::SchedulerRecipe> m_recipe;
  std::int64_t m_steps = 0;
};

}  // namespace ulpscope::train
