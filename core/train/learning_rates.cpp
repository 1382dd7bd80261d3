#include "core/train/learning_rates.h"

#include <algorithm>

namespace ulpscope::train {

double LearningRates::rate(double base) const {
  if (!m_recipe) return base;
  const session::SchedulerRecipe& r = *m_recipe;
  if (r.type == session::SchedulerRecipe::Type::linearWarmup) {
    const double done = static_cast<double>(std::min(m_steps, r.stepSize)) / static_cast<double>(r.stepSize);
    return base * (r.gamma + (1 - r.gamma) * done);
  }
  const std::int64_t every = r.type == session::SchedulerRecipe::Type::step ? r.stepSize : 1;
  double rate = base;
  for (std::int64_t i = 0; i < m_steps / every && rate != 0; ++i) rate *= r.gamma;
  return rate;
}

}  // namespace ulpscope::train
