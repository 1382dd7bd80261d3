#include "core/engine/timing.h"

#include <ctime>

namespace ulpscope::engine {
namespace {

using base::Result;
using session::TimedPair;

double secondsOf(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Result<TimedPair> timedPair(const PairPlan& plan, int number) {
  TimedPair pair;
  pair.batch = number % plan.batches;
  pair.candidateFirst = number % 2 == 1;
  for (const bool isCandidate : {pair.candidateFirst, !pair.candidateFirst}) {
    Times times;
    if (auto done = plan.side(isCandidate, pair.batch, times); !done) return done.error();
    (isCandidate ? pair.candidateSeconds : pair.referenceSeconds) = times.seconds;
    (isCandidate ? pair.candidateCpuSeconds : pair.referenceCpuSeconds) = times.cpuSeconds;
  }
  return pair;
}

}  // namespace

Stopwatch::Stopwatch(Times* times) : m_times(times) {
  if (!m_times) return;
  m_cpu = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
  m_wall = secondsOf(CLOCK_MONOTONIC);
}

Stopwatch::~Stopwatch() {
  if (!m_times) return;
  m_times->seconds = secondsOf(CLOCK_MONOTONIC) - m_wall;
  m_times->cpuSeconds = secondsOf(CLOCK_PROCESS_CPUTIME_ID) - m_cpu;
}

Result<std::vector<TimedPair>> alternatingPairs(const PairPlan& plan, std::stop_token stop) {
  std::vector<TimedPair> pairs;
  for (int i = 0; i < kWarmUpPairs + plan.pairs; ++i) {
    const bool counts = i >= kWarmUpPairs;
    const int number = counts ? i - kWarmUpPairs : i;
    if (stop.stop_requested()) return base::Error{base::ErrorKind::cancelled, "cancelled", "benchmark", "nothing was stored"};
    plan.tell(counts ? "timing" : "warming up", number, counts ? plan.pairs : kWarmUpPairs);
    auto pair = timedPair(plan, number);
    if (!pair) return pair.error();
    if (counts) pairs.push_back(pair.value());
  }
  return pairs;
}

}  // namespace ulpscope::engine
