#include "core/train/trainer.h"

#include "core/base/number_text.h"
#include "core/engine/blas_threads.h"
#include "core/train/alarms.h"
#include "core/train/step_failure.h"
#include "core/train/training_frame.h"
#include "core/train/trajectory_run.h"

#include <torch/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::Recipe;

bool namesRegions(const std::optional<session::AutocastRecipe>& autocast) { return autocast && (!autocast->fp32.empty() || !autocast->disable.empty()); }

// The recipe's own, FP32's, and the cells of the 2x2 that neither of them is.
std::vector<RunPlan> plansFor(const Recipe& recipe, bool isolate) {
  std::vector<RunPlan> plans{{"recipe", recipe.autocast, recipe.scaler}};
  if (recipe.autocast || recipe.scaler) plans.push_back({"fp32", std::nullopt, std::nullopt});
  if (!isolate) return plans;
  session::AutocastRecipe bare = recipe.autocast.value_or(session::AutocastRecipe{});
  bare.fp32.clear();
  bare.disable.clear();
  const session::ScalerRecipe scaler = recipe.scaler.value_or(session::ScalerRecipe{});
  for (const bool autocast : {false, true})
    for (const bool scaling : {false, true}) {
      const bool isRecipe = autocast == recipe.autocast.has_value() && scaling == recipe.scaler.has_value() && !namesRegions(recipe.autocast);
      if (isRecipe || (!autocast && !scaling)) continue;
      plans.push_back({fmt::format("autocast {}, scaling {}", autocast ? "on" : "off", scaling ? "on" : "off"), autocast ? std::optional(bare) : std::nullopt,
                       scaling ? std::optional(scaler) : std::nullopt});
    }
  return plans;
}

class Trainer {
 public:
  Trainer(const TrainingFrame& frame, std::vector<RunPlan> plans) : m_frame(frame), m_plans(std::move(plans)) {}

  base::Status run(session::Training& training) {
    for (const RunPlan& plan : m_plans) {
      TrajectoryRun trajectory(m_frame, plan);
      training.runs.push_back(trajectory.run());
      training.cancelled = trajectory.cancelled();
      noteNothingLowered(training, plan, trajectory);
      if (training.cancelled) break;
    }
    const auto plain = std::find_if(training.runs.begin(), training.runs.end(), [](const session::Trajectory& run) { return !run.autocast && !run.scaling; });
    for (session::Trajectory& run : training.runs) {
      const session::Trajectory* fp32 = plain == training.runs.end() ? nullptr : &*plain;
      const auto found = findAlarms(run, fp32 == &run ? nullptr : fp32);
      run.alarms.insert(run.alarms.end(), found.begin(), found.end());
      std::stable_sort(run.alarms.begin(), run.alarms.end(), [](const session::Alarm& a, const session::Alarm& b) { return a.step < b.step; });
    }
    return judge(training);
  }

 private:
  const TrainingFrame& m_frame;
  std::vector<RunPlan> m_plans;

  static void noteNothingLowered(session::Training& training, const RunPlan& plan, const TrajectoryRun& trajectory) {
    if (plan.autocast && training.runs.back().steps > 0 && !trajectory.loweredAny())
      training.warnings.push_back(fmt::format("nothing was autocast in '{}': no op ran in {}", plan.name, base::name(plan.autocast->dtype)));
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

Result<TrainingOutcome> trainLoaded(const Recipe& recipe, bool isolate, const TrainingHooks& hooks, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  if (hooks.progress) hooks.progress({"loading", "", "", 0, 0});
  auto loaded = LoadedTraining::load(recipe);
  if (!loaded) return loaded.error();
  const LoadedTraining& training = *loaded.value();
  const TrainingFrame frame = training.frame(recipe, hooks, std::move(stop));
  TrainingOutcome outcome{training.model.info, training.set.samples, {}};
  outcome.training.libtorchVersion = TORCH_VERSION;
  outcome.training.policyTable = training.table->name();
  outcome.training.recipe = recipe.canonical;
  outcome.training.warnings = training.model.info.warnings;
  warnOfSmallSets(frame, outcome.training);
  if (auto done = Trainer(frame, plansFor(recipe, isolate)).run(outcome.training); !done) return done.error();
  outcome.training.elapsedSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace

Result<TrainingOutcome> train(const Recipe& recipe, bool isolate, const TrainingHooks& hooks, std::stop_token stop) try {
  engine::setBlasThreads(1);
  const at::AutoGradMode gradients(true);
  return trainLoaded(recipe, isolate, hooks, std::move(stop));
} catch (const StepFailure& failure) {
  return failure.error();
} catch (const std::bad_alloc&) {
  return Error{ErrorKind::run, "out of memory", recipe.model, "use a smaller batch_size"};
} catch (const std::exception& e) {
  return Error{ErrorKind::run, "the training failed: " + engine::plainMessage(e), recipe.model, "please report it with the recipe and the model"};
}

}  // namespace ulpscope::train
