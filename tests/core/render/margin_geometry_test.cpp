// Positions by the definition of symlog: 1 + log10(v / linear) beyond the linear part.
#include "core/render/margin_geometry.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::render {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Margins 0.02 to 5, differences 3e-4 and 0.02.
const std::vector<session::SampleDecision> kDecisions{{0.02, 0.0203, 1e-3}, {5, 4.98, 1e-3}, {0.3, kNan, kInf}, {kNan, kNan, kNan}, {0.4, 0.4, 0}, {1, kInf, kInf}};

TEST(MarginGeometry, ChoosesDecadesThatHoldEveryFiniteValue) {
  const MarginAxes axes = marginAxes(kDecisions);
  EXPECT_DOUBLE_EQ(axes.margin.linear, 0.01);
  EXPECT_DOUBLE_EQ(axes.margin.high, 10);
  EXPECT_NEAR(axes.difference.linear, 1e-4, 1e-18);
  EXPECT_NEAR(axes.difference.high, 0.1, 1e-15);
  EXPECT_DOUBLE_EQ(axes.margin.top(), 4) << "one linear part and three decades";
}

TEST(MarginGeometry, BoundsItsDecadesAndStandsWithoutData) {
  const MarginAxes axes = marginAxes({{1e-30, 1, 1}, {10, 10, 1}});
  EXPECT_NEAR(axes.margin.linear, 1e-5, 1e-18);
  EXPECT_DOUBLE_EQ(marginAxes({}).margin.high, 1);
  EXPECT_DOUBLE_EQ(marginAxes({{0, 0, 0}, {kNan, kNan, kNan}}).difference.linear, 1e-3);
  const MarginAxes one = marginAxes({{1, 1, 0}});
  EXPECT_DOUBLE_EQ(one.margin.linear, 0.1) << "never a range without extent";
}

// The smallest and the largest of a double: 10^-324 and 10^309 are none.
TEST(MarginGeometry, EveryFiniteMarginHasAPlace) {
  for (const double value : {5e-324, 1.7e308}) {
    const MarginAxes axes = marginAxes({{value, 0, 0}});
    EXPECT_GT(axes.margin.linear, 0) << value;
    EXPECT_TRUE(std::isfinite(axes.margin.high)) << value;
    EXPECT_TRUE(std::isfinite(axes.margin.at(value))) << value;
    EXPECT_TRUE(std::isfinite(axes.margin.top())) << value;
  }
}

TEST(MarginGeometry, FindsItsValuesAgain) {
  const SymlogAxis axis{0.01, 10};
  EXPECT_DOUBLE_EQ(axis.at(0.005), 0.5);
  EXPECT_DOUBLE_EQ(axis.at(1), 3);
  EXPECT_DOUBLE_EQ(axis.at(-1), -3);
  for (const double v : {0.0, 0.004, 0.01, 0.3, 9.0, -0.7}) EXPECT_NEAR(axis.valueAt(axis.at(v)), v, 1e-12) << v;
}

TEST(MarginGeometry, CountsTheMarginOfAnotherDecisionAsNegative) {
  session::RunRecord run;
  run.decisions = {{0.5, 0.4, 1}, {0.25, 0.125, 1}, {0.3, kNan, 1}};
  run.flips.resize(2);
  run.flips[0].sample = 1;
  run.flips[1].sample = 7;  // a damaged record: nothing to change
  const auto margins = signedMargins(run);
  EXPECT_EQ(margins[0].candidateMargin, 0.4);
  EXPECT_EQ(margins[1].candidateMargin, -0.125);
  EXPECT_TRUE(std::isnan(margins[2].candidateMargin));
  const MarginAxes axes = marginAxes(margins);
  EXPECT_DOUBLE_EQ(marginPoint(margins[1], axes).y, axes.difference.at(-0.375)) << "below the line where AMP's margin is 0, at -0.25";
}

TEST(MarginGeometry, PutsWhatIsNoValueOnRugsOfItsOwn) {
  const MarginAxes axes = marginAxes(kDecisions);
  const MarginRugs rugs = marginRugs(axes);
  EXPECT_LT(rugs.candidateNan, -axes.difference.top());
  EXPECT_GT(rugs.infinite, axes.difference.top());
  EXPECT_LT(rugs.referenceNan, 0);
  const MarginPoint value = marginPoint(kDecisions[0], axes);
  EXPECT_EQ(value.place, MarginPlace::value);
  EXPECT_NEAR(value.x, 1 + std::log10(2), 1e-12);
  EXPECT_NEAR(value.y, 1 + std::log10(3), 1e-9) << "candidate minus reference, not the reverse";
  const MarginPoint nan = marginPoint(kDecisions[2], axes);
  EXPECT_EQ(nan.place, MarginPlace::candidateNan);
  EXPECT_EQ(nan.y, rugs.candidateNan);
  EXPECT_NEAR(nan.x, 1 + std::log10(30), 1e-12);
  EXPECT_EQ(marginPoint(kDecisions[3], axes).place, MarginPlace::referenceNan);
  EXPECT_EQ(marginPoint(kDecisions[3], axes).x, rugs.referenceNan);
  EXPECT_EQ(marginPoint(kDecisions[4], axes).y, 0);
  EXPECT_EQ(marginPoint(kDecisions[5], axes).place, MarginPlace::infinite);
  EXPECT_EQ(marginPoint({kInf, kInf, 0}, axes).y, 0) << "one class: no margin to lose";
}

TEST(MarginSteps, GoFromTheSmallestMarginToAll) {
  EXPECT_THAT(marginSteps({{0.001, 0, 0}, {0.1, 0, 0}, {kNan, 0, 0}, {kInf, 0, 0}, {0, 0, 0}}, 4), ElementsAre(::testing::DoubleEq(0.001), ::testing::DoubleEq(0.01), ::testing::DoubleEq(0.1), kInf));
  const auto steps = marginSteps({{0.00123456, 0, 0}, {7.891, 0, 0}}, 50);
  EXPECT_NEAR(steps.front(), 0.0013, 1e-12) << "two digits, upwards";
  EXPECT_NEAR(steps[steps.size() - 2], 7.9, 1e-12);
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_GT(steps[i], steps[i - 1]);
  EXPECT_THAT(marginSteps({}, 50), IsEmpty());
  EXPECT_THAT(marginSteps({{0, 0, 0}, {kInf, kInf, 0}}, 50), IsEmpty());
}

}  // namespace
}  // namespace ulpscope::render
