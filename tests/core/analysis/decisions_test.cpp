#include "core/analysis/decisions.h"
#include "core/base/float_formats.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace ulpscope::analysis {
namespace {

using session::TieRule;
using testing::ElementsAre;

struct Scores {
  std::vector<float> reference, candidate;
  std::vector<std::int64_t> shape;
};

session::SampleSet samplesOf(std::int64_t count, std::vector<std::int64_t> labels = {}) {
  session::SampleSet set;
  for (std::int64_t i = 0; i < count; ++i) set.ids.push_back("s" + std::to_string(i));
  set.labels = std::move(labels);
  set.classNames = {"cat", "dog", "cow"};
  return set;
}

base::Result<DecisionResult> decideBy(const std::string& rule, const Scores& s, TieRule tie = TieRule::first, std::vector<std::int64_t> labels = {}) {
  return analysis::decide({{s.reference.data(), base::DType::float32, s.shape}, {s.candidate.data(), base::DType::float32, s.shape}, 0}, session::parseDecisionRule(rule).value(),
                samplesOf(s.shape[0], std::move(labels)), tie);
}

base::Result<DecisionResult> decide(const Scores& s, TieRule tie = TieRule::first, std::vector<std::int64_t> labels = {}, int classAxis = -1) {
  return decideBy("argmax:" + std::to_string(classAxis), s, tie, std::move(labels));
}

// The guide's example: 1.0000 against 1.0003, which half cannot tell apart (steps of 2^-10 at 1).
TEST(Argmax, ATieMadeByRoundingFlipsOnlyWhenTheFirstIndexWasNotTheWinner) {
  const auto second = decide({{1.0000F, 1.0003F}, {1.0F, 1.0F}, {1, 2}});
  ASSERT_TRUE(second.ok());
  ASSERT_EQ(second->flips.size(), 1U);
  EXPECT_EQ(second->flips[0].kind, "tie made");
  EXPECT_EQ(second->flips[0].referenceDecision, 1);
  EXPECT_EQ(second->flips[0].candidateDecision, 0);
  EXPECT_NEAR(second->flips[0].referenceMargin, 3e-4, 1e-6);
  EXPECT_EQ(second->flips[0].candidateMargin, 0);
  const auto first = decide({{1.0003F, 1.0000F}, {1.0F, 1.0F}, {1, 2}});
  EXPECT_TRUE(first->flips.empty());
  EXPECT_EQ(first->ties, 1);
}

TEST(Argmax, UnderTheFlagRuleATieIsADecisionOfItsOwn) {
  EXPECT_EQ(decide({{1.0003F, 1.0F}, {1, 1}, {1, 2}}, TieRule::flag)->flips.at(0).kind, "tie made");
  EXPECT_EQ(decide({{1, 1}, {1.0003F, 1.0F}, {1, 2}}, TieRule::flag)->flips.at(0).kind, "tie broken");
  EXPECT_TRUE(decide({{1, 1}, {2, 2}, {1, 2}}, TieRule::flag)->flips.empty());
}

TEST(Argmax, UnderTheRefuseRuleATieIsAnError) {
  const auto refused = decide({{1, 1, 3, 2}, {2, 1, 3, 2}, {2, 2}}, TieRule::refuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("1 sample tied"));
}

TEST(Argmax, EffectsAreReadAgainstTheLabels) {
  const Scores s{{2, 1, 0, 2, 1, 0, 2, 1, 0}, {1, 2, 0, 1, 2, 0, 1, 2, 0}, {3, 3}};
  const auto result = decide(s, TieRule::first, {0, 1, 2});
  ASSERT_EQ(result->flips.size(), 3U);
  EXPECT_EQ(result->flips[0].effect, "regressed");
  EXPECT_EQ(result->flips[1].effect, "fixed");
  EXPECT_EQ(result->flips[2].effect, "wrong to wrong");
  EXPECT_EQ(result->flips[0].referenceTop.at(0).name, "cat");
  EXPECT_EQ(result->flips[0].candidateTop.at(0).name, "dog");
  EXPECT_EQ(result->flips[0].candidateTop.at(1).score, 1);
}

TEST(Argmax, NaNScoresAreNoDecisionAndNoFlip) {
  const float nan = std::nanf("");
  const auto result = decide({{2, 1, 2, 1}, {nan, 3, 1, 2}, {2, 2}});
  EXPECT_THAT(result->noDecision, ElementsAre("s0"));
  ASSERT_EQ(result->flips.size(), 1U);
  EXPECT_EQ(result->flips[0].sampleId, "s1");
  EXPECT_TRUE(std::isnan(result->decisions.at(0).candidateMargin));
  EXPECT_EQ(result->decisions.at(0).referenceMargin, 1);
}

TEST(Argmax, InfiniteScoresDecide) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto result = decide({{1, 2}, {inf, 2}, {1, 2}});
  EXPECT_EQ(result->flips.at(0).candidateMargin, inf);
  const auto tied = decide({{1, 2}, {inf, inf}, {1, 2}});
  EXPECT_EQ(tied->flips.at(0).candidateMargin, 0);  // not NaN
}

