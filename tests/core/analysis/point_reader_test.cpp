#include "core/analysis/point_reader.h"

#include "core/analysis/choice.h"
#include "tests/core/analysis/scores_along.h"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

namespace ulpscope::analysis {
namespace {

using session::kNoDecision;
using session::TieRule;
using testing::ElementsAre;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

TensorView viewOf(const std::vector<double>& values, std::vector<std::int64_t> shape) { return {values.data(), base::DType::float64, std::move(shape)}; }

TEST(PointReader, ReadsDecisionsMarginsAndErrorsOfBothRuns) {
  PointReader reader(ruleOf("argmax"), TieRule::first, 0);
  const std::vector<double> a{1, 3, 2, /**/ 5, 0, 4}, b{1, 2, 2.5, /**/ 5, 0.25, 4};
  const auto read = reader.read(viewOf(a, {2, 3}), viewOf(b, {2, 3}), 2);
  ASSERT_TRUE(read.ok());
  const session::PairAtPoint& first = read.value()[0].pair;
  EXPECT_EQ(reader.decisions()[static_cast<std::size_t>(first.reference)].values, std::vector<std::int64_t>{1});
  EXPECT_EQ(reader.decisions()[static_cast<std::size_t>(first.candidate)].values, std::vector<std::int64_t>{2});
  EXPECT_TRUE(first.differs());
  EXPECT_EQ(first.referenceMargin, 1);
  EXPECT_EQ(first.candidateMargin, 0.5);
  EXPECT_EQ(first.maxError, 1);
  EXPECT_THAT(first.referenceScores, ElementsAre(1, 3, 2));
  EXPECT_TRUE(std::isnan(first.noiseError));
  EXPECT_EQ(read.value()[1].pair.maxError, 0.25);
  EXPECT_FALSE(read.value()[1].pair.differs());
}

TEST(PointReader, TakesTheFirstSamplesOfAFilledBatch) {
  PointReader reader(ruleOf("threshold:0"), TieRule::first, 0);
  const std::vector<double> a{1, -1, -1, -1};
  EXPECT_EQ(reader.read(viewOf(a, {4}), viewOf(a, {4}), 2)->size(), 2U);
}

TEST(PointReader, SeveralPositionsDecideTogether) {
  // [samples, classes, positions]: sample 0 decides (0, 1), the candidate (0, 0); its margin is the smaller one.
  PointReader reader(ruleOf("argmax:1"), TieRule::first, 0);
  const std::vector<double> a{5, 1, 2, 4}, b{5, 4, 2, 1};
  const auto read = reader.read(viewOf(a, {1, 2, 2}), viewOf(b, {1, 2, 2}), 1);
  const session::PairAtPoint& pair = read.value()[0].pair;
  EXPECT_THAT(reader.decisions()[static_cast<std::size_t>(pair.reference)].values, ElementsAre(0, 1));
  EXPECT_THAT(reader.decisions()[static_cast<std::size_t>(pair.candidate)].values, ElementsAre(0, 0));
  EXPECT_EQ(pair.referenceMargin, 3);
  EXPECT_TRUE(pair.referenceScores.empty());
  EXPECT_FALSE(reader.keepsScores());
}

TEST(PointReader, ManyPositionsAreToldApartByAKey) {
  PointReader reader(ruleOf("threshold:0"), TieRule::first, 0);
  std::vector<double> a(100, 1.0), b = a;
  b.back() = -1;  // beyond those that are shown
  const auto read = reader.read(viewOf(a, {1, 100}), viewOf(b, {1, 100}), 1);
  EXPECT_TRUE(read.value()[0].pair.differs());
  ASSERT_EQ(reader.decisions().size(), 2U);
  for (const session::ScanDecision& d : reader.decisions()) {
    EXPECT_EQ(d.count, 100);
    EXPECT_EQ(d.values.size(), session::kShownPositions);
  }
  EXPECT_NE(reader.decisions()[0].key, reader.decisions()[1].key);
}

TEST(PointReader, NaNIsNoDecisionAndInfinityOfOneAloneAnInfiniteError) {
  PointReader reader(ruleOf("argmax"), TieRule::first, 0);
  const std::vector<double> a{1, kNaN, /**/ kInf, 0, /**/ kNaN, 0}, b{1, 0, /**/ 7, 0, /**/ kNaN, 0};
  const auto read = reader.read(viewOf(a, {3, 2}), viewOf(b, {3, 2}), 3);
  EXPECT_EQ(read.value()[0].pair.reference, kNoDecision);
  EXPECT_NE(read.value()[0].pair.candidate, kNoDecision);
  EXPECT_FALSE(read.value()[0].pair.differs());
  EXPECT_EQ(read.value()[1].pair.maxError, kInf);
  EXPECT_EQ(read.value()[1].pair.referenceMargin, kInf);
  EXPECT_EQ(read.value()[2].pair.maxError, 0) << "NaN in both";
}

TEST(PointReader, HoldsFp32AgainstItself) {
  PointReader reader(ruleOf("argmax"), TieRule::first, 0);
  const std::vector<double> a{1, 0.5, /**/ 1, 0.875, /**/ 1, 0.5}, b = a, c{1, 0.5, /**/ 0.9375, 0.875, /**/ 0, 0.5};
  std::vector<LookedAt> points = reader.read(viewOf(a, {3, 2}), viewOf(b, {3, 2}), 3).value();
  const std::vector<NoiseAtPoint> noise = reader.readNoise(viewOf(a, {3, 2}), viewOf(c, {3, 2}), 3);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].take(noise[i], 2);
  EXPECT_FALSE(points[0].pair.withinNoise) << "nothing moved";
  EXPECT_EQ(points[1].pair.noiseError, 0.0625);
  EXPECT_TRUE(points[1].pair.withinNoise) << "a margin of 0.125 is twice the noise";
  EXPECT_TRUE(points[2].pair.withinNoise) << "FP32 decides otherwise";
  EXPECT_NE(points[2].noise, points[2].pair.reference);
}

TEST(TrimScores, KeepsTheClassesThatCameFirstOrSecond) {
  std::vector<session::PairAtPoint> points(3);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].referenceScores.assign(40, 0.0);
    points[i].referenceScores[30 + i] = 2;
    points[i].referenceScores[20] = 1;
    points[i].candidateScores = points[i].referenceScores;
  }
  const std::vector<std::int64_t> shown = trimScores({&points[0], &points[1], &points[2]}, ruleOf("argmax"));
  EXPECT_EQ(shown.size(), session::kShownClasses);
  for (const std::int64_t c : {20, 30, 31, 32}) EXPECT_THAT(shown, testing::Contains(c));
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
  EXPECT_EQ(points[0].referenceScores.size(), shown.size());
}

