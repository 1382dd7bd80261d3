// Where a run is and how long it will still take. Private to core/engine.
#pragma once

#include "core/base/progress.h"
#include "core/engine/comparison.h"

#include <chrono>
#include <string>
#include <vector>

namespace ulpscope::engine {

class RunProgress {
 public:
  RunProgress(const base::ProgressSink& sink, std::int64_t samples) : m_sink(sink), m_samples(samples) {}

  // A stage to come; cost: what it takes over all samples, in any unit that all stages share.
  void plan(const std::string& stage, double cost) { m_stages.push_back({stage, cost}); }
  void begin(const std::string& stage);
  // Within the stage: the batch at work, and the part of it that is done (0 to 1, 0 where not known).
  void at(const Batch& batch, double part, const std::string& modulePath, const std::string& op);

 private:
  struct Stage {
    std::string name;
    double cost = 0;
  };
  const base::ProgressSink& m_sink;
  std::int64_t m_samples;
  std::vector<Stage> m_stages;
  std::string m_stage;
  std::chrono::steady_clock::time_point m_start;  // of the first stage
  bool m_started = false;

  double secondsLeft(double partOfStage) const;
};

}  // namespace ulpscope::engine
