#include "core/analysis/decided.h"

#include <gmock/gmock.h>

#include <limits>

namespace ulpscope::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<std::vector<std::int64_t>> decided(const char* rule, const std::vector<float>& scores, std::vector<std::int64_t> shape, int sampleAxis = 0) {
  return decidedIn({scores.data(), base::DType::float32, std::move(shape)}, sampleAxis, session::parseDecisionRule(rule).value());
}

// Expected by eye: the place of the largest number in each line.
TEST(Decided, IsTheBestClassOfEachSample) {
  const std::vector<float> scores{1, 5, 3,  //
                                  2, 0, 9,  //
                                  4, 4, 1,  //
                                  -kInf, 7, kInf};
  EXPECT_THAT(decided("argmax", scores, {4, 3}), ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(0), ElementsAre(2)));
  EXPECT_THAT(decided("argmin", scores, {4, 3}), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(0)));
  // The same numbers, samples along the second axis: columns decide.
  EXPECT_THAT(decided("argmax:0", scores, {4, 3}, 1), ElementsAre(ElementsAre(2), ElementsAre(3), ElementsAre(3)));
}

TEST(Decided, IsTheSetOfTopKInAscendingOrder) { EXPECT_THAT(decided("topk:2", {1, 5, 7, 9, 0, 2}, {2, 3}), ElementsAre(ElementsAre(1, 2), ElementsAre(0, 2))); }

TEST(Decided, IsTheSideOfAThresholdOrTheNumberItself) {
  EXPECT_THAT(decided("threshold:2", {2, 3, 1}, {3}), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(decided("threshold:2:ge", {2, 3, 1}, {3, 1}), ElementsAre(ElementsAre(1), ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(decided("exact", {7, -1}, {2}), ElementsAre(ElementsAre(7), ElementsAre(-1)));
}

TEST(Decided, IsNothingWhereNothingOneIsDecided) {
  EXPECT_THAT(decided("argmax", {1, kNaN, 2, 3}, {2, 2}), ElementsAre(IsEmpty(), ElementsAre(1)));
  EXPECT_THAT(decided("argmax:1", {1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}), ElementsAre(IsEmpty(), IsEmpty())) << "two positions a sample";
  EXPECT_THAT(decided("argmax:0", {1, 2}, {1, 2}), ElementsAre(IsEmpty())) << "that axis counts the samples";
  EXPECT_THAT(decided("argmax:5", {1, 2}, {1, 2}), ElementsAre(IsEmpty()));
  EXPECT_THAT(decided("none", {1, 2}, {2, 1}), ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(decided("argmax", {}, {0, 3}), IsEmpty());
  EXPECT_THAT(decided("argmax", {}, {2, 0}), ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(decided("argmax", {1}, {1}, 3), IsEmpty());
}

}  // namespace
}  // namespace ulpscope::analysis
