#include "core/train/trainer.h"

#include "core/analysis/training_alarms.h"
#include "core/base/hashing.h"
#include "core/base/number_text.h"
#include "core/engine/blas_threads.h"
#include "core/train/checkpoint_keeper.h"
#include "core/train/frozen_layers.h"
#include "core/train/model_export.h"
#include "core/train/step_failure.h"
#include "core/train/training_frame.h"
#include "core/train/trajectory_run.h"

#include <torch/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::Recipe;

bool namesRegions(const std::optional<session::AutocastRecipe>& autocast) { return autocast && (!autocast->fp32.empty() || !autocast->disable.empty()); }

// The recipe's own, FP32's, and the cells of the 2x2 that neither of them is.
std::vector<RunPlan> plansFor(const Recipe& recipe, const TrainOptions& options) {
  std::vector<RunPlan> plans{{"recipe", recipe.autocast, recipe.scaler}};
  if (options.replay) return plans;
  if (recipe.autocast || recipe.scaler) plans.push_back({"fp32", std::nullopt, std::nullopt});
  if (!options.isolate) return plans;
  session::AutocastRecipe bare = recipe.autocast.value_or(session::AutocastRecipe{});
  bare.fp32.clear();
  bare.disable.clear();
  const session::ScalerRecipe scaler = recipe.scaler.value_or(session::ScalerRecipe{});
  for (const bool autocast : {false, true})
    for (const bool scaling : {false, true}) {
      const bool isRecipe = autocast == recipe.autocast.has_value() && scaling == recipe.scaler.has_value() && !namesRegions(recipe.autocast);
      if (isRecipe || (!autocast && !scaling)) continue;
      const bool withoutRegions = autocast && namesRegions(recipe.autocast);
      plans.push_back({fmt::format("autocast {}, scaling {}{}", autocast ? "on" : "off", scaling ? "on" : "off", withoutRegions ? ", no FP32 region" : ""), autocast ? std::optional(bare) : std::nullopt,
                       scaling ? std::optional(scaler) : std::nullopt});
    }
  return plans;
}

TrainingFacts factsOf(const LoadedTraining& loaded) {
  const model::Fingerprint& print = loaded.model.info.fingerprint;
  std::string labels;
  for (const std::int64_t label : loaded.set.samples.labels) labels += std::to_string(label) + ",";
  return {loaded.table->name(), TORCH_VERSION, print.codeSha256 + ":" + print.weightsSha256, base::sha256(loaded.set.samples.sha256 + ":" + labels)};
}

// Keeps the model as it stands before the step that is done again.
class ReplayWatcher : public StepWatcher {
 public:
  ReplayWatcher(const TrainingFrame& frame, const Replay& replay) : m_frame(frame), m_replay(replay) {}
  void begin(TrajectoryRun& run) override { keep(run); }
  bool stepDone(TrajectoryRun& run) override {
    keep(run);
    if (run.stepsDone() == m_replay.item.step + 1) checkBatches(run);
    return true;
  }

 private:
  const TrainingFrame& m_frame;
  const Replay& m_replay;

  // What the case says of the step's rows and seeds must be what the step takes.
  void checkBatches(TrajectoryRun& run) const {
    const std::vector<MicroBatch> taken = run.lastStep().batches;
    const bool same = std::equal(taken.begin(), taken.end(), m_replay.item.batches.begin(), m_replay.item.batches.end(),
                                 [](const MicroBatch& a, const session::CaseBatch& b) { return a.rows == b.rows && a.seed == b.seed; });
    if (!same) run.endEarly("the case names other rows or seeds than the step takes");
  }

