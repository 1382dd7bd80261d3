// `run --only-samples` against the session of an engine that answers: what is chosen, said and passed on.
#include "answered.h"
#include "tests/core/report/schema_validator.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

Finished choosing(const Answered& answered, const std::string& which, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--decision", "argmax", "--session", "made.ulps", "--append", "--only-samples", which});
  return withFakeEngine(answered.folder, "ok", {runWords(more), {{"FAKE_SESSION", answered.folder.path("made.ulps")}, {"FAKE_REQUEST", answered.folder.path("r.json")}}, 0, "", ""});
}

json idsOf(const Answered& answered) { return json::parse(answered.folder.read("r.json"))["settings"]["only_samples"]; }

session::Session withoutFindings() {
  session::Session session = curedSession();
  session.runs.erase(session.runs.begin());
  return session;
}

TEST(CliOnlySamples, OfARunWithoutSuchSamplesIsDoneAtOnce) {
  const Answered answered(withoutFindings());
  for (const auto& [word, what] : {std::pair{"flips", "flips"}, std::pair{"nonfinite", "non-finite samples"}}) {
    const Finished done = choosing(answered, word);
    EXPECT_EQ(done.code, 0);
    EXPECT_EQ(done.err, std::string("note: run_0001, the latest whole run, has no ") + what + ": nothing to do\n");
    EXPECT_THAT(done.out, IsEmpty());
    EXPECT_FALSE(answered.folder.has("r.json")) << "the engine was started";
  }
}

TEST(CliOnlySamples, OfARunWithoutSuchSamplesStillGiveADocument) {
  const Answered answered(withoutFindings());
  const Finished done = choosing(answered, "flips", {"--json", "-"});
  EXPECT_EQ(done.code, 0);
  const json document = json::parse(done.out);
  std::ifstream schema(ULPSCOPE_SCHEMA);
  EXPECT_THAT(schemaFaults(json::parse(schema), document), IsEmpty());
  EXPECT_EQ(document["status"], "ok");
  EXPECT_EQ(document["error"], nullptr);
  EXPECT_EQ(document["run_id"], nullptr);
  EXPECT_EQ(document["session"], "made.ulps");
  EXPECT_EQ(document["warnings"], json::array({"run_0001, the latest whole run, has no flips: nothing to do"}));
}

TEST(CliOnlySamples, WrongOnesAreUsageStill) {
  const Answered answered(withoutFindings());
  for (const char* which : {"near:0", "near:", "[1]", ","}) EXPECT_EQ(choosing(answered, which).code, 2) << which;
}

TEST(CliOnlySamples, MayHoldCommasInAnArray) {
  const Answered answered;
  const Finished done = choosing(answered, R"(["a,b","c"])");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(idsOf(answered), json::array({"a,b", "c"}));
  EXPECT_THAT(done.out, HasSubstr(R"( --only-samples '["a,b","c"]' )"));
}

TEST(CliOnlySamples, StandInTheNextCommandAsTheWordThatChoseThem) {
  const Answered answered;
  for (const char* word : {"flips", "near:20", "nonfinite"}) {
    const Finished done = choosing(answered, word);
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_FALSE(idsOf(answered).empty());
    EXPECT_THAT(done.out, HasSubstr(std::string(" --only-samples ") + word + " --fp32 encoder.0.ffn.wo --session made.ulps --append\n"));
  }
  EXPECT_THAT(choosing(answered, "s5,s17").out, HasSubstr(" --only-samples s5,s17 --fp32 "));
}

}  // namespace
}  // namespace ulpscope::test
