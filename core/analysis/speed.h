// What paired times say of a speed: the median ratio and an interval for it that assumes no distribution.
#pragma once

#include "core/base/error.h"
#include "core/session/benchmark.h"

#include <vector>

namespace ulpscope::analysis {

inline constexpr int kFewestPairs = 20;

// The sample median and the interval between two of the sorted values, the r-th from below and the r-th from above, with the largest r that leaves
// at least 95 % coverage: P(X_(r) <= median <= X_(n+1-r)) = 1 - 2 P(B < r), B binomial of n and 1/2 (W. J. Conover, Practical Nonparametric
// Statistics, 3rd edition, section 3.2). For n = 20: r = 6, 95.86 %.
struct MedianInterval {
  double median = 0, low = 0, high = 0;
  double coverage = 0;  // 0..1
  int rank = 0;         // r, from 1
};
// Errors (kind inconclusive): a value that is not finite, fewer than 6 values, of which no two have that coverage.
base::Result<MedianInterval> medianInterval(std::vector<double> values);

enum class SpeedShown { faster, slower, noDifference };  // the interval lies above 1, below 1, holds 1 (its ends included)

struct Speed {
  MedianInterval ratio;  // of a pair: FP32's time over autocast's; above 1: autocast is faster
  SpeedShown shown = SpeedShown::noDifference;
  double referenceSeconds = 0, candidateSeconds = 0;        // medians
  double referenceCpuSeconds = 0, candidateCpuSeconds = 0;  // likewise
};
// Errors (kind inconclusive): fewer than kFewestPairs pairs, a time that is not a positive number, a processor time that is negative or none.
base::Result<Speed> speedOf(const std::vector<session::TimedPair>& pairs);

}  // namespace ulpscope::analysis