TEST(TrimScores, DropsThemWhereSomeHaveNone) {
  std::vector<session::PairAtPoint> points(2);
  points[0].referenceScores = points[0].candidateScores = {1, 2};
  EXPECT_TRUE(trimScores({&points[0], &points[1]}, ruleOf("argmax")).empty());
  EXPECT_TRUE(points[0].referenceScores.empty());
}

// The margin by the elements is the margin by the rule, and they are those that it is the difference of.
TEST(MarginElements, NameTheScoresWhoseDifferenceIsTheMargin) {
  const std::vector<double> scores{3, 9, 7, 1};
  const auto of = [&](const std::string& rule, std::vector<std::int64_t> shape, int classAxis) {
    const TensorView view = viewOf(scores, std::move(shape));
    const PositionGrid grid = positionGrid(view.shape, 0, classAxis);
    return marginElements(ruleOf(rule), view, grid, 0);
  };
  const MarginElements best = of("argmax", {1, 4}, 1);
  EXPECT_THAT((std::vector<std::int64_t>{best.above, best.below}), ElementsAre(1, 2));
  const MarginElements least = of("argmin", {1, 4}, 1);
  EXPECT_THAT((std::vector<std::int64_t>{least.above, least.below}), ElementsAre(3, 0));
  EXPECT_EQ(least.sign, -1);
  const MarginElements set = of("topk:2", {1, 4}, 1);
  EXPECT_THAT((std::vector<std::int64_t>{set.above, set.below}), ElementsAre(2, 0));
  const MarginElements threshold = of("threshold:6.5", {1, 4}, -1);
  EXPECT_EQ(threshold.above, 2) << "the nearest of all";
  EXPECT_EQ(threshold.sign, 1);
  EXPECT_EQ(of("threshold:4", {1, 4}, -1).sign, -1) << "3 is below";
  EXPECT_EQ(of("topk:4", {1, 4}, 1).above, -1) << "no further class, no margin";
}

}  // namespace
}  // namespace ulpscope::analysis
