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

// Lets glibc keep up to 64 MiB of what is freed, the most that it grows to by itself (M_MMAP_THRESHOLD in mallopt(3): the threshold follows the
// largest mapped block that was freed). Else what ran before decides whether a forward fetches its memory from the system anew.
void settleHeap();

struct Times {
  double seconds = 0;     // of a monotonic clock
  double cpuSeconds = 0;  // of the process, all threads together
  double faults = 0;      // likewise: minor page faults, by which memory that was given back is fetched again
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
  double m_wall = 0, m_cpu = 0, m_faults = 0;
};

// kWarmUpPairs pairs that do not count, then `pairs`, each of both sides right after the other on batch number % batches. The side that goes first
// alternates (reference, candidate, candidate, reference, ...): what drifts favours neither. An error of `side` ends it; cancelled between two.
struct PairPlan {
  int pairs = 20;
  std::int64_t batches = 1;
  std::function<base::Status(bool isCandidate, std::int64_t batch, Times& times)> side;
  std::function<void(const std::string& stage, int done, int total)> tell;
};
struct PairTimes {
  std::vector<session::TimedPair> pairs;
  double referenceFaults = 0, candidateFaults = 0;  // a call, mean over the pairs that count
};
base::Result<PairTimes> alternatingPairs(const PairPlan& plan, std::stop_token stop);
// That page faults stand in the times, where they are reckoned at a fiftieth of a side's or more; empty: they do not. work: "forward".
std::string faultsNote(const PairTimes& times, const std::string& work);

}  // namespace ulpscope::engine
