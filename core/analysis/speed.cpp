#include "core/analysis/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

constexpr double kCoverage = 0.95;

// P(B = k), B binomial of n and 1/2; by logarithms, since 2^-n is no double for large n.
double binomialHalf(double n, double k) { return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0)); }

// Precondition: sorted, not empty.
double medianOf(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2;
}

double medianOfUnsorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return medianOf(values);
}

Error unusable(const std::string& what, std::size_t pair) { return {ErrorKind::inconclusive, what, fmt::format("pair {}", pair + 1), "measure again"}; }

}  // namespace

Result<MedianInterval> medianInterval(std::vector<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) return unusable("its ratio is not a number", i);
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  MedianInterval interval;
  for (double below = 0; interval.rank < static_cast<int>(values.size() / 2); ++interval.rank) {
    below += binomialHalf(n, interval.rank);
    if (1 - 2 * below < kCoverage) break;
    interval.coverage = 1 - 2 * below;
  }
  if (interval.rank == 0) return Error{ErrorKind::inconclusive, fmt::format("{} values have no interval of the median with {:.0f} % coverage", values.size(), 100 * kCoverage), "ratio", "measure more pairs"};
  const auto rank = static_cast<std::size_t>(interval.rank);
  interval.median = medianOf(values);
  interval.low = values[rank - 1];
  interval.high = values[values.size() - rank];
  return interval;
}

Result<Speed> speedOf(const std::vector<session::TimedPair>& pairs) {
  if (pairs.size() < static_cast<std::size_t>(kFewestPairs)) return Error{ErrorKind::inconclusive, fmt::format("{} pairs are fewer than {}", pairs.size(), kFewestPairs), "benchmark", "measure more pairs"};
  std::vector<double> ratios, reference, candidate, referenceCpu, candidateCpu;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const session::TimedPair& pair = pairs[i];
    for (const double time : {pair.referenceSeconds, pair.candidateSeconds})
      if (!std::isfinite(time) || time <= 0) return unusable(fmt::format("took {} s, which is no time", time), i);
    for (const double time : {pair.referenceCpuSeconds, pair.candidateCpuSeconds})
      if (!std::isfinite(time) || time < 0) return unusable(fmt::format("took {} s of processor time, which is no time", time), i);
    ratios.push_back(pair.referenceSeconds / pair.candidateSeconds);
    reference.push_back(pair.referenceSeconds);
    candidate.push_back(pair.candidateSeconds);
    referenceCpu.push_back(pair.referenceCpuSeconds);
    candidateCpu.push_back(pair.candidateCpuSeconds);
  }
  const auto interval = medianInterval(std::move(ratios));
  if (!interval) return interval.error();
  Speed speed;
  speed.ratio = interval.value();
  speed.shown = speed.ratio.low > 1 ? SpeedShown::faster : speed.ratio.high < 1 ? SpeedShown::slower : SpeedShown::noDifference;
  speed.referenceSeconds = medianOfUnsorted(std::move(reference));
  speed.candidateSeconds = medianOfUnsorted(std::move(candidate));
  speed.referenceCpuSeconds = medianOfUnsorted(std::move(referenceCpu));
  speed.candidateCpuSeconds = medianOfUnsorted(std::move(candidateCpu));
  return speed;
}

}  // namespace ulpscope::analysis
