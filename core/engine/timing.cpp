#include "core/engine/timing.h"

#include "core/base/number_text.h"

#include <fmt/format.h>

#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
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

double minorFaults() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<double>(usage.ru_minflt) : 0;
}

// Both sides' times of one pair; what it costs in page faults is added to `sums`.
Result<TimedPair> timedPair(const PairPlan& plan, int number, PairTimes& sums) {
  TimedPair pair;
  pair.batch = number % plan.batches;
  pair.candidateFirst = number % 2 == 1;
  for (const bool isCandidate : {pair.candidateFirst, !pair.candidateFirst}) {
    Times times;
    if (auto done = plan.side(isCandidate, pair.batch, times); !done) return done.error();
    (isCandidate ? pair.candidateSeconds : pair.referenceSeconds) = times.seconds;
    (isCandidate ? pair.candidateCpuSeconds : pair.referenceCpuSeconds) = times.cpuSeconds;
    (isCandidate ? sums.candidateFaults : sums.referenceFaults) += times.faults;
  }
  return pair;
}

}  // namespace

void settleHeap() {
#if defined(__GLIBC__)
  constexpr std::size_t kLargestFollowed = 32U << 20;  // DEFAULT_MMAP_THRESHOLD_MAX of its malloc.c, which counts the block with its header
  void* volatile block = std::malloc(kLargestFollowed - 65536);
  std::free(block);
#endif
}

Stopwatch::Stopwatch(Times* times) : m_times(times) {
  if (!m_times) return;
  m_faults = minorFaults();
  m_cpu = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
  m_wall = secondsOf(CLOCK_MONOTONIC);
}

Stopwatch::~Stopwatch() {
  if (!m_times) return;
  m_times->seconds = secondsOf(CLOCK_MONOTONIC) - m_wall;
  m_times->cpuSeconds = secondsOf(CLOCK_PROCESS_CPUTIME_ID) - m_cpu;
  m_times->faults = minorFaults() - m_faults;
}

Result<PairTimes> alternatingPairs(const PairPlan& plan, std::stop_token stop) {
  PairTimes warmUp, times;
  for (int i = 0; i < kWarmUpPairs + plan.pairs; ++i) {
    const bool counts = i >= kWarmUpPairs;
    const int number = counts ? i - kWarmUpPairs : i;
    if (stop.stop_requested()) return base::Error{base::ErrorKind::cancelled, "cancelled", "benchmark", "nothing was stored"};
    plan.tell(counts ? "timing" : "warming up", number, counts ? plan.pairs : kWarmUpPairs);
    auto pair = timedPair(plan, number, counts ? times : warmUp);
    if (!pair) return pair.error();
    if (counts) times.pairs.push_back(pair.value());
  }
  times.referenceFaults /= plan.pairs;
  times.candidateFaults /= plan.pairs;
  return times;
}

std::string faultsNote(const PairTimes& times, const std::string& work) {
  constexpr double kSecondsOfAFault = 1e-6, kShareTold = 0.02;  // with the page's zeroing, on processors of today; more on virtual machines
  double reference = 0, candidate = 0;
  for (const TimedPair& pair : times.pairs) {
    reference += pair.referenceSeconds;
    candidate += pair.candidateSeconds;
  }
  const auto calls = static_cast<double>(times.pairs.size());
  const auto matters = [&](double faults, double seconds) { return faults * calls * kSecondsOfAFault >= kShareTold * seconds; };
  if (!matters(times.referenceFaults, reference) && !matters(times.candidateFaults, candidate)) return "";
  return fmt::format("memory was given back to the system and fetched again in the timed {0}s, {1} a {0} in FP32 and {2} under autocast: what they cost is in the times, and another allocator may not pay it", work,
                     base::counted(std::llround(times.referenceFaults), "page fault"), base::counted(std::llround(times.candidateFaults), "page fault"));
}

}  // namespace ulpscope::engine
