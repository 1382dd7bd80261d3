#include "core/base/nearest_names.h"

#include <gmock/gmock.h>

using namespace ulpscope::base;
using testing::ElementsAre;

namespace {

TEST(NearestNames, PutsNamesThatContainTheWordFirst) {
  EXPECT_THAT(nearestNames("fc2", {"fc1", "encoder.0.fc2", "fc"}, 2), ElementsAre("encoder.0.fc2", "fc1"));
}

// Distances of "layer1.0": layer1.1 1, layer2.0 1, layer2.1 2, head 8.
TEST(NearestNames, RanksByEditDistanceAndKeepsTheOrderOfEquals) {
  EXPECT_THAT(nearestNames("layer1.0", {"head", "layer2.1", "layer2.0", "layer1.1"}), ElementsAre("layer2.0", "layer1.1", "layer2.1"));
  EXPECT_THAT(nearestNames("kitten", {"sitting", "kite", "mitten"}), ElementsAre("mitten", "kite", "sitting"));
}

TEST(NearestNames, GivesFewerWhereThereAreFewer) {
  EXPECT_THAT(nearestNames("x", {}), ElementsAre());
  EXPECT_THAT(nearestNames("", {"a"}), ElementsAre("a"));
  EXPECT_THAT(nearestNames("x", {"a", "b"}, 1), ElementsAre("a"));
}

TEST(QuotedChoice, ReadsAsASentence) {
  EXPECT_EQ(quotedChoice({}), "");
  EXPECT_EQ(quotedChoice({"a"}), "'a'");
  EXPECT_EQ(quotedChoice({"a", "b"}), "'a' or 'b'");
  EXPECT_EQ(quotedChoice({"a", "b", "c"}), "'a', 'b' or 'c'");
}

TEST(GlobMatches, WholeTextOnly) {
  EXPECT_TRUE(globMatches("encoder.*.fc2", "encoder.12.fc2"));
  EXPECT_TRUE(globMatches("*", ""));
  EXPECT_TRUE(globMatches("**", "abc"));
  EXPECT_TRUE(globMatches("a?c", "abc"));
  EXPECT_TRUE(globMatches("*ab*ab", "abxabab"));
  EXPECT_TRUE(globMatches("", ""));
  EXPECT_FALSE(globMatches("encoder", "encoder.0"));
  EXPECT_FALSE(globMatches("a?c", "ac"));
  EXPECT_FALSE(globMatches("", "a"));
  EXPECT_FALSE(globMatches("a.c", "abc")) << "a point is itself";
  EXPECT_FALSE(globMatches("*ab", "aba"));
}

TEST(GlobMatches, ManyStarsEndInTime) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(globMatches(pattern + "b", std::string(5000, 'a')));
}

}  // namespace
