// How times are taken. No Torch.
#pragma once

#include "core/base/error.h"
#include "core/session/benchmark.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace ulpscope::engine {

inline constexpr int kWarmUpPairs = 5;

struct Times {
  double seconds = 0;     // of a monotonic clock
  double cpuSeconds = 0;  // of the process, all threads together
};

// Measures from its making to its end; null: nothing is measured.
class Stopwatch {
 public:
  explicit Stopwatch(Times* times);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Times* m_times;
  double m_wall = 0, m_cpu = 0;
};

// kWarmUpPairs pairs that do not count, then `pairs`, each of both sides right after the other on batch number % batches. The side that goes first
// alternates (reference, candidate, candidate, reference, ...): what drifts favours neither. An error of `side` ends it; cancelled between two.
struct PairPlan {
  int pairs = 20;
  std::int64_t batches = 1;
  std::function<base::Status(bool isCandidate, std::int64_t batch, Times& times)> side;
  std::function<void(const std::string& stage, int done, int total)> tell;
};
base::Result<std::vector<session::TimedPair>> alternatingPairs(const PairPlan& plan, std::stop_token stop);

}  // namespace ulpscope::engine
