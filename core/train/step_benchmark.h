// Times and memory of a recipe's training step against FP32's, without interception. No Torch in this header.
#pragma once

#include "core/engine/benchmark.h"
#include "core/train/trainer.h"

namespace ulpscope::train {

struct StepOrder {
  session::Recipe recipe;  // with native autocast, regions of modules only
  int pairs = 20;
  int threads = 0;         // of each side; 0: as many as LibTorch takes by itself
  // As BenchmarkOrder's.
  std::function<base::Status(const model::ModelInfo& model, const session::SampleSet& samples)> open = {};
};

struct TimedSteps {
  session::BenchmarkConditions conditions;  // but `ulpscope`
  std::vector<session::TimedPair> pairs;
  std::vector<std::string> warnings;
  session::Training recheck;  // the recipe trained from its start as it was timed, with the timed number of threads
};

// A step: its batch gathered, forward, loss, backward, the optimizers' update, all as the recipe says, without an account of it. The sides train apart
// from each other, from the same weights and on the same batches; the data begins anew where it ends. Errors as train()'s; run where a step fails.
base::Result<TimedSteps> timeSteps(const StepOrder& order, const base::ProgressSink& progress, std::stop_token stop);
// One side alone; means something in a process that has run nothing else.
base::Result<session::PeakMemory> peakMemoryOfSteps(const StepOrder& order, engine::TimedSide side, const base::ProgressSink& progress, std::stop_token stop);

}  // namespace ulpscope::train
