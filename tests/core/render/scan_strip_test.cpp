#include "core/render/scan_strip.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

using namespace ulpscope;
using namespace ulpscope::render;
using session::kNoDecision;
using session::PairAtPoint;
using session::ScanPoint;
using session::SegmentScan;
using testing::ElementsAre;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ScanPoint point(float t, int reference, int candidate) {
  PairAtPoint at;
  at.reference = reference;
  at.candidate = candidate;
  return {t, at};
}

TEST(TimeView, MapsTAndPixelsBothWays) {
  const TimeView view{0.25, 0.75, 200};
  EXPECT_DOUBLE_EQ(view.xOf(0.25), 0);
  EXPECT_DOUBLE_EQ(view.xOf(0.5), 100);
  EXPECT_DOUBLE_EQ(view.tOf(200), 0.75);
}

TEST(TimeView, KeepsThePointUnderThePointerWhileItZooms) {
  const TimeView view = zoomedTime({0, 1, 100}, 4, 75);
  EXPECT_DOUBLE_EQ(view.tOf(75), 0.75);
  EXPECT_DOUBLE_EQ(view.to - view.from, 0.25);
}

TEST(TimeView, NeverShowsMoreThanTheSegmentNorLessThanAFewFloatSteps) {
  const TimeView whole = zoomedTime({0.1, 0.3, 100}, 0.01, 50);
  EXPECT_DOUBLE_EQ(whole.from, 0);
  EXPECT_DOUBLE_EQ(whole.to, 1);
  const TimeView least = zoomedTime({0, 1, 100}, 1e9, 50);
  EXPECT_DOUBLE_EQ(least.to - least.from, kLeastTimeSpan);
  const TimeView panned = pannedTime({0.5, 1, 100}, -40);
  EXPECT_DOUBLE_EQ(panned.to, 1) << "it ends there";
  EXPECT_DOUBLE_EQ(pannedTime({0.5, 1, 100}, 40).from, 0.3);
}

TEST(TimeView, PutsAStretchIntoTheMiddleThird) {
  const TimeView view = timeAround({0.5F, 0.53125F}, 300);
  EXPECT_DOUBLE_EQ(view.xOf(0.5), 100);
  EXPECT_DOUBLE_EQ(view.xOf(0.53125), 200);
  EXPECT_DOUBLE_EQ(timeAround({0, 0.25F}, 300).from, 0) << "nothing lies before the first sample";
}

TEST(ScanPoints, AreInOneOrderEachTOnce) {
  SegmentScan scan;
  scan.samples = {point(0, 0, 0), point(0.5F, 0, 1), point(1, 1, 1)};
  scan.refined = {point(0.25F, 0, 0), point(0.5F, 0, 1), point(0.75F, 1, 1)};
  std::vector<float> ts;
  for (const ScanPoint* each : pointsByTime(scan)) ts.push_back(each->t);
  EXPECT_THAT(ts, ElementsAre(0, 0.25F, 0.5F, 0.75F, 1));
}

TEST(ScanPoints, FindsTheNearest) {
  SegmentScan scan;
  scan.samples = {point(0, 0, 0), point(0.5F, 0, 1), point(1, 1, 1)};
  const PointList points = pointsByTime(scan);
  EXPECT_EQ(nearestPoint(points, 0.24), 0U);
  EXPECT_EQ(nearestPoint(points, 0.26), 1U);
  EXPECT_EQ(nearestPoint(points, 0.76), 2U);
  EXPECT_EQ(nearestPoint(points, -3), 0U);
  EXPECT_EQ(nearestPoint(points, 3), 2U);
}

TEST(DecisionBands, EndWhereTheNextDecisionBegins) {
  SegmentScan scan;
  scan.samples = {point(0, 0, 0), point(0.25F, 0, 1), point(0.5F, 0, kNoDecision), point(0.75F, 1, 1), point(1, 1, 1)};
  const PointList points = pointsByTime(scan);
  const auto reference = decisionBands(points, RunSide::reference), candidate = decisionBands(points, RunSide::candidate);
  ASSERT_EQ(reference.size(), 2U);
  EXPECT_DOUBLE_EQ(reference[0].to, 0.75);
  EXPECT_DOUBLE_EQ(reference[1].to, 1);
  ASSERT_EQ(candidate.size(), 4U);
  EXPECT_EQ(candidate[2].decision, kNoDecision);
  EXPECT_DOUBLE_EQ(candidate[2].from, 0.5);
}

