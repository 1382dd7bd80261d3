#include "core/analysis/flips.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

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

base::Result<DecisionResult> decide(const Scores& s, TieRule tie = TieRule::first, std::vector<std::int64_t> labels = {}, int classAxis = -1) {
  return argmaxFlips({{s.reference.data(), base::DType::float32, s.shape}, {s.candidate.data(), base::DType::float32, s.shape}, 0, classAxis},
                     samplesOf(s.shape[0], std::move(labels)), tie);
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

}  // namespace
}  // namespace ulpscope::analysis
