#include "core/session/sample_choice.h"

#include <gmock/gmock.h>

#include <cmath>

namespace ulpscope::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Five samples; a run over all of them, then one over two only, which nobody chooses from.
Session sampleSession() {
  Session session;
  session.samples.ids = {"a", "b", "c", "d", "e"};
  RunRecord whole;
  whole.number = 1;
  whole.settings.decision.kind = DecisionRule::Kind::argmax;
  whole.decisions = {{0.5, 0.5}, {0.1, 0.2}, {std::nan(""), 0.1}, {0.02, 0.01}, {0.3, 0.3}};
  Flip flip;
  flip.sampleId = "d";
  flip.sample = 3;
  whole.flips = {flip};
  whole.nonfiniteSamples = {"c"};
  NonfiniteFinding origin;
  origin.sampleIds = {"a"};
  whole.nonfiniteOrigins = {origin};
  whole.noDecision = {"c"};
  RunRecord part;
  part.number = 2;
  part.settings = whole.settings;
  part.settings.onlySamples = {"e"};
  session.runs = {whole, part};
  return session;
}

std::vector<std::string> chosen(const std::string& text) {
  const auto ids = chooseSamples(sampleSession(), text);
  EXPECT_TRUE(ids.ok()) << ids.error().message();
  return ids.ok() ? ids->ids : std::vector<std::string>{};
}

std::string refusal(const Session& session, const std::string& text) {
  const auto ids = chooseSamples(session, text);
  EXPECT_FALSE(ids.ok());
  if (ids.ok()) return "";
  EXPECT_EQ(ids.error().kind, base::ErrorKind::usage);
  return ids.error().message();
}

TEST(SampleChoice, TakesWhatTheLatestWholeRunFound) {
  EXPECT_THAT(chosen("flips"), ElementsAre("d"));
  EXPECT_THAT(chosen("nonfinite"), ElementsAre("a", "c"));
  EXPECT_THAT(chosen("near:2"), ElementsAre("b", "d")) << "in the set's order; a NaN margin is near nothing";
  EXPECT_THAT(chosen("near:99"), ElementsAre("a", "b", "d", "e"));
}

TEST(SampleChoice, PrefersTheLatestWholeRunInTheSameDtype) {
  Session session = sampleSession();
  RunRecord other = session.runs.front();
  other.number = 3;
  other.settings.autocast = base::DType::bfloat16;
  other.flips.front().sampleId = "b";
  session.runs.push_back(other);
  EXPECT_EQ(chooseSamples(session, "flips")->runId, "run_0003");
  EXPECT_EQ(chooseSamples(session, "flips", base::DType::bfloat16)->runId, "run_0003");
  EXPECT_EQ(chooseSamples(session, "flips", base::DType::float16)->runId, "run_0001");
  session.runs.pop_back();
  EXPECT_EQ(chooseSamples(session, "flips", base::DType::bfloat16)->runId, "run_0001") << "there is no other";
}

TEST(SampleChoice, TakesIdsOnceAndInTheSetsOrder) { EXPECT_THAT(chosen("e,,b,e"), ElementsAre("b", "e")); }

TEST(SampleChoice, TakesIdsThatHoldCommasFromAnArray) {
  Session session = sampleSession();
  session.samples.ids[1] = "b,1";
  EXPECT_THAT(chooseSamples(session, R"(["e","b,1","e"])")->ids, ElementsAre("b,1", "e"));
  for (const char* text : {"[", "[b]", "[1]", R"(["b)", R"([["b"]])"}) EXPECT_THAT(refusal(session, text), HasSubstr("is no JSON array of strings")) << text;
  for (const char* text : {"[]", ",", ""}) EXPECT_THAT(refusal(session, text), HasSubstr("names no sample")) << text;
}

TEST(SampleChoice, WritesIdsSoThatTheyReadBack) {
  EXPECT_EQ(sampleIdsText({"a", "b"}), "a,b");
  for (const std::vector<std::string>& ids : {std::vector<std::string>{"a,b", "c"}, {"flips"}, {"near:1"}, {"[x", "y"}, {"a\"b", "ä"}})
    EXPECT_EQ(sampleIdsIn(sampleIdsText(ids)).value(), ids);
  EXPECT_FALSE(choosesFromRun(sampleIdsText({"flips"})));
}

TEST(SampleChoice, OfARunWithoutFindingsIsEmptyAndNamesTheRun) {
  Session quiet = sampleSession();
  quiet.runs[0].flips.clear();
  quiet.runs[0].nonfiniteSamples.clear();
  quiet.runs[0].nonfiniteOrigins.clear();
  quiet.runs[0].noDecision.clear();
  for (const char* word : {"flips", "nonfinite"}) {
    const auto choice = chooseSamples(quiet, word);
    ASSERT_TRUE(choice.ok()) << word;
    EXPECT_THAT(choice->ids, testing::IsEmpty());
    EXPECT_EQ(choice->runId, "run_0001");
  }
}

TEST(SampleChoice, RefusesWhatIsNotThere) {
  EXPECT_THAT(refusal(sampleSession(), "x"), HasSubstr("no sample has the id 'x'"));
  for (const char* text : {"near:", "near:0", "near:-1", "near:2x", "near:99999999999999999999"})
    EXPECT_THAT(refusal(sampleSession(), text), HasSubstr("needs a whole number from 1")) << text;
  Session quiet = sampleSession();
  quiet.runs[0].flips.clear();
  for (auto& decision : quiet.runs[0].decisions) decision.referenceMargin = std::nan("");
  EXPECT_THAT(refusal(quiet, "near:2"), HasSubstr("run_0001 has no margin that is a number"));
  quiet.runs[0].settings.decision.kind = DecisionRule::Kind::none;
  EXPECT_THAT(refusal(quiet, "flips"), HasSubstr("run_0001 has no decisions"));
  quiet.runs.erase(quiet.runs.begin());
  EXPECT_THAT(refusal(quiet, "nonfinite"), HasSubstr("no complete run over all samples"));
}

}  // namespace
}  // namespace ulpscope::session
