#include "core/train/step_benchmark.h"

#include "core/base/number_text.h"
#include "core/engine/benchmark_run.h"
#include "core/engine/blas_threads.h"
#include "core/engine/machine.h"
#include "core/engine/peak_meter.h"
#include "core/engine/run_frame.h"
#include "core/train/step_failure.h"
#include "core/train/trajectory_run.h"

#include <ATen/Parallel.h>

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using engine::TimedSide;
using engine::Times;
using session::Recipe;

RunPlan planOf(const Recipe& recipe, TimedSide side) {
  return side == TimedSide::candidate ? RunPlan{"recipe", recipe.autocast, recipe.scaler} : RunPlan{"fp32", std::nullopt, std::nullopt};
}

session::RunSettings settingsOf(const Recipe& recipe) {
  session::RunSettings settings;
  settings.mode = recipe.autocast->mode;
  settings.autocast = recipe.autocast->dtype;
  settings.fp32 = recipe.autocast->fp32;
  settings.disable = recipe.autocast->disable;
  settings.castCache = recipe.autocast->castCache;
  settings.trainMode = true;
  return settings;
}

std::string workText(const Recipe& recipe) {
  std::string text = "training step: loss " + session::name(recipe.loss.kind);
  for (const session::OptimizerRecipe& optimizer : recipe.optimizers) text += ", " + session::name(optimizer.type);
  if (recipe.accumulationSteps > 1) text += fmt::format(", {} micro-batches", recipe.accumulationSteps);
  return text + (recipe.scaler ? ", GradScaler on the autocast side" : ", no scaler");
}

class StepBenchmark {
 public:
  StepBenchmark(const StepOrder& order, const LoadedTraining& training, const base::ProgressSink& progress)
      : m_order(order), m_progress(progress), m_training(training), m_frame(training.frame(order.recipe, m_hooks, {})), m_regions(regions()), m_blas(order.threads, engine::kThreadsPerRun) {
    m_frame.manner = {false, order.threads};
  }

  session::BenchmarkConditions conditions() const {
    const std::int64_t size = std::min(m_order.recipe.batchSize, m_frame.samples());
    session::BenchmarkConditions c = engine::conditionsOf(settingsOf(m_order.recipe), *m_training.table, m_order.threads);
    c.work = workText(m_order.recipe);
    c.interception = engine::interceptionText(engine::needsMarkers(m_training.model, m_regions));
    c.batchSize = size;
    c.inputs = engine::timedInputs(m_training.set, {0, size});
    return c;
  }

  Result<engine::PairTimes> pairs(std::stop_token stop) {
    engine::settleHeap();
    const RunPlan fp32 = planOf(m_order.recipe, TimedSide::reference), autocast = planOf(m_order.recipe, TimedSide::candidate);
    TrajectoryRun reference(m_frame, fp32, TrajectoryRun::Accounting::off), candidate(m_frame, autocast, TrajectoryRun::Accounting::off);
    engine::PairPlan plan;
    plan.pairs = m_order.pairs;
    plan.batches = std::max<std::int64_t>(1, m_frame.samples() / (m_order.recipe.batchSize * m_order.recipe.accumulationSteps));
    plan.side = [&](bool isCandidate, std::int64_t, Times& times) { return step(isCandidate ? candidate : reference, isCandidate, times); };
    plan.tell = [&](const std::string& stage, int done, int total) { tell(stage, done, total); };
    return engine::alternatingPairs(plan, std::move(stop));
  }

  Result<session::PeakMemory> peak(TimedSide side, std::stop_token stop) {
    const RunPlan plan = planOf(m_order.recipe, side);
    TrajectoryRun only(m_frame, plan, TrajectoryRun::Accounting::off);
    const engine::PeakMeter meter;
    for (int i = 0; i < engine::kPeakForwards; ++i) {
      if (stop.stop_requested()) return engine::cancelledError();
      tell(side == TimedSide::candidate ? "measuring memory of BF16" : "measuring memory of FP32", i, engine::kPeakForwards);
      Times times;
      if (auto done = step(only, side == TimedSide::candidate, times); !done) return done.error();
    }
    session::PeakMemory memory = meter.read();
    memory.forwards = engine::kPeakForwards;
    return memory;
  }

