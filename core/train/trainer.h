// Trains a model by a recipe, step by step, and accounts for every update. No Torch in this header.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/model/model_info.h"
#include "core/session/recipe.h"
#include "core/session/session.h"
#include "core/session/training.h"
#include "core/session/training_case.h"
#include "core/train/resume_check.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace ulpscope::train {

struct TrainingHooks {
  base::ProgressSink progress = {};
  // Each line of a ledger as it is written, on the working thread, with the trajectory's name.
  std::function<void(const std::string& run, const session::LedgerLine& line)> line = {};
  // Called once, with what was loaded, before the first step: an error ends the training there.
  std::function<base::Status(const model::ModelInfo& model, const session::SampleSet& samples)> open = {};
};

struct TrainingOutcome {
  model::ModelInfo model;
  session::SampleSet samples;
  session::Training training;  // number and createdUtc are not filled
};

// A step that made a training go back, once more.
struct Replay {
  session::TrainingCase item;
  std::string modelFile, inputsFile;  // where to write the model as it stood before the step, and the step's rows
};

// How steps are done. Without interception LibTorch's own autocast runs as in anybody's loop (native mode alone): random numbers are those of the
// default generator, seeded by micro-batch; only what is looked at op by op still has the hook.
struct StepManner {
  bool intercepts = true;
  int threads = 1;
};

struct TrainOptions {
  bool isolate = false;
  std::string checkpointFolder;      // where the recipe's trajectory writes its checkpoints; empty: none
  std::int64_t checkpointEvery = 0;  // steps; 0: the recipe's
  std::optional<Resume> resume;      // of the recipe's trajectory; the others begin anew
  StepManner manner = {};
  std::optional<Replay> replay;      // with `resume` at the case's checkpoint: the recipe's trajectory alone, up to the case's step
};

// Trajectories, all from the same weights with the same batches and seeds:
// - "recipe";
// - "fp32", where the recipe has autocast or a scaler: autocast and scaling off, so also the cell "autocast off, scaling off" of the 2x2;
// - with `isolate` the cells of autocast off/on x scaling off/on that are neither, named "autocast on, scaling off" and so on, the missing part
//   with its defaults. No cell has regions: a recipe that names FP32 regions is itself the FP32-region variant, and "autocast on, ..." beside
//   it is what it would be without. A recipe without regions is itself its cell, and is not trained twice.
// A trajectory that ends early is no error but Trajectory::error. Cancelled after a step: what there is, with Training::cancelled.
// Errors: usage (regions, parameters that match nothing, a loss that is not there), input (files), run (no trajectory could take its first
// step), cancelled (before the first step).
base::Result<TrainingOutcome> train(const session::Recipe& recipe, const TrainOptions& options, const TrainingHooks& hooks, std::stop_token stop);

// The model as it stands in a checkpoint, as TorchScript, and the recipe's inputs without eager outputs, which are of other weights. Errors as
// checkResume's, and those of the files.
base::Status exportCheckpoint(const session::Recipe& recipe, const Resume& checkpoint, const std::string& modelFile, const std::string& inputsFile);

// Whether a training by this recipe writes checkpoints: it asks for them, or has rules to go back by. Error kind usage where it has rules and
// says nowhere how often a checkpoint is taken.
base::Result<bool> writesCheckpoints(const session::Recipe& recipe, std::int64_t every);

}  // namespace ulpscope::train
