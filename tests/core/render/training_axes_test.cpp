// Positions by hand: log10 2 = 0.30103; an axis has 16 % of its span at each end, marks stand half of that from the values.
#include "core/render/training_axes.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::render {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TEST(TrainingAxis, HoldsTheFiniteValuesWithRoomForMarksAtItsEnds) {
  const ValueAxis axis = valueAxis({2, kNan, 12, kInf, -kInf}, AxisScale::linear);
  EXPECT_DOUBLE_EQ(axis.low, 2 - 1.6);
  EXPECT_DOUBLE_EQ(axis.high, 12 + 1.6);
  EXPECT_DOUBLE_EQ(axis.bottom, 2 - 0.8);
  EXPECT_DOUBLE_EQ(axis.top, 12 + 0.8);
}

TEST(TrainingAxis, TakesOnlyPositiveValuesWhereItIsLogarithmic) {
  const ValueAxis axis = valueAxis({0, -5, 1, 100}, AxisScale::logarithmic);
  EXPECT_DOUBLE_EQ(axis.low, -0.32);
  EXPECT_DOUBLE_EQ(axis.high, 2.32);
}

TEST(TrainingAxis, HasASpanForOneValueForZeroAndForNone) {
  const ValueAxis one = valueAxis({65536, 65536}, AxisScale::logarithmic);
  EXPECT_NEAR(one.high - one.low, 2 * 0.30103 * 1.32, 1e-5);
  EXPECT_NEAR((one.high + one.low) / 2, 4.81648, 1e-5) << "log10 65536";
  const ValueAxis zero = valueAxis({0}, AxisScale::linear);
  EXPECT_DOUBLE_EQ(zero.low, -0.66);
  EXPECT_DOUBLE_EQ(zero.high, 0.66);
  const ValueAxis none = valueAxis({kNan, kInf}, AxisScale::linear);
  EXPECT_DOUBLE_EQ(none.low, -0.16);
  EXPECT_DOUBLE_EQ(none.high, 1.16);
  EXPECT_DOUBLE_EQ(valueAxis({}, AxisScale::logarithmic).high, 1.16);
  EXPECT_TRUE(std::isfinite(valueAxis({-1.7e308, 1.7e308}, AxisScale::linear).high));
}

TEST(TrainingAxis, PutsWhatHasNoPlaceAtItsEdges) {
  const ValueAxis axis = valueAxis({1, 100}, AxisScale::logarithmic);
  EXPECT_EQ(valuePoint(10, axis).place, ValuePlace::value);
  EXPECT_DOUBLE_EQ(valuePoint(10, axis).at, 1);
  EXPECT_EQ(valuePoint(kInf, axis).place, ValuePlace::plusInf);
  EXPECT_DOUBLE_EQ(valuePoint(kInf, axis).at, 2.16);
  EXPECT_EQ(valuePoint(-kInf, axis).place, ValuePlace::minusInf);
  EXPECT_DOUBLE_EQ(valuePoint(-kInf, axis).at, -0.16);
  EXPECT_EQ(valuePoint(kNan, axis).place, ValuePlace::nan);
  EXPECT_DOUBLE_EQ(valuePoint(kNan, axis).at, 2.16);
  EXPECT_EQ(valuePoint(0, axis).place, ValuePlace::notPositive);
  EXPECT_DOUBLE_EQ(valuePoint(0, axis).at, -0.16);
  EXPECT_EQ(valuePoint(0, valueAxis({0, 1}, AxisScale::linear)).place, ValuePlace::value);
}

TEST(TrainingAxis, IsLogarithmicFromAFactorOfAHundred) {
  EXPECT_EQ(scaleFor({1, 99}), AxisScale::linear);
  EXPECT_EQ(scaleFor({1, 100, kInf, kNan}), AxisScale::logarithmic);
  EXPECT_EQ(scaleFor({0, 1, 100}), AxisScale::linear) << "0 has no place there";
  EXPECT_EQ(scaleFor({-1, 1000}), AxisScale::linear);
  EXPECT_EQ(scaleFor({}), AxisScale::linear);
}

TEST(TrainingAxis, HasRoundTicks) {
  EXPECT_THAT(valueTicks({AxisScale::linear, 0.13, 0.27, 0, 0}, 4), ElementsAre(DoubleNear(0.15, 1e-12), DoubleNear(0.2, 1e-12), DoubleNear(0.25, 1e-12)));
  EXPECT_THAT(valueTicks({AxisScale::logarithmic, -0.3, 4.2, 0, 0}, 4), ElementsAre(1, 100, 10000));
  EXPECT_THAT(valueTicks({AxisScale::logarithmic, 3.8, 5.2, 0, 0}, 4, 2), ElementsAre(16384, 65536)) << "2^12.6 to 2^17.3 in steps of 2^2";
  EXPECT_TRUE(valueTicks({AxisScale::linear, 1, 1, 0, 0}, 4).empty());
}

}  // namespace
}  // namespace ulpscope::render