TEST(Argmax, ASampleWithPositionsFlipsWhenAnyDoesAndHasItsSmallestMargin) {
  // [1 sample, 2 classes, 3 positions], classes at axis 1.
  const Scores s{{5, 5, 5, 1, 4, 3}, {5, 3, 5, 1, 4, 3}, {1, 2, 3}};
  const auto result = decide(s, TieRule::first, {}, 1);
  ASSERT_EQ(result->flips.size(), 1U);
  EXPECT_THAT(result->flips[0].positions, ElementsAre(1));
  EXPECT_EQ(result->decisions.at(0).referenceMargin, 1);
  EXPECT_EQ(result->decisions.at(0).candidateMargin, 1);
}

TEST(Argmax, ARunComparedWithItselfFlipsNothing) {
  const std::vector<float> s{0.1F, 0.1F, 7, -3, 2, 2};
  EXPECT_TRUE(decide({s, s, {2, 3}}, TieRule::flag)->flips.empty());
}

TEST(Argmax, TheSampleAxisIsNoClassAxis) {
  const auto wrong = decide({{1, 2}, {1, 2}, {2}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, base::ErrorKind::usage);
  EXPECT_FALSE(decide({{1, 2}, {1, 2}, {1, 2}}, TieRule::first, {}, 5).ok());
}

TEST(Argmin, DecidesByTheSmallestScore) {
  const auto result = decideBy("argmin", {{3, 1, 2}, {3, 1.5F, 1.25F}, {1, 3}});
  ASSERT_EQ(result->flips.size(), 1U);
  EXPECT_EQ(result->flips[0].referenceDecision, 1);
  EXPECT_EQ(result->flips[0].candidateDecision, 2);
  EXPECT_EQ(result->flips[0].referenceMargin, 1);
  EXPECT_EQ(result->flips[0].candidateMargin, 0.25);
  EXPECT_EQ(result->flips[0].referenceTop.at(1).score, 2);  // scores as they are, not negated
}

// In half and bfloat16: the guide's 1.0000 and 1.0003 are both 1.
TEST(Ties, TheGuidesExampleInBothOrdersRulesAndDtypes) {
  for (const base::DType low : {base::DType::float16, base::DType::bfloat16}) {
    const auto rounded = [&](float x) { return static_cast<float>(base::roundTo(low, x)); };
    const float a = 1.0000F, b = 1.0003F;
    ASSERT_EQ(rounded(a), rounded(b));
    const Scores winnerSecond{{a, b}, {rounded(a), rounded(b)}, {1, 2}}, winnerFirst{{b, a}, {rounded(b), rounded(a)}, {1, 2}};
    EXPECT_EQ(decide(winnerSecond)->flips.at(0).kind, "tie made");
    EXPECT_TRUE(decide(winnerFirst)->flips.empty());
    EXPECT_EQ(decide(winnerFirst, TieRule::flag)->flips.at(0).kind, "tie made");
    EXPECT_FALSE(decide(winnerFirst, TieRule::refuse).ok());
    const Scores broken{{1, 1}, {rounded(1), rounded(1.01F)}, {1, 2}};
    EXPECT_EQ(decide(broken)->flips.at(0).kind, "tie broken");
    EXPECT_EQ(decideBy("threshold:1:ge", {{1.0003F}, {rounded(1.0003F)}, {1, 1}}, TieRule::flag)->flips.at(0).kind, "tie made");
  }
}

TEST(TopK, ComparesSetsNotOrders) {
  const auto swapped = decideBy("topk:2", {{5, 4, 1, 0}, {4, 5, 1, 0}, {1, 4}});
  EXPECT_TRUE(swapped->flips.empty());
  EXPECT_EQ(swapped->decisions.at(0).referenceMargin, 3);  // s_2 - s_3
  const auto changed = decideBy("topk:2", {{5, 4, 3, 0}, {5, 2, 3, 0}, {1, 4}}, TieRule::first, {1});
  ASSERT_EQ(changed->flips.size(), 1U);
  EXPECT_THAT(changed->flips[0].referenceSet, ElementsAre(0, 1));
  EXPECT_THAT(changed->flips[0].candidateSet, ElementsAre(0, 2));
  EXPECT_EQ(changed->flips[0].referenceDecision, 1);  // the one that left
  EXPECT_EQ(changed->flips[0].candidateDecision, 2);  // the one that came
  EXPECT_EQ(changed->flips[0].effect, "regressed");
  EXPECT_EQ(changed->flips[0].referenceTop.at(0).index, 1);
  EXPECT_EQ(changed->flips[0].referenceTop.at(1).index, 2);
}

TEST(TopK, ATieAtItsEdgeGoesToTheLowerIndex) {
  const auto tied = decideBy("topk:1", {{2, 2, 1}, {1, 2, 2}, {1, 3}});
  ASSERT_EQ(tied->flips.size(), 1U);
  EXPECT_THAT(tied->flips[0].referenceSet, ElementsAre(0));
  EXPECT_THAT(tied->flips[0].candidateSet, ElementsAre(1));
  EXPECT_EQ(tied->decisions.at(0).referenceMargin, 0);
  EXPECT_EQ(decideBy("topk:3", {{2, 2, 1}, {1, 2, 2}, {1, 3}})->decisions.at(0).referenceMargin, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(decideBy("topk:4", {{2, 2, 1}, {1, 2, 2}, {1, 3}}).ok());
}

TEST(Threshold, EveryElementIsAPosition) {
  const auto result = decideBy("threshold:0.5", {{0.75F, 0.25F, 0.5F}, {0.625F, 0.75F, 0.5F}, {1, 3}});
  ASSERT_EQ(result->flips.size(), 1U);
  EXPECT_THAT(result->flips[0].positions, ElementsAre(1));
  EXPECT_EQ(result->flips[0].referenceDecision, 0);
  EXPECT_EQ(result->flips[0].candidateDecision, 1);
  EXPECT_EQ(result->decisions.at(0).referenceMargin, 0);  // the third score is the threshold
  EXPECT_EQ(result->decisions.at(0).maxError, 0.5);
}

TEST(Threshold, EqualIsAboveOnlyWithGe) {
  const Scores equal{{0.25F}, {0.5F}, {1, 1}};
  EXPECT_TRUE(decideBy("threshold:0.5", equal)->flips.empty());
  EXPECT_EQ(decideBy("threshold:0.5:ge", equal)->flips.size(), 1U);
  EXPECT_EQ(decideBy("threshold:0.5:ge", equal, TieRule::first, {1})->flips.at(0).effect, "fixed");
}

TEST(Exact, ComparesWholeNumbersAndRefusesFractions) {
  const std::vector<std::uint8_t> reference{1, 0, 1, 1}, candidate{1, 0, 0, 1};
  const DecisionInput masks{{reference.data(), base::DType::boolean, {2, 2}}, {candidate.data(), base::DType::boolean, {2, 2}}, 0};
  const auto result = analysis::decide(masks, session::parseDecisionRule("exact").value(), samplesOf(2), TieRule::first);
  ASSERT_EQ(result->flips.size(), 1U);
  EXPECT_EQ(result->flips[0].sampleId, "s1");
  EXPECT_THAT(result->flips[0].positions, ElementsAre(0));
  EXPECT_EQ(result->flips[0].referenceDecision, 1);
  EXPECT_EQ(result->flips[0].candidateDecision, 0);
  EXPECT_EQ(decideBy("exact", {{1, 2}, {1, 3}, {2, 1}})->flips.size(), 1U);
  EXPECT_FALSE(decideBy("exact", {{1, 2}, {1, 2.5F}, {2, 1}}).ok());
  EXPECT_FALSE(decideBy("exact", {{1, 2}, {1, INFINITY}, {2, 1}}).ok());
  EXPECT_THAT(decideBy("exact", {{1, 2}, {1, NAN}, {2, 1}})->noDecision, ElementsAre("s1"));
}

TEST(Regression, GivesErrorsAndExtremeValues) {
  session::SampleSet samples = samplesOf(2);
  samples.targets = {0, 1, 2, 3};
  const std::vector<float> reference{0, 1, 2, 4}, candidate{0.5F, 1, 2, 1};
  const auto rule = session::parseDecisionRule("regression").value();
  const DecisionInput values{{reference.data(), base::DType::float32, {2, 2}}, {candidate.data(), base::DType::float32, {2, 2}}, 0};
  const auto result = analysis::decide(values, rule, samples, TieRule::first);
  ASSERT_TRUE(result.ok() && result->regression);
  const session::Regression& r = *result->regression;
  EXPECT_DOUBLE_EQ(r.candidateToReference.mean, 3.5 / 4);
  EXPECT_DOUBLE_EQ(r.candidateToReference.rootMeanSquare, std::sqrt(9.25 / 4));
  EXPECT_EQ(r.candidateToReference.max, 3);
  EXPECT_EQ(r.worstSample, "s1");
  EXPECT_EQ(r.reference.max, 4);
  EXPECT_EQ(r.candidate.max, 2);
  EXPECT_DOUBLE_EQ(r.referenceToTarget->mean, 0.25);
  EXPECT_DOUBLE_EQ(r.candidateToTarget->max, 2);
  EXPECT_TRUE(result->flips.empty());
  samples.targets.pop_back();
  EXPECT_FALSE(analysis::decide(values, rule, samples, TieRule::first).ok());
}

TEST(Regression, CountsWhatIsNotFiniteApart) {
  const auto r = decideBy("regression", {{1, INFINITY}, {2, 3}, {2, 1}})->regression.value();
  EXPECT_EQ(r.elements, 1);
  EXPECT_EQ(r.notEvaluated, 1);
  EXPECT_EQ(r.candidateToReference.max, 1);
  const auto none = decideBy("regression", {{NAN}, {2}, {1, 1}})->regression.value();
  EXPECT_TRUE(std::isnan(none.candidateToReference.mean));
  EXPECT_EQ(none.worstSample, "");
}

TEST(Quality, CountsWhatTheLabelsCallCorrect) {
  const Scores s{{2, 1, 0, 1, 2, 1}, {1, 2, 0, 1, NAN, 1}, {3, 2}};
  const auto result = decide(s, TieRule::first, {0, 1, 1});
  ASSERT_TRUE(result->quality);
  EXPECT_EQ(result->quality->labelled, 3);
  EXPECT_EQ(result->quality->referenceCorrect, 2);
  EXPECT_EQ(result->quality->candidateCorrect, 1);  // a NaN is not correct
  EXPECT_FALSE(decide(s)->quality);
}

// margin > 2 max|error| (argmax, top-k) or > max|error| (threshold): no rounding of that size can flip it.
TEST(PossibleFlips, NoFlipStandsBeyondTheLine) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const char* rule : {"argmax", "argmin", "topk:2", "threshold:0.125"}) {
    Scores s{{}, {}, {400, 4}};
    for (int i = 0; i < 1600; ++i) {
      s.reference.push_back(normal(random));
      s.candidate.push_back(s.reference.back() + 0.3F * normal(random));
    }
    const auto result = decideBy(rule, s);
    const session::DecisionRule parsed = session::parseDecisionRule(rule).value();
    ASSERT_GT(result->flips.size(), 20U) << rule;
    for (const session::Flip& flip : result->flips) EXPECT_TRUE(result->decisions[static_cast<std::size_t>(flip.sample)].mayFlip(parsed)) << rule;
    EXPECT_TRUE(std::any_of(result->decisions.begin(), result->decisions.end(), [&](const auto& d) { return !d.mayFlip(parsed); })) << rule;
  }
}