  void keep(TrajectoryRun& run) const {
    run.compareGradientsIn(m_replay.item.step);
    if (run.stepsDone() != m_replay.item.step) return;
    if (auto kept = exportModel(m_frame.recipe.model, run.checkpoint(), m_replay.modelFile); !kept) throw StepFailure(kept.error());
    std::vector<std::int64_t> rows;
    for (const session::CaseBatch& batch : m_replay.item.batches) rows.insert(rows.end(), batch.rows.begin(), batch.rows.end());
    for (const std::int64_t row : rows)
      if (row < 0 || row >= m_frame.samples()) throw StepFailure({base::ErrorKind::input, "names rows that the inputs do not have", "case", "take the case as it was written"});
    if (auto kept = exportRows(m_frame.set, rows, m_replay.inputsFile); !kept) throw StepFailure(kept.error());
  }
};

class Trainer {
 public:
  Trainer(const TrainingFrame& frame, const TrainingFacts& facts, const TrainOptions& options) : m_frame(frame), m_facts(facts), m_options(options), m_plans(plansFor(frame.recipe, options)) {}

  base::Status run(session::Training& training) {
    for (const RunPlan& plan : m_plans) {
      TrajectoryRun trajectory(m_frame, plan);
      if (auto trained = trainOne(plan, trajectory, training); !trained) return trained;
      training.cancelled = trajectory.cancelled();
      noteNothingLowered(training, plan, trajectory);
      if (training.cancelled) break;
    }
    const auto plain = std::find_if(training.runs.begin(), training.runs.end(), [](const session::Trajectory& run) { return !run.autocast && !run.scaling; });
    for (session::Trajectory& run : training.runs) {
      const session::Trajectory* fp32 = plain == training.runs.end() ? nullptr : &*plain;
      const auto found = analysis::findAlarms(run, fp32 == &run ? nullptr : fp32);
      run.alarms.insert(run.alarms.end(), found.begin(), found.end());
      std::stable_sort(run.alarms.begin(), run.alarms.end(), [](const session::Alarm& a, const session::Alarm& b) { return a.step < b.step; });
    }
    return judge(training);
  }

 private:
  const TrainingFrame& m_frame;
  const TrainingFacts& m_facts;
  const TrainOptions& m_options;
  std::vector<RunPlan> m_plans;

  // Checkpoints, resume and replay are the recipe's own trajectory's.
  base::Status trainOne(const RunPlan& plan, TrajectoryRun& trajectory, session::Training& training) {
    if (plan.name != m_plans.front().name) {
      training.runs.push_back(trajectory.run());
      return base::success();
    }
    if (m_options.resume) {
      auto how = checkResume(m_frame.recipe, m_facts, *m_options.resume);
      if (!how) return how.error();
      trajectory.resume(m_options.resume->checkpoint, how->scalerBefore, how->changed);
      training.resumes = std::move(how.value().history);
    }
    if (m_options.replay) {
      ReplayWatcher watcher(m_frame, *m_options.replay);
      training.runs.push_back(trajectory.run(&watcher));
    } else if (!m_options.checkpointFolder.empty()) {
      CheckpointKeeper keeper(m_frame, m_facts, m_options.checkpointFolder, m_options.checkpointEvery > 0 ? m_options.checkpointEvery : m_frame.recipe.checkpointEvery);
      keeper.setHistory(training.resumes);
      training.runs.push_back(trajectory.run(&keeper));
      training.checkpoints = keeper.entries();
      training.rollback = keeper.rollback();
    } else {
      training.runs.push_back(trajectory.run());
    }
    return base::success();
  }

  static void noteNothingLowered(session::Training& training, const RunPlan& plan, const TrajectoryRun& trajectory) {
    if (plan.autocast && training.runs.back().steps > 0 && !trajectory.loweredAny())
      training.runs.back().alarms.push_back({"nothing_autocast", 0, fmt::format("nothing was autocast: no op ran in {}, so this says nothing of AMP", base::name(plan.autocast->dtype))});
  }

  static base::Status judge(const session::Training& training) {
    const bool any = std::any_of(training.runs.begin(), training.runs.end(), [](const session::Trajectory& run) { return run.steps > 0 || !run.ledger.empty(); });
    if (any) return base::success();
    if (training.cancelled) return Error{ErrorKind::cancelled, "cancelled", "training", "earlier results are kept"};
    return Error{ErrorKind::run, "no trajectory could take its first step: " + training.runs.front().error, "training", ""};
  }
};

