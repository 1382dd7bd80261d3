// Times and memory of a run's policy against FP32, without interception. No Torch in this header.
#pragma once

#include "core/engine/engine.h"
#include "core/session/benchmark.h"

#include <functional>
#include <string>
#include <vector>

namespace ulpscope::engine {

inline constexpr int kPeakForwards = 3;

struct BenchmarkOrder {
  session::RunRequest request;  // of the run that is timed; native mode, regions of modules only
  int pairs = 20;
  int threads = 0;              // of each side; 0: as many as LibTorch takes by itself
  // Called with what was loaded, before anything is timed: an error ends it there.
  std::function<base::Status(const model::ModelInfo& model, const session::SampleSet& samples)> open = {};
};

struct TimedRun {
  session::BenchmarkConditions conditions;  // but `ulpscope`
  std::vector<session::TimedPair> pairs;
  std::vector<std::string> warnings;
  RunOutcome recheck;   // after the timing: the request run under interception, with the timed number of threads
  std::string differs;  // why forwards without interception do not give that run's outputs; empty: bit for bit the same, both sides, all samples
};

enum class TimedSide { reference, candidate };

}  // namespace ulpscope::engine