 private:
  const StepOrder& m_order;
  const base::ProgressSink& m_progress;
  const LoadedTraining& m_training;
  TrainingHooks m_hooks;
  TrainingFrame m_frame;
  engine::RegionSet m_regions;
  engine::BlasThreads m_blas;

  engine::RegionSet regions() const {
    engine::RegionSet found = regionsOf(m_frame, *m_order.recipe.autocast);
    if (found.hasOpPatterns()) throw StepFailure(Error{ErrorKind::input, "names an op site, which only interception can keep in FP32", "recipe, autocast.fp32", "time a recipe whose FP32 regions are modules"});
    return found;
  }

  void tell(const std::string& stage, int done, int total) const {
    const std::int64_t rows = m_order.recipe.batchSize * m_order.recipe.accumulationSteps;
    if (m_progress) m_progress({stage, "", "", done * rows, total * rows});
  }

  Status step(TrajectoryRun& trajectory, bool isCandidate, Times& times) const {
    bool good = false;
    {
      const engine::Stopwatch watch(&times);
      good = trajectory.step();
    }
    if (good) return base::success();
    return Error{ErrorKind::run, fmt::format("a step in {} failed without interception: {}", isCandidate ? "BF16" : "FP32", trajectory.error()), m_order.recipe.model, "`ulpscope train` names the op"};
  }
};

// Whatever can be measured of an order, once its files are loaded and its caller agrees.
template <typename T, typename Measure>
Result<T> measured(const StepOrder& asked, const base::ProgressSink& progress, const Measure& measure) try {
  StepOrder order = asked;
  if (order.threads < 1) order.threads = at::get_num_threads();
  if (auto right = engine::checkNumbers(order.pairs, order.threads); !right) return right.error();
  if (progress) progress({"loading", "", "", 0, 0});
  const auto loaded = LoadedTraining::load(order.recipe);
  if (!loaded) return loaded.error();
  if (order.open)
    if (auto opened = order.open(loaded.value()->model.info, loaded.value()->set.samples); !opened) return opened.error();
  const at::AutoGradMode gradients(true);
  StepBenchmark benchmark(order, *loaded.value(), progress);
  return measure(order, benchmark);
} catch (const StepFailure& failure) {
  return failure.error();
} catch (const std::bad_alloc&) {
  return Error{ErrorKind::run, "out of memory", asked.recipe.model, "use a smaller batch_size"};
} catch (const std::exception& e) {
  return Error{ErrorKind::run, "the benchmark failed: " + engine::plainMessage(e), asked.recipe.model, "please report it with the recipe and the model"};
}

}  // namespace

Result<TimedSteps> timeSteps(const StepOrder& asked, const base::ProgressSink& progress, std::stop_token stop) {
  int threads = 0;
  auto timed = measured<TimedSteps>(asked, progress, [&](const StepOrder& order, StepBenchmark& benchmark) -> Result<TimedSteps> {
    threads = order.threads;
    TimedSteps steps;
    steps.conditions = benchmark.conditions();
    steps.warnings = engine::machineNotes(steps.conditions);
    auto pairs = benchmark.pairs(stop);
    if (!pairs) return pairs.error();
    if (std::string note = engine::faultsNote(pairs.value(), "step"); !note.empty()) steps.warnings.push_back(std::move(note));
    steps.pairs = std::move(pairs.value().pairs);
    steps.conditions.loadAfter = engine::loadAverage();
    return steps;
  });
  if (!timed) return timed;
  // No claim without its check: the whole recipe again, as it was timed.
  TrainOptions options;
  options.manner = {false, threads};
  TrainingHooks hooks;
  hooks.progress = progress;
  auto again = train(asked.recipe, options, hooks, stop);
  if (!again) return again.error();
  timed.value().recheck = std::move(again.value().training);
  if (timed->recheck.cancelled) return engine::cancelledError();
  return timed;
}

Result<session::PeakMemory> peakMemoryOfSteps(const StepOrder& asked, TimedSide side, const base::ProgressSink& progress, std::stop_token stop) {
  return measured<session::PeakMemory>(asked, progress, [&](const StepOrder&, StepBenchmark& benchmark) { return benchmark.peak(side, stop); });
}

}  // namespace ulpscope::train