void warnOfSmallSets(const TrainingFrame& frame, session::Training& training) {
  if (frame.recipe.batchSize > frame.samples())
    training.warnings.push_back(fmt::format("the inputs hold {}: each batch takes them all, not {}", base::counted(frame.samples(), "sample"), frame.recipe.batchSize));
}

Result<TrainingOutcome> trainLoaded(const Recipe& recipe, const TrainOptions& options, const TrainingHooks& hooks, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  if (hooks.progress) hooks.progress({"loading", "", "", 0, 0});
  auto loaded = LoadedTraining::load(recipe);
  if (!loaded) return loaded.error();
  const LoadedTraining& training = *loaded.value();
  if (hooks.open)
    if (auto opened = hooks.open(training.model.info, training.set.samples); !opened) return opened.error();
  TrainingFrame frame = training.frame(recipe, hooks, std::move(stop));
  frame.manner = options.manner;
  TrainingOutcome outcome{training.model.info, training.set.samples, {}};
  outcome.training.libtorchVersion = TORCH_VERSION;
  outcome.training.policyTable = training.table->name();
  outcome.training.recipe = recipe.canonical;
  outcome.training.warnings = training.model.info.warnings;
  warnOfSmallSets(frame, outcome.training);
  if (const auto frozen = layersFrozenInEval(training.model.module); !frozen.empty())
    outcome.training.warnings.push_back(fmt::format("{} in eval mode whatever the training does, first {}: the model was traced so; script it, or trace it in train mode",
                                                    base::counted(static_cast<std::int64_t>(frozen.size()), "layer") + (frozen.size() == 1 ? " stays" : " stay"), frozen.front()));
  const TrainingFacts facts = factsOf(training);
  if (auto done = Trainer(frame, facts, options).run(outcome.training); !done) return done.error();
  outcome.training.elapsedSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace

Result<TrainingOutcome> train(const Recipe& recipe, const TrainOptions& options, const TrainingHooks& hooks, std::stop_token stop) try {
  const engine::BlasThreads blas(options.manner.threads, 1);
  const at::AutoGradMode gradients(true);
  return trainLoaded(recipe, options, hooks, std::move(stop));
} catch (const StepFailure& failure) {
  return failure.error();
} catch (const std::bad_alloc&) {
  return Error{ErrorKind::run, "out of memory", recipe.model, "use a smaller batch_size"};
} catch (const std::exception& e) {
  return Error{ErrorKind::run, "the training failed: " + engine::plainMessage(e), recipe.model, "please report it with the recipe and the model"};
}

base::Status exportCheckpoint(const Recipe& recipe, const Resume& checkpoint, const std::string& modelFile, const std::string& inputsFile) {
  auto loaded = LoadedTraining::load(recipe);
  if (!loaded) return loaded.error();
  session::Recipe upToThere = recipe;
  upToThere.steps = std::max(recipe.steps, checkpoint.checkpoint.step);
  if (auto fits = checkResume(upToThere, factsOf(*loaded.value()), checkpoint); !fits) return fits.error();
  std::vector<std::int64_t> rows(loaded.value()->set.samples.ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  if (auto written = exportRows(loaded.value()->set, rows, inputsFile); !written) return written;
  return exportModel(recipe.model, checkpoint.checkpoint, modelFile);
}

Result<bool> writesCheckpoints(const Recipe& recipe, std::int64_t every) {
  const bool often = every > 0 || recipe.checkpointEvery > 0 || std::find(recipe.events.begin(), recipe.events.end(), "checkpoint") != recipe.events.end();
  if (recipe.rollback.any() && !often)
    return Error{ErrorKind::usage, "goes back to a checkpoint, and nothing says how often one is taken", "recipe, rollback", "add \"checkpoint_every\": N, or --checkpoint-every N"};
  return often;
}

}  // namespace ulpscope::train
