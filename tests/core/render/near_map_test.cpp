#include "core/render/near_map.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ulpscope;
using namespace ulpscope::render;

namespace {

session::NearSample sample(double reference, double candidate) {
  session::NearSample s;
  for (const auto& [flip, step] : {std::pair{&s.reference, reference}, {&s.candidate, candidate}})
    if (!std::isnan(step)) *flip = {true, step, 0, 0};
  return s;
}

TEST(NearMap, HasOneAxisForBothRunsSteps) {
  session::NearScan near;
  near.samples = {sample(1, 0.1), sample(100, 10)};
  const ValueAxis axis = stepAxis(near);
  EXPECT_EQ(axis.scale, AxisScale::logarithmic);
  EXPECT_LT(axis.low, -1);
  EXPECT_GT(axis.high, 2);
  const auto points = stepPoints(near, axis);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_DOUBLE_EQ(points[0].reference.at, 0) << "log10 of 1";
  EXPECT_DOUBLE_EQ(points[0].candidate.at, -1);
}

TEST(NearMap, PutsWhatWasNotFoundAtTheTopAndLeavesOutWhatWasNotTried) {
  session::NearScan near;
  near.samples = {sample(1, std::nan("")), sample(2, 3)};
  near.samples[1].skipped = "the margin has no gradient here";
  const ValueAxis axis = stepAxis(near);
  const auto points = stepPoints(near, axis);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].index, 0U);
  EXPECT_EQ(points[0].candidate.place, ValuePlace::plusInf);
  EXPECT_DOUBLE_EQ(points[0].candidate.at, axis.top);
  EXPECT_EQ(points[0].reference.place, ValuePlace::value);
}

TEST(NearMap, HoldsMarginsAndBounds) {
  session::NearScan near;
  near.curve = {{"a", 0, 0.01, true}, {"b", 0.1, 1e-4, false}, {"c", std::nan(""), std::nan(""), false}};
  const ValueAxis axis = marginAxis(near);
  EXPECT_LT(axis.low, -4);
  EXPECT_GT(axis.high, -1);
  EXPECT_EQ(valuePoint(near.curve[0].margin, axis).place, ValuePlace::notPositive);
}

}  // namespace
