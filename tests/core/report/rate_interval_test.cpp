#include "core/report/rate_interval.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope::report {
namespace {

struct Case {
  std::int64_t count, total;
  double low, high;
};

// scipy 1.10: beta.ppf(0.025, k, n - k + 1) and beta.ppf(0.975, k + 1, n - k).
constexpr Case kScipy[] = {{9, 256, 0.016199410860957122, 0.06568621418387195},
                           {1, 10, 0.0025285785444617848, 0.4450161170281954},
                           {1, 256, 9.889279722355363e-05, 0.021570890352533498},
                           {255, 256, 0.9784291096474665, 0.9999011072027765},
                           {128, 256, 0.4371086489403644, 0.5628913510596356},
                           {500, 100000, 0.0045722441500705875, 0.005456841177010292}};

TEST(RateInterval, AgreesWithScipysBetaQuantiles) {
  for (const Case& c : kScipy) {
    const RateInterval interval = rateInterval95(c.count, c.total);
    EXPECT_NEAR(interval.low, c.low, 1e-10) << c.count << " of " << c.total;
    EXPECT_NEAR(interval.high, c.high, 1e-10) << c.count << " of " << c.total;
  }
}

TEST(RateInterval, NoHitsGiveTheOneSidedBound) {
  EXPECT_DOUBLE_EQ(rateInterval95(0, 256).high, 1 - std::pow(0.05, 1.0 / 256));
  EXPECT_EQ(rateInterval95(0, 256).low, 0);
  EXPECT_NEAR(rateInterval95(0, 1).high, 0.95, 1e-15);
}

TEST(RateInterval, OnlyHitsMirrorNoHits) {
  EXPECT_NEAR(rateInterval95(10, 10).low, 0.7411344491069477, 1e-12);
  EXPECT_EQ(rateInterval95(10, 10).high, 1);
}

TEST(RateText, RoundsOutwards) {
  EXPECT_EQ(rateText(0, 256), "below 1.2 % with 95 % confidence");
  EXPECT_EQ(rateText(9, 256), "3.5 %, 95 % interval 1.6 % to 6.6 %");
  EXPECT_EQ(rateText(1, 256), "0.4 %, 95 % interval 0.009 % to 2.2 %");  // exact: 0.00989 %
  EXPECT_EQ(rateText(0, 100000), "below 0.003 % with 95 % confidence");
  EXPECT_EQ(rateText(10, 10), "above 74.1 % with 95 % confidence");
}

}  // namespace
}  // namespace ulpscope::report
