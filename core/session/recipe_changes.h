// What tells the recipe that a training goes on with from the one that it began with.
#pragma once

#include "core/session/recipe.h"
#include "core/session/training_history.h"

#include <vector>

namespace ulpscope::session {

struct RecipeChanges {
  // Precision policy, FP32 regions, scaler and its series, clipping, schedule, the optimizers' numbers, on_nonfinite: an experiment, which
  // wants a name.
  std::vector<RecipeDifference> experimental;
  // Loss, the optimizers' names, types and parameters, batches, seeds, accumulation, order, criteria: another training.
  std::vector<RecipeDifference> forbidden;
};

// By what the recipes mean: a default that is written out is no difference. Not looked at: paths (files are told by their fingerprints),
// steps, checkpoint_every and rollback, which change no step.
RecipeChanges changesBetween(const Recipe& before, const Recipe& after);

}  // namespace ulpscope::session
