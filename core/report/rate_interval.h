// What an observed rate says about the true one: exact binomial intervals (Clopper and Pearson, Biometrika 26 (1934) 404).
#pragma once

#include <cstdint>
#include <string>

namespace ulpscope::report {

struct RateInterval {
  double low = 0;
  double high = 1;
};

// Two-sided 95 % interval of the rate after `count` hits in `total` trials. Where there are no hits (or only hits) the
// other side is one-sided at 95 %: 0 of n gives [0, 1 - 0.05^(1/n)]. Precondition: 0 <= count <= total, total > 0.
RateInterval rateInterval95(std::int64_t count, std::int64_t total);

// In percent, as texts: `rate` to one decimal, the limits rounded outwards.
struct RateFigures {
  std::string rate, low, high;
};
RateFigures rateFigures(std::int64_t count, std::int64_t total);

// "below 1.2 % with 95 % confidence" or "3.6 %, 95 % interval 1.6 % to 6.7 %"; limits are rounded outwards.
std::string rateText(std::int64_t count, std::int64_t total);

}  // namespace ulpscope::report
