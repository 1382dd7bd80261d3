// What all trajectories of one training share. Private to core/train.
#pragma once

#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/engine/policy_table.h"
#include "core/session/recipe.h"
#include "core/train/loss_function.h"
#include "core/train/trainer.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace ulpscope::train {

struct TrainingFrame {
  const engine::LoadedModel& model;
  const session::Recipe& recipe;
  const engine::ReferenceSet& set;
  const engine::PolicyTable& table;
  const LossFunction& loss;
  const TrainingHooks& hooks;
  std::stop_token stop;
  StepManner manner = {};

  std::int64_t samples() const { return static_cast<std::int64_t>(set.samples.ids.size()); }
  // The format that a subnormal gradient is one of: the recipe's low one, in every trajectory; float32's where the recipe has no autocast.
  base::DType lowFormat() const { return recipe.autocast ? recipe.autocast->dtype : base::DType::float32; }
};

// What a recipe names, in memory.
struct LoadedTraining {
  engine::LoadedModel model;
  engine::ReferenceSet set;
  const engine::PolicyTable* table = nullptr;
  std::optional<LossFunction> loss;

  // Errors: usage (the policy, the target), input (files). It stays where it is, since the loss knows the set.
  static base::Result<std::unique_ptr<LoadedTraining>> load(const session::Recipe& recipe);
  // Borrows everything.
  TrainingFrame frame(const session::Recipe& recipe, const TrainingHooks& hooks, std::stop_token stop) const { return {model, recipe, set, *table, *loss, hooks, std::move(stop)}; }
};

// What tells one trajectory from another.
struct RunPlan {
  std::string name;
  std::optional<session::AutocastRecipe> autocast;
  std::optional<session::ScalerRecipe> scaler;
};

}  // namespace ulpscope::train
