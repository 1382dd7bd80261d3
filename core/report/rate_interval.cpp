#include "core/report/rate_interval.h"

#include "core/base/error.h"

#include <fmt/format.h>

#include <cmath>

namespace ulpscope::report {
namespace {

double logPmf(std::int64_t k, std::int64_t n, double p) {
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  return std::lgamma(d(n) + 1) - std::lgamma(d(k) + 1) - std::lgamma(d(n - k) + 1) + d(k) * std::log(p) +
         d(n - k) * std::log1p(-p);
}

// P(X <= k) for 0 <= k < n and 0 < p < 1.
double cdf(std::int64_t k, std::int64_t n, double p) {
  double sum = 0;
  for (std::int64_t i = 0; i <= k; ++i) sum += std::exp(logPmf(i, n, p));
  return sum;
}

// The p at which P(X <= k) falls to `tail`: the function falls with p, so halving finds it to the last bits.
double solveCdf(std::int64_t k, std::int64_t n, double tail) {
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (cdf(k, n, middle) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

// One decimal, or below 0.1 % as many as show a digit: an interval from "0.0 %" would deny what was counted.
int decimalsOf(double percent) { return percent >= 0.1 || percent <= 0 ? 1 : static_cast<int>(std::ceil(-std::log10(percent))); }

// Never narrower than the exact limit; the small term keeps 3.0 from becoming 3.1.
std::string percentUp(double rate) {
  const int decimals = decimalsOf(100 * rate);
  const double scale = std::pow(10.0, decimals);
  return fmt::format("{:.{}f}", std::ceil(100 * rate * scale - 1e-9) / scale, decimals);
}
std::string percentDown(double rate) {
  const int decimals = decimalsOf(100 * rate);
  const double scale = std::pow(10.0, decimals);
  return fmt::format("{:.{}f}", std::floor(100 * rate * scale + 1e-9) / scale, decimals);
}

}  // namespace

RateInterval rateInterval95(std::int64_t count, std::int64_t total) {
  ULPSCOPE_CHECK(total > 0 && count >= 0 && count <= total);
  const double oneSided = std::pow(0.05, 1.0 / static_cast<double>(total));
  if (count == 0) return {0, 1 - oneSided};
  if (count == total) return {oneSided, 1};
  return {solveCdf(count - 1, total, 0.975), solveCdf(count, total, 0.025)};
}

RateFigures rateFigures(std::int64_t count, std::int64_t total) {
  const RateInterval interval = rateInterval95(count, total);
  return {fmt::format("{:.1f}", 100 * static_cast<double>(count) / static_cast<double>(total)), percentDown(interval.low), percentUp(interval.high)};
}

std::string rateText(std::int64_t count, std::int64_t total) {
  const RateFigures figures = rateFigures(count, total);
  if (count == 0) return fmt::format("below {} % with 95 % confidence", figures.high);
  if (count == total) return fmt::format("above {} % with 95 % confidence", figures.low);
  return fmt::format("{} %, 95 % interval {} % to {} %", figures.rate, figures.low, figures.high);
}

}  // namespace ulpscope::report
