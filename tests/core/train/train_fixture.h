// Recipes on the fixtures of tests/support/fixtures/training.py, and trainings of them.
#pragma once

#include "core/train/trainer.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/train/training_cases.h"

#include <gtest/gtest.h>

#include <string>

namespace ulpscope::tests {

// SGD with rate 0 (gradients alone), emulated FP16, a scaler with its defaults, the model's own loss.
inline nlohmann::json recipeOn(const std::string& fixture, const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json recipe = {{"model", modelPath(fixture)},
                           {"inputs", modelFolder(fixture) + "/inputs.pt"},
                           {"loss", "output"},
                           {"optimizers", {{{"name", "sgd"}, {"type", "SGD"}, {"lr", 0.0}}}},
                           {"autocast", {{"dtype", "float16"}}},
                           {"scaler", nlohmann::json::object()},
                           {"steps", 1}};
  recipe.update(changes);
  return recipe;
}

inline train::TrainingOutcome trainedWith(const nlohmann::json& json, const train::TrainOptions& options, const train::TrainingHooks& hooks = {}) {
  auto recipe = session::recipeFromJson(json);
  if (!recipe) ADD_FAILURE() << recipe.error().message();
  auto outcome = train::train(recipe.value(), options, hooks, {});
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message();
    return {};
  }
  return std::move(outcome).value();
}

inline train::TrainingOutcome trained(const nlohmann::json& json, bool isolate = false, const train::TrainingHooks& hooks = {}) {
  train::TrainOptions options;
  options.isolate = isolate;
  return trainedWith(json, options, hooks);
}

inline session::Trajectory trainedRun(const nlohmann::json& json, const std::string& name = "recipe") {
  const train::TrainingOutcome outcome = trained(json);
  const session::Trajectory* run = outcome.training.run(name);
  if (!run) ADD_FAILURE() << "no trajectory " << name;
  return run ? *run : session::Trajectory{};
}

inline std::string trainError(const nlohmann::json& json, const train::TrainOptions& options = {}) {
  auto recipe = session::recipeFromJson(json);
  if (!recipe) return recipe.error().message();
  auto outcome = train::train(recipe.value(), options, {}, {});
  return outcome ? "" : base::name(outcome.error().kind) + ": " + outcome.error().message();
}

inline const session::Alarm* alarmOf(const session::Trajectory& run, const std::string& id) {
  for (const session::Alarm& alarm : run.alarms)
    if (alarm.id == id) return &alarm;
  return nullptr;
}

inline std::vector<std::string> rulesOf(const session::Trajectory& run) {
  std::vector<std::string> rules;
  for (const session::Violation& violation : run.violations) rules.push_back(violation.rule);
  return rules;
}

inline std::vector<std::int64_t> stepsUpTo(std::int64_t count) {
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < count; ++i) steps.push_back(i);
  return steps;
}

}  // namespace ulpscope::tests
