#include "core/render/plane_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace ulpscope;
using namespace ulpscope::render;
using session::kNoDecision;
using session::PairAtPoint;
using session::PlaneScan;

namespace {

// Two classes whose scores differ by f(u, v) in FP32 and g(u, v) in the candidate: decision 0 where that is positive.
template <typename F, typename G>
PlaneScan planeOf(std::int64_t side, const F& f, const G& g) {
  PlaneScan plane;
  plane.side = side;
  for (std::int64_t j = 0; j < side; ++j)
    for (std::int64_t i = 0; i < side; ++i) {
      const double u = planeCoordinate(plane, static_cast<double>(i)), v = planeCoordinate(plane, static_cast<double>(j));
      PairAtPoint point;
      point.reference = f(u, v) > 0 ? 0 : 1;
      point.candidate = g(u, v) > 0 ? 0 : 1;
      point.referenceMargin = std::fabs(f(u, v));
      point.candidateMargin = std::fabs(g(u, v));
      plane.points.push_back(point);
      ++plane.decided;
      plane.flips += point.differs() ? 1 : 0;
    }
  return plane;
}

const PlaneColors kColors{{{10, 10, 10}, {20, 20, 20}, {30, 30, 30}}, {40, 40, 40}, {255, 0, 0}, {0, 0, 255}};

Rgb pixelOf(const std::vector<std::uint8_t>& rgba, int width, int x, int y) {
  const auto at = static_cast<std::size_t>(y * width + x) * 4;
  return {rgba[at], rgba[at + 1], rgba[at + 2]};
}

// A line u + v = 0.7 lies between grid points; linear interpolation of the scores finds it exactly, everywhere.
TEST(PlaneBoundary, OfAnAffineModelIsItsLine) {
  const auto f = [](double u, double v) { return 0.7 - u - v; };
  const PlaneScan plane = planeOf(9, f, f);
  const auto pieces = planeBoundary(plane, RunSide::reference);
  ASSERT_FALSE(pieces.empty());
  double length = 0;
  for (const BoundaryPiece& piece : pieces) {
    for (const GridPlace& end : {piece.from, piece.to}) EXPECT_NEAR(planeCoordinate(plane, end.i) + planeCoordinate(plane, end.j), 0.7, 1e-12);
    length += std::hypot(piece.to.i - piece.from.i, piece.to.j - piece.from.j) / 8;
  }
  EXPECT_NEAR(length, 0.7 * std::sqrt(2.0), 1e-12) << "from (0.7, 0) to (0, 0.7), once";
}

TEST(PlaneBoundary, OfACircleIsNearIt) {
  const auto f = [](double u, double v) { return 0.09 - (u - 0.5) * (u - 0.5) - (v - 0.5) * (v - 0.5); };
  const PlaneScan plane = planeOf(65, f, f);
  for (const BoundaryPiece& piece : planeBoundary(plane, RunSide::candidate))
    EXPECT_NEAR(std::hypot(planeCoordinate(plane, piece.from.i) - 0.5, planeCoordinate(plane, piece.from.j) - 0.5), 0.3, 2e-4) << "the grid's step is 1/64; linear interpolation errs by its square";
}

TEST(PlaneBoundary, JoinsASaddleThroughTheHeavierRegion) {
  PlaneScan plane;
  plane.side = 2;
  for (const auto& [decision, margin] : {std::pair{0, 3.0}, {1, 1.0}, {1, 1.0}, {0, 3.0}}) {
    PairAtPoint point;
    point.reference = point.candidate = decision;
    point.referenceMargin = point.candidateMargin = margin;
    plane.points.push_back(point);
  }
  // Region 0 holds the corners (0, 0) and (1, 1) and the middle, so the corners (1, 0) and (0, 1) are cut off.
  const auto pieces = planeBoundary(plane, RunSide::reference);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_DOUBLE_EQ(pieces[0].from.i, 0.75);
  EXPECT_DOUBLE_EQ(pieces[0].from.j, 0);
  EXPECT_DOUBLE_EQ(pieces[0].to.i, 1);
  EXPECT_DOUBLE_EQ(pieces[0].to.j, 0.25);
  EXPECT_DOUBLE_EQ(pieces[1].from.j, 1);
  EXPECT_DOUBLE_EQ(pieces[1].to.i, 0);
  EXPECT_EQ(planeDecision(plane, RunSide::reference, {0.5, 0.5}), 0);
}

TEST(PlaneBoundary, MeetsInTheMiddleWhereThreeRegionsDo) {
  PlaneScan plane;
  plane.side = 2;
  for (const int decision : {0, 0, 1, 2}) {
    PairAtPoint point;
    point.reference = decision;
    point.referenceMargin = 1;
    plane.points.push_back(point);
  }
  EXPECT_EQ(planeBoundary(plane, RunSide::reference).size(), 3U);
  EXPECT_TRUE(planeBoundary(plane, RunSide::candidate).empty()) << "no decision everywhere is one region";
}

TEST(PlaneMap, FillsRegionsByFp32AndPutsVUpwards) {
  const auto f = [](double, double v) { return 0.5 - v; };
  const PlaneScan plane = planeOf(5, f, f);
  const auto rgba = planePixels(plane, {40, 40, 1}, kColors);
  ASSERT_EQ(rgba.size(), 40U * 40 * 4);
  EXPECT_EQ(pixelOf(rgba, 40, 20, 35), kColors.decisions[0]) << "v near 0 is below";
  EXPECT_EQ(pixelOf(rgba, 40, 20, 5), kColors.decisions[1]);
}

TEST(PlaneMap, HatchesWhereTheRunsDiffer) {
  const PlaneScan plane = planeOf(9, [](double u, double) { return 0.4 - u; }, [](double u, double) { return 0.6 - u; });
  EXPECT_EQ(plane.flips, 9) << "the column u = 0.5";
  const auto rgba = planePixels(plane, {100, 100, 1}, kColors);
  int inside = 0, outside = 0;
  for (int y = 0; y < 100; ++y)
    for (int x = 0; x < 100; ++x) {
      if (!(pixelOf(rgba, 100, x, y) == kColors.flip)) continue;
      (x >= 40 && x <= 60 ? inside : outside) += 1;
    }
  EXPECT_EQ(outside, 0);
  EXPECT_GT(inside, 20 * 100 / 4) << "a third of the strip's pixels";
  EXPECT_LT(inside, 20 * 100);
}

// A flip at one point with the least of margins takes no room between the points, and is seen all the same.
TEST(PlaneMap, ShowsAPointThatFlipsAlone) {
  PlaneScan plane = planeOf(33, [](double, double) { return 1.0; }, [](double, double) { return 1.0; });
  PairAtPoint& odd = plane.points[16 * 33 + 16];
  odd.candidate = 1;
  odd.candidateMargin = 1e-9;
  const auto count = [&](const Rgb& color) {
    const auto rgba = planePixels(plane, {64, 64, 1}, kColors);
    int pixels = 0;
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 64; ++x) pixels += pixelOf(rgba, 64, x, y) == color ? 1 : 0;
    return pixels;
  };
  EXPECT_EQ(count(kColors.flip), 9);
  odd.withinNoise = true;
  EXPECT_EQ(count(kColors.noise), 9);
  EXPECT_EQ(count(kColors.flip), 0);
  odd.candidate = kNoDecision;
  EXPECT_EQ(count(kColors.noise), 0) << "without a decision nothing differs";
}

TEST(PlaneMap, GivesPointsWithoutADecisionTheirOwnColour) {
  PlaneScan plane = planeOf(3, [](double, double) { return 1.0; }, [](double, double) { return 1.0; });
  for (PairAtPoint& point : plane.points) point.reference = kNoDecision, point.referenceMargin = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(pixelOf(planePixels(plane, {10, 10, 1}, kColors), 10, 5, 5), kColors.none);
}

TEST(PlaneMap, KnowsItsCoordinates) {
  PlaneScan plane;
  plane.side = 5;
  plane.lowest = -0.5;
  plane.highest = 1.5;
  EXPECT_DOUBLE_EQ(planeCoordinate(plane, 0), -0.5);
  EXPECT_DOUBLE_EQ(planeCoordinate(plane, 4), 1.5);
  EXPECT_DOUBLE_EQ(gridPlaceOf(plane, 1), 3);
}

}  // namespace
