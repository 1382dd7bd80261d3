// Boundaries known in closed form: what is expected is the first float32 that satisfies the formula itself.
#include "tests/core/analysis/scores_along.h"

#include <gmock/gmock.h>

#include <limits>

namespace ulpscope::analysis {
namespace {

using session::Crossing;
using session::SegmentScan;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Class 1 from where t > boundary on.
ScoresAt crossingAt(double boundary) {
  return [boundary](double t) { return std::vector<double>{boundary - t, 0}; };
}

std::vector<float> places(const std::vector<Crossing>& crossings) {
  std::vector<float> ts;
  for (const Crossing& c : crossings) ts.push_back(c.t);
  return ts;
}

TEST(SegmentSearch, FindsBothBoundariesToTheLastFloatAndTheStripBetween) {
  ScoresAlong along(crossingAt(0.3), crossingAt(0.3123));
  const SegmentScan scan = along.found();
  const float a = firstFloat([](double t) { return t > 0.3; }), b = firstFloat([](double t) { return t > 0.3123; });
  EXPECT_THAT(places(scan.referenceCrossings), ElementsAre(a));
  EXPECT_THAT(places(scan.candidateCrossings), ElementsAre(b));
  EXPECT_EQ(scan.referenceCrossings[0].before, std::nextafterf(a, 0.0F));
  EXPECT_EQ(along.first(scan.referenceCrossings[0].from), 0);
  EXPECT_EQ(along.first(scan.referenceCrossings[0].to), 1);
  ASSERT_THAT(scan.disagreement, SizeIs(1));
  EXPECT_EQ(scan.disagreement[0].at.from, a);
  EXPECT_EQ(scan.disagreement[0].at.to, b);
  EXPECT_EQ(along.first(scan.disagreement[0].reference), 1);
  EXPECT_EQ(along.first(scan.disagreement[0].candidate), 0);
  EXPECT_DOUBLE_EQ(scan.disagreeing(), static_cast<double>(b) - static_cast<double>(a));
  EXPECT_THAT(scan.flicker, IsEmpty());
  EXPECT_FALSE(along.sawTwice());
}

TEST(SegmentSearch, HasAGridOfEvenStepsWithBothEnds) {
  const SegmentScan scan = ScoresAlong(crossingAt(0.3), crossingAt(0.3)).found(5);
  std::vector<float> ts;
  for (const session::ScanPoint& point : scan.samples) ts.push_back(point.t);
  EXPECT_THAT(ts, ElementsAre(0.0F, 0.25F, 0.5F, 0.75F, 1.0F));
  EXPECT_NEAR(scan.samples[1].at.referenceMargin, 0.05, 1e-15);
  EXPECT_THAT(scan.samples[1].at.referenceScores, ElementsAre(testing::DoubleNear(0.05, 1e-15), 0.0));
}

TEST(SegmentSearch, ABatchSearchesAsManyPointsAsItHolds) {
  ScoresAlong one(crossingAt(0.3), crossingAt(0.3)), many(crossingAt(0.3), crossingAt(0.3));
  EXPECT_EQ(places(one.found(11, 1).referenceCrossings), places(many.found(11, 512).referenceCrossings));
}

TEST(SegmentSearch, FindsACrossingNextToEitherEnd) {
  EXPECT_THAT(places(ScoresAlong(crossingAt(0), crossingAt(0)).found(3).referenceCrossings), ElementsAre(std::numeric_limits<float>::denorm_min()));
  EXPECT_THAT(places(ScoresAlong(crossingAt(1 - 1e-9), crossingAt(2)).found(3).referenceCrossings), ElementsAre(1.0F));
}

TEST(SegmentSearch, ADisagreementThatLastsToTheEndEndsAtOne) {
  const SegmentScan scan = ScoresAlong(crossingAt(0.9), crossingAt(2)).found();
  ASSERT_THAT(scan.disagreement, SizeIs(1));
  EXPECT_EQ(scan.disagreement[0].at.from, firstFloat([](double t) { return t > 0.9; }));
  EXPECT_EQ(scan.disagreement[0].at.to, 1.0F);
}

TEST(SegmentSearch, FindsEveryCrossingOfACubic) {
  const auto cubic = [](double t) { return (t - 0.2011) * (t - 0.5003) * (t - 0.7007); };
  const ScoresAt scores = [cubic](double t) { return std::vector<double>{0, cubic(t)}; };
  const SegmentScan scan = ScoresAlong(scores, scores).found();
  EXPECT_THAT(places(scan.referenceCrossings), ElementsAre(testing::FloatNear(0.2011F, 1e-7F), testing::FloatNear(0.5003F, 1e-7F), testing::FloatNear(0.7007F, 1e-7F)));
  for (const Crossing& c : scan.referenceCrossings) EXPECT_LE(cubic(static_cast<double>(c.t)) * cubic(static_cast<double>(c.before)), 0);
  EXPECT_EQ(places(scan.candidateCrossings), places(scan.referenceCrossings));
  EXPECT_THAT(scan.disagreement, IsEmpty());
}

// Two changes that the reference has too are no flicker, however near, even where the error reaches over both.
TEST(SegmentSearch, ADoubleCrossingOfBothRunsIsNoFlicker) {
  for (const double half : {0.1, 0.01, 0.0011}) {
    const ScoresAt reference = [half](double t) { return std::vector<double>{0, half * half - (t - 0.5) * (t - 0.5)}; };
    const ScoresAt candidate = [half](double t) { return std::vector<double>{0, half * half * 1.2 - (t - 0.5) * (t - 0.5)}; };
    const SegmentScan scan = ScoresAlong(reference, candidate).found();
    EXPECT_THAT(scan.referenceCrossings, SizeIs(2)) << half;
    EXPECT_THAT(scan.candidateCrossings, SizeIs(2)) << half;
    EXPECT_THAT(scan.disagreement, SizeIs(2)) << half;
    EXPECT_THAT(scan.flicker, IsEmpty()) << half;
  }
}

// The reference only comes near; the candidate changes and changes back: a strip of disagreement, and no flicker.
TEST(SegmentSearch, APocketOfDisagreementIsNoFlicker) {
  const ScoresAt reference = [](double t) { return std::vector<double>{0, -1e-4 - (t - 0.5) * (t - 0.5)}; };
  const ScoresAt candidate = [](double t) { return std::vector<double>{0, 1e-4 - (t - 0.5) * (t - 0.5)}; };
  const SegmentScan scan = ScoresAlong(reference, candidate).found();
  EXPECT_THAT(scan.referenceCrossings, IsEmpty());
  EXPECT_THAT(scan.candidateCrossings, SizeIs(2));
  ASSERT_THAT(scan.disagreement, SizeIs(1));
  EXPECT_NEAR(scan.disagreement[0].at.width(), 0.02, 1e-6);
  EXPECT_THAT(scan.flicker, IsEmpty());
}

// float16 between 1 and 2: multiples of 2^-10, ties to even.
double inHalf(double x) { return std::nearbyint(x * 1024) / 1024; }

// Both scores rise, nearly as fast, and each stands still on plateaus of its own: which is larger changes with every step of either.
double rising(double x) { return 1 + x; }
double risingSlower(double x) { return 1.003 + 0.99 * x; }

// Of the decision in half, over every float32 from 0.1 to 0.5, one after another.
const std::vector<float>& changesInHalf() {
  static const std::vector<float> all = [] {
    const auto decidesFirst = [](float x) { return inHalf(rising(static_cast<double>(x))) >= inHalf(risingSlower(static_cast<double>(x))); };
    std::vector<float> changes;
    bool before = decidesFirst(0.1F);
    for (float x = 0.1F; x <= 0.5F; x = std::nextafterf(x, 1.0F))
      if (const bool now = decidesFirst(x); now != before) {
        changes.push_back(x);
        before = now;
      }
    return changes;
  }();
  return all;
}

TEST(SegmentSearch, RoundingPlateausThatAlternateAreFlicker) {
  const SegmentScan scan = ScoresAlong([](double t) { return std::vector<double>{rising(t), risingSlower(t)}; }, [](double t) { return std::vector<double>{inHalf(rising(t)), inHalf(risingSlower(t))}; }).found();
  EXPECT_THAT(places(scan.referenceCrossings), ElementsAre(testing::FloatNear(0.3F, 1e-6F)));
  const std::vector<float>& changes = changesInHalf();
  ASSERT_GT(changes.size(), 100U);
  ASSERT_THAT(scan.flicker, SizeIs(1));
  const session::Flicker& flicker = scan.flicker[0];
  EXPECT_GE(flicker.changes, 50);
  EXPECT_LE(flicker.changes, static_cast<std::int64_t>(changes.size()));
  EXPECT_EQ(flicker.referenceChanges, 1);
  ASSERT_THAT(scan.closeLooks, SizeIs(3)) << "the whole stretch, and either side of the changes once more";
  EXPECT_LT(scan.closeLooks[0].resolution(), 6e-4);
  // A piece at a distance d from the end is 0.01 d wide, by the difference of the slopes.
  EXPECT_NEAR(flicker.at.from, changes.front(), scan.closeLooks[1].resolution() / 0.01);
  EXPECT_NEAR(flicker.at.to, changes.back(), scan.closeLooks[2].resolution() / 0.01);
  EXPECT_GE(flicker.at.from, changes.front());
  EXPECT_LE(flicker.at.to, changes.back());
  const std::set<float> known(changes.begin(), changes.end());
  for (const Crossing& c : scan.candidateCrossings) EXPECT_TRUE(known.count(c.t) > 0) << c.t;
  // It lies where the error allows it: the margin is at most twice the largest error, half a step of either score.
  const auto from = static_cast<double>(flicker.at.from);
  EXPECT_LE(std::abs(rising(from) - risingSlower(from)), 2 * 0.5 / 1024 + 1e-9);
}

TEST(SegmentSearch, AFineFlickerBetweenGridPointsIsLookedForWhereTheErrorReachesTheMargin) {
  // The same a hundred times as steep: the grid of eleven points sees a single change.
  const auto x = [](double t) { return 0.3 + (t - 0.52) * 100; };
  const auto t = [](float at) { return 0.52 + (static_cast<double>(at) - 0.3) / 100; };
  const SegmentScan scan = ScoresAlong([x](double at) { return std::vector<double>{rising(x(at)), risingSlower(x(at))}; }, [x](double at) { return std::vector<double>{inHalf(rising(x(at))), inHalf(risingSlower(x(at)))}; }).found(11);
  ASSERT_THAT(scan.flicker, SizeIs(1));
  EXPECT_NEAR(scan.flicker[0].at.from, t(changesInHalf().front()), 2e-4);
  EXPECT_NEAR(scan.flicker[0].at.to, t(changesInHalf().back()), 2e-4);
  EXPECT_LT(scan.closeLooks[0].resolution(), 3e-5) << "257 points on the stretch alone, not on the grid's step";
}

TEST(SegmentSearch, PointsWithoutADecisionAreStretchesOfTheirOwn) {
  const ScoresAt reference = [](double t) { return std::vector<double>{t >= 0.25 && t < 0.5 ? kNaN : 0.3 - t, 0}; };
  const SegmentScan scan = ScoresAlong(reference, crossingAt(0.3)).found();
  ASSERT_THAT(scan.referenceNoDecision, SizeIs(1));
  EXPECT_EQ(scan.referenceNoDecision[0].from, 0.25F);
  EXPECT_EQ(scan.referenceNoDecision[0].to, 0.5F);
  EXPECT_THAT(scan.candidateNoDecision, IsEmpty());
  EXPECT_THAT(scan.referenceCrossings, IsEmpty()) << "it decides otherwise after than before, but crosses nowhere";
  EXPECT_THAT(scan.candidateCrossings, SizeIs(1));
  EXPECT_THAT(scan.disagreement, IsEmpty());
  EXPECT_TRUE(std::isnan(scan.samples[300].at.referenceMargin));
  EXPECT_EQ(scan.samples[300].at.reference, session::kNoDecision);
  EXPECT_EQ(scan.samples[300].at.maxError, std::numeric_limits<double>::infinity());
}

TEST(SegmentSearch, ACandidateWithoutADecisionToTheEndSaysSo) {
  const ScoresAt candidate = [](double t) { return std::vector<double>{t > 0.75 ? kNaN : 0.3 - t, 0}; };
  const SegmentScan scan = ScoresAlong(crossingAt(0.3), candidate).found();
  ASSERT_THAT(scan.candidateNoDecision, SizeIs(1));
  EXPECT_EQ(scan.candidateNoDecision[0].from, std::nextafterf(0.75F, 1.0F));
  EXPECT_EQ(scan.candidateNoDecision[0].to, 1.0F);
  EXPECT_THAT(scan.disagreement, IsEmpty());
}

TEST(SegmentSearch, AConstantModelCrossesNowhere) {
  const ScoresAt constant = [](double) { return std::vector<double>{1, 0}; };
  ScoresAlong along(constant, constant);
  const SegmentScan scan = along.found();
  EXPECT_THAT(scan.referenceCrossings, IsEmpty());
  EXPECT_THAT(scan.candidateCrossings, IsEmpty());
  EXPECT_THAT(scan.disagreement, IsEmpty());
  EXPECT_THAT(scan.closeLooks, IsEmpty());
  EXPECT_EQ(along.evaluations(), 1001U);
}

// Equal from 0.5 to 0.625.
ScoresAt tiedBetween() {
  return [](double t) { return std::vector<double>{t < 0.5 ? 1.0 : 0.0, t > 0.625 ? 1.0 : 0.0}; };
}

TEST(SegmentSearch, TiesGoByTheirRule) {
  ScoresAlong first(tiedBetween(), tiedBetween());
  EXPECT_THAT(places(first.found().referenceCrossings), ElementsAre(std::nextafterf(0.625F, 1.0F))) << "the lower index is better";
  ScoresAlong flag(tiedBetween(), tiedBetween(), "argmax", session::TieRule::flag);
  const SegmentScan flagged = flag.found();
  EXPECT_THAT(places(flagged.referenceCrossings), ElementsAre(0.5F, std::nextafterf(0.625F, 1.0F)));
  EXPECT_TRUE(flag.decisions()[static_cast<std::size_t>(flagged.referenceCrossings[0].to)].tied);
  const auto refused = ScoresAlong(tiedBetween(), tiedBetween(), "argmax", session::TieRule::refuse).search();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("tie rule is 'refuse'"));
}

TEST(SegmentSearch, AThresholdIsCrossedWhereItsRuleSaysSo) {
  const ScoresAt scores = [](double t) { return std::vector<double>{t}; };
  EXPECT_THAT(places(ScoresAlong(scores, scores, "threshold:0.25").found().referenceCrossings), ElementsAre(std::nextafterf(0.25F, 1.0F)));
  EXPECT_THAT(places(ScoresAlong(scores, scores, "threshold:0.25:ge").found().referenceCrossings), ElementsAre(0.25F));
}

TEST(SegmentSearch, ASetOfTheBestIsComparedAsASet) {
  // Classes 0 and 1 change places at 0.2: the set of both stays. At 0.6 class 2 takes the place of 0.
  const ScoresAt scores = [](double t) { return std::vector<double>{1 - t, 0.6 + t, 0.4, -1}; };
  ScoresAlong along(scores, scores, "topk:2");
  const SegmentScan scan = along.found();
  EXPECT_THAT(places(scan.referenceCrossings), ElementsAre(firstFloat([](double t) { return 1 - t < 0.4; })));
  EXPECT_THAT(along.decisions()[0].values, ElementsAre(0, 1));
  EXPECT_THAT(along.decisions()[1].values, ElementsAre(1, 2));
}

TEST(SegmentSearch, WhatFp32sOwnNoiseExplainsIsMarked) {
  ScoresAlong within(crossingAt(0.3), crossingAt(0.3001)), beyond(crossingAt(0.3), crossingAt(0.31));
  for (ScoresAlong* along : {&within, &beyond}) along->setNoise(crossingAt(0.3003));
  const SegmentScan small = within.found(), large = beyond.found();
  EXPECT_THAT(places(small.noiseCrossings), ElementsAre(firstFloat([](double t) { return t > 0.3003; })));
  ASSERT_THAT(small.disagreement, SizeIs(1));
  EXPECT_TRUE(small.disagreement[0].withinNoise);
  ASSERT_THAT(large.disagreement, SizeIs(1));
  EXPECT_FALSE(large.disagreement[0].withinNoise);
}

TEST(SegmentSearch, GoesNoFurtherWhereALookFails) {
  int looks = 0;
  const auto result = searchSegment({11, 32, 2}, [&](const std::vector<float>&) -> base::Result<std::vector<LookedAt>> {
    ++looks;
    return base::Error{base::ErrorKind::cancelled, "cancelled", "run", ""};
  }, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, base::ErrorKind::cancelled);
  EXPECT_EQ(looks, 1);
}

}  // namespace
}  // namespace ulpscope::analysis