TEST(DecisionBands, BecomePixelsByWhatMostOfAColumnDecides) {
  const std::vector<DecisionBand> bands{{0, 0.34, 0}, {0.34, 1, 1}};
  const auto pixels = pixelBands(bands, {0, 1, 10});
  ASSERT_EQ(pixels.size(), 2U);
  EXPECT_EQ(pixels[0].to, 3) << "6 tenths of the fourth column decide 1";
  EXPECT_EQ(pixels[1].decision, 1);
  EXPECT_EQ(pixels[1].to, 10);
}

TEST(DecisionBands, SayWhereAColumnHasSeveral) {
  std::vector<DecisionBand> bands{{0, 0.5, 0}};
  for (int i = 0; i < 10; ++i) bands.push_back({0.5 + 0.01 * i, 0.5 + 0.01 * (i + 1), 1 - i % 2});
  bands.push_back({0.6, 1, 1});
  const auto pixels = pixelBands(bands, {0, 1, 10});
  ASSERT_EQ(pixels.size(), 3U);
  EXPECT_EQ(pixels[1].decision, kSeveralDecisions);
  EXPECT_EQ(pixels[1].from, 5);
  EXPECT_EQ(pixels[1].to, 6);
}

TEST(PixelSpan, IsNeverTooNarrowToSee) {
  const PixelSpan span = spanOf({0.5F, std::nextafter(0.5F, 1.0F)}, {0, 1, 100}, 2);
  EXPECT_NEAR(span.from, 49, 1e-4);
  EXPECT_NEAR(span.to, 51, 1e-4);
  EXPECT_FALSE(spanOf({0.1F, 0.2F}, {0.5, 1, 100}, 2).isIn());
  EXPECT_DOUBLE_EQ(spanOf({0, 1}, {0.25, 0.5, 100}, 2).to, 100) << "cut to the view";
}

TEST(Curve, KeepsTheExtremesOfAColumn) {
  std::vector<TimedValue> values;
  for (int i = 0; i <= 1000; ++i) values.push_back({i / 1000.0, i == 503 ? 7.0 : i == 507 ? -7.0 : 0.0});
  ValueAxis axis;
  axis.low = -8;
  axis.high = 8;
  const Curve curve = curveOf(values, {0, 1, 10}, axis);
  ASSERT_EQ(curve.lines.size(), 1U);
  EXPECT_LE(curve.lines[0].size(), 4U * 11);
  const auto has = [&](double at) { return std::any_of(curve.lines[0].begin(), curve.lines[0].end(), [at](const CurvePoint& p) { return p.at == at; }); };
  EXPECT_TRUE(has(7) && has(-7));
}

TEST(Curve, BreaksAtWhatIsNoValueAndMarksIt) {
  const std::vector<TimedValue> values{{0, 1}, {0.25, 1}, {0.5, kNan}, {0.75, 2}, {1, HUGE_VAL}};
  const Curve curve = curveOf(values, {0, 1, 100}, valueAxis({1, 2}, AxisScale::linear));
  ASSERT_EQ(curve.lines.size(), 2U);
  EXPECT_EQ(curve.lines[0].size(), 2U);
  EXPECT_EQ(curve.lines[1].size(), 1U);
  ASSERT_EQ(curve.marks.size(), 2U);
  EXPECT_EQ(curve.marks[0].place, ValuePlace::nan);
  EXPECT_DOUBLE_EQ(curve.marks[0].x, 50);
  EXPECT_EQ(curve.marks[1].place, ValuePlace::plusInf);
}

TEST(Curve, GoesOnBeyondTheViewOnBothSides) {
  const std::vector<TimedValue> values{{0, 0}, {0.4, 4}, {0.5, 5}, {0.6, 6}, {1, 10}};
  const auto seen = valuesInView(values, {0.45, 0.55, 100});
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_DOUBLE_EQ(seen.front().t, 0.4);
  EXPECT_DOUBLE_EQ(seen.back().t, 0.6);
  EXPECT_TRUE(valuesInView({}, {0, 1, 100}).empty());
}

TEST(Labels, StandNextToTheirPlacesAndNotOverEachOther) {
  EXPECT_THAT(spreadLabels({10, 50}, 12, 0, 100), ElementsAre(10, 50));
  EXPECT_THAT(spreadLabels({50, 10, 12}, 12, 0, 100), ElementsAre(50, 10, 22));
  EXPECT_THAT(spreadLabels({95, 99}, 12, 0, 100), ElementsAre(88, 100)) << "the last is pushed back into the room";
}

}  // namespace