TEST(PossibleFlips, AnErrorThatIsNotKnownRulesNothingOut) {
  const session::DecisionRule rule = session::parseDecisionRule("argmax").value();
  EXPECT_TRUE((session::SampleDecision{1, 1, NAN}).mayFlip(rule));
  EXPECT_TRUE((session::SampleDecision{1, 1, 0.5}).mayFlip(rule));
  EXPECT_FALSE((session::SampleDecision{1.01, 1, 0.5}).mayFlip(rule));
  const auto infinite = decide({{1, 2}, {1, INFINITY}, {1, 2}});
  EXPECT_EQ(infinite->decisions.at(0).maxError, std::numeric_limits<double>::infinity());
}

TEST(PropertyOfAllRules, PermutingTheSamplesPermutesTheFlips) {
  const Scores s{{2, 1, 1, 2, 3, 1, 0, 5}, {1, 2, 1, 2, 1, 3, 0, 5}, {4, 2}};
  const Scores turned{{0, 5, 3, 1, 1, 2, 2, 1}, {0, 5, 1, 3, 1, 2, 1, 2}, {4, 2}};
  for (const char* rule : {"argmax", "argmin", "topk:1", "threshold:1.5", "exact"}) {
    std::vector<std::int64_t> straight, reversed;
    const auto first = decideBy(rule, s), second = decideBy(rule, turned);
    for (const auto& flip : first->flips) straight.push_back(flip.sample);
    for (const auto& flip : second->flips) reversed.push_back(3 - flip.sample);
    EXPECT_THAT(reversed, testing::UnorderedElementsAreArray(straight)) << rule;
    EXPECT_THAT(straight, ElementsAre(0, 2)) << rule;
    EXPECT_TRUE(decideBy(rule, {s.reference, s.reference, s.shape}, TieRule::flag)->flips.empty()) << rule;
  }
}

}  // namespace
}  // namespace ulpscope::analysis
