// Trains a model by a recipe, step by step, and accounts for every update. No Torch in this header.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/model/model_info.h"
#include "core/session/recipe.h"
#include "core/session/session.h"
#include "core/session/training.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace ulpscope::train {

struct TrainingHooks {
  base::ProgressSink progress = {};
  // Each line of a ledger as it is written, on the working thread, with the trajectory's name.
  std::function<void(const std::string& run, const session::LedgerLine& line)> line = {};
};

struct TrainingOutcome {
  model::ModelInfo model;
  session::SampleSet samples;
  session::Training training;  // number and createdUtc are not filled
};

// Trajectories, all from the same weights with the same batches and seeds: "recipe"; "fp32" (autocast and scaling off) where the recipe has
// autocast or a scaler; with `isolate` the other cells of autocast off/on x scaling off/on, and the FP32-region variant where the recipe
// names regions. A trajectory that ends early is no error but Trajectory::error. Errors: usage (regions, parameters that match nothing,
// a loss that is not there), input (files), run (no trajectory could take its first step), cancelled.
base::Result<TrainingOutcome> train(const session::Recipe& recipe, bool isolate, const TrainingHooks& hooks, std::stop_token stop);

}  // namespace ulpscope::train
