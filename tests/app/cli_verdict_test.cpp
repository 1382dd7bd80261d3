// Criteria, verdicts and comparisons through the real command line and engine.
#include "program.h"
#include "tests/core/report/schema_validator.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string fixture(const std::string& name, const std::string& file) { return ULPSCOPE_TEST_BUILD "/testdata/models/" + name + "/" + file; }

std::vector<std::string> runOf(const std::string& name, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"run", fixture(name, "model.ts"), "--inputs", fixture(name, "inputs.h5"), "--no-noise-floor"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> router(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--autocast", "bf16"});
  return runOf("router_flip", std::move(more));
}

json documentOf(const Finished& finished) {
  const json document = json::parse(finished.out);
  std::ifstream stream(ULPSCOPE_SCHEMA);
  EXPECT_THAT(schemaFaults(json::parse(stream), document), IsEmpty());
  return document;
}

json comparisonOf(const Finished& finished) {
  const json document = json::parse(finished.out);
  std::ifstream stream(ULPSCOPE_COMPARISON_SCHEMA);
  EXPECT_THAT(schemaFaults(json::parse(stream), document), IsEmpty());
  return document;
}

struct Validation {
  Validation() {
    folder.write("strict.json", R"({"schema": 1, "decision": {"rule": "argmax"}, "decisions": {"max_flips": 0}, "nonfinite": {"max_samples": 0}})");
    folder.write("wide.json", R"({"schema": 1, "decision": {"rule": "argmax"}, "decisions": {"max_flips": 9}})");
    folder.write("absent.json", R"({"schema": 1, "outputs": [{"output": "boxes", "atol": 1}]})");
  }
  Folder folder;
};

TEST(CliCriteria, AVerdictDecidesTheExitCode) {
  const Validation v;
  const Finished failed = ulpscope(v.folder, router({"--criteria", "strict.json", "--session", "a.ulps"}));
  EXPECT_EQ(failed.code, 1) << failed.err;
  EXPECT_THAT(failed.out, AllOf(HasSubstr("VERDICT FAIL (criteria revision 1"), HasSubstr("validation by criteria revision 1"), HasSubstr("DECISIONS (argmax)")));
  EXPECT_EQ(ulpscope(v.folder, router({"--criteria", "wide.json", "--session", "b.ulps"})).code, 0);
  const Finished inconclusive = ulpscope(v.folder, router({"--criteria", "absent.json", "--session", "c.ulps", "--json", "-"}));
  EXPECT_EQ(inconclusive.code, 5);
  const json document = documentOf(inconclusive);
  EXPECT_EQ(document["verdict"]["status"], "not evaluated");
  EXPECT_EQ(document["exploratory"], false);
}

TEST(CliCriteria, ALockIsKeptAndOtherCriteriaAreRefused) {
  const Validation v;
  ASSERT_EQ(ulpscope(v.folder, router({"--criteria", "strict.json", "--session", "a.ulps"})).code, 1);
  const Finished other = ulpscope(v.folder, router({"--criteria", "wide.json", "--session", "a.ulps", "--append"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("differs from locked revision 1; use `ulpscope criteria revise`"));
  // The locked ones judge every further run, also without --criteria.
  const Finished cured = ulpscope(v.folder, router({"--fp32", "mixture.gate", "--session", "a.ulps", "--append", "--json", "-"}));
  EXPECT_EQ(cured.code, 0) << cured.err;
  EXPECT_EQ(documentOf(cured)["verdict"]["status"], "pass");
  EXPECT_EQ(documentOf(cured)["candidates_tried"], 2);
  const Finished decides = ulpscope(v.folder, router({"--decision", "argmin", "--session", "a.ulps", "--append"}));
  EXPECT_EQ(decides.code, 2);
  EXPECT_THAT(decides.err, HasSubstr("the criteria fix another: argmax"));
}

TEST(CliCriteria, AreNotLockedWhereResultsAreKnown) {
  const Validation v;
  ASSERT_EQ(ulpscope(v.folder, router({"--session", "a.ulps"})).code, 0);
  const Finished late = ulpscope(v.folder, router({"--criteria", "strict.json", "--session", "a.ulps", "--append"}));
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.err, AllOf(HasSubstr("exploratory runs"), HasSubstr("--explored")));
  const Finished validated = ulpscope(v.folder, router({"--criteria", "wide.json", "--explored", "a.ulps", "--session", "b.ulps", "--json", "-"}));
  EXPECT_EQ(validated.code, 0) << validated.err;
  EXPECT_EQ(documentOf(validated)["verdict"]["criteria_after_results"], true);
  EXPECT_EQ(documentOf(validated)["candidates_tried"], 2);
  EXPECT_THAT(ulpscope(v.folder, {"check", "b.ulps"}).out, HasSubstr("criteria written after exploring these samples"));
}

TEST(CliCriteria, ARevisionJudgesAnewAndSaysThatResultsWereSeen) {
  const Validation v;
  ASSERT_EQ(ulpscope(v.folder, router({"--criteria", "strict.json", "--session", "a.ulps"})).code, 1);
  const Finished revised = ulpscope(v.folder, {"criteria", "revise", "a.ulps", "wide.json", "--reason", "agreed with the users"});
  EXPECT_EQ(revised.code, 0) << revised.err;
  EXPECT_THAT(revised.out, AllOf(HasSubstr("revision 2 locked"), HasSubstr("results had been seen")));
  const Finished checked = ulpscope(v.folder, {"check", "a.ulps"});
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.out, AllOf(HasSubstr("VERDICT PASS (criteria revision 2"), HasSubstr("revised after results had been seen")));
  EXPECT_THAT(ulpscope(v.folder, {"criteria", "show", "a.ulps"}).out, AllOf(HasSubstr("revision 1"), HasSubstr("because: agreed with the users")));
  EXPECT_EQ(ulpscope(v.folder, {"criteria", "revise", "a.ulps", "wide.json"}).code, 2);
}

TEST(CliCriteria, ATemplateIsFilledInBeforeItCanBeLocked) {
  const Folder folder;
  const Finished made = ulpscope(folder, {"criteria", "new", "--for", fixture("router_flip", "model.ts"), "-o", "c.json"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(ulpscope(folder, {"criteria", "new", "--for", fixture("router_flip", "model.ts"), "-o", "c.json"}).code, 2);
  const Finished open = ulpscope(folder, router({"--criteria", "c.json", "--session", "a.ulps"}));
  EXPECT_EQ(open.code, 3);
  EXPECT_THAT(open.err, HasSubstr("has no limit yet"));
  EXPECT_FALSE(folder.has("a.ulps"));
}

TEST(CliCheck, OfAnExploratorySessionIsInconclusiveUnlessCriteriaAreGiven) {
  const Validation v;
  ASSERT_EQ(ulpscope(v.folder, router({"--decision", "argmax", "--session", "a.ulps"})).code, 0);
  const Finished none = ulpscope(v.folder, {"check", "a.ulps"});
  EXPECT_EQ(none.code, 5);
  EXPECT_THAT(none.err, HasSubstr("no criteria are locked"));
  const Finished given = ulpscope(v.folder, {"check", "a.ulps", "--criteria", "strict.json", "--junit", "v.xml", "--json", "-"});
  EXPECT_EQ(given.code, 1);
  EXPECT_EQ(documentOf(given)["verdict"]["revision"], 0);
  EXPECT_EQ(documentOf(given)["verdict"]["criteria_after_results"], true);
  EXPECT_THAT(v.folder.read("v.xml"), AllOf(HasSubstr("<testsuites>"), HasSubstr("failures=\"1\"")));
  EXPECT_EQ(ulpscope(v.folder, {"check", "a.ulps", "--run", "7"}).code, 2);
}

TEST(CliCheck, ACandidateThatRaisedFailsWithCriteriaAndIsARunErrorWithout) {
  const Validation v;
  EXPECT_EQ(ulpscope(v.folder, runOf("bce_refused", {"--session", "a.ulps"})).code, 4);
  v.folder.write("finite.json", R"({"schema": 1, "nonfinite": {"max_samples": 0}})");
  const Finished judged = ulpscope(v.folder, runOf("bce_refused", {"--criteria", "finite.json", "--session", "b.ulps"}));
  EXPECT_EQ(judged.code, 1);
  EXPECT_THAT(judged.out, HasSubstr("the candidate raised"));
}

TEST(CliReference, WithNaNIsNoBaselineUnlessARuleExplainsIt) {
  const Folder folder;
  const Finished refused = ulpscope(folder, runOf("odd/ReferenceNaN", {"--session", "a.ulps"}));
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("FP32 is no baseline"), HasSubstr("--allow-nonfinite")));
  EXPECT_TRUE(folder.has("a.ulps")) << "what was measured is kept";
  const Finished allowed = ulpscope(folder, runOf("odd/ReferenceNaN", {"--allow-nonfinite", ".", "--session", "b.ulps", "--json", "-"}));
  EXPECT_EQ(allowed.code, 0) << allowed.err;
  EXPECT_EQ(documentOf(allowed)["reference_nonfinite"][0]["explained_by"], ".");
  EXPECT_THAT(ulpscope(folder, router({"--allow-nonfinite", "mixture", "--session", "c.ulps"})).out, HasSubstr("--allow-nonfinite mixture explains nothing"));
}

TEST(CliReference, WhatIsIntendedIsFixedByTheCriteriaWhereThereAreSome) {
  const Validation v;
  const Finished loosened = ulpscope(v.folder, router({"--criteria", "strict.json", "--allow-nonfinite", ".", "--session", "a.ulps"}));
  EXPECT_EQ(loosened.code, 2);
  EXPECT_THAT(loosened.err, HasSubstr("the criteria fix what is intended"));
}

TEST(CliCompare, SaysWhatARegionCuredAndMade) {
  const Folder folder;
  ASSERT_EQ(ulpscope(folder, router({"--decision", "argmax", "--capture", "mixture.gate", "--session", "a.ulps"})).code, 0);
  ASSERT_EQ(ulpscope(folder, router({"--decision", "argmax", "--capture", "mixture.gate", "--fp32", "mixture.gate", "--session", "a.ulps", "--append"})).code, 0);
  const Finished compared = ulpscope(folder, {"compare", "a.ulps", "--json", "-"});
  ASSERT_EQ(compared.code, 0) << compared.err;
  const json document = comparisonOf(compared);
  EXPECT_THAT(document["flips"]["cured"], ElementsAre("2", "7", "8"));
  EXPECT_THAT(document["flips"]["made"], IsEmpty());
  EXPECT_GT(document["sites"]["better"], 0);
  ASSERT_EQ(document["captured"].size(), 1U);
  EXPECT_EQ(document["captured"][0]["site"], "mixture.gate: aten::linear");
  EXPECT_EQ(document["captured"][0]["identical"], false);
  EXPECT_THAT(ulpscope(folder, {"compare", "a.ulps", "1", "run_0002"}).out, AllOf(HasSubstr("cured 3, made 0, in both 0"), HasSubstr("cured: 2, 7, 8"), HasSubstr("OP SITES")));
  const json itself = comparisonOf(ulpscope(folder, {"compare", "a.ulps", "1", "1", "--json", "-"}));
  EXPECT_EQ(itself["sites"]["better"], 0);
  EXPECT_EQ(itself["sites"]["worse"], 0);
  EXPECT_EQ(itself["captured"][0]["identical"], true);
}

TEST(CliCompare, RefusesRunsOfTwoExperiments) {
  const Folder folder;
  ASSERT_EQ(ulpscope(folder, router({"--session", "a.ulps"})).code, 0);
  ASSERT_EQ(ulpscope(folder, router({"--seed", "3", "--session", "b.ulps"})).code, 0);
  ASSERT_EQ(ulpscope(folder, runOf("eps_lost", {"--session", "c.ulps"})).code, 0);
  const Finished seed = ulpscope(folder, {"compare", "a.ulps", "b.ulps", "--json", "-"});
  EXPECT_EQ(comparisonOf(seed)["status"], "error");
  EXPECT_EQ(seed.code, 4);
  EXPECT_THAT(seed.err, HasSubstr("the seed differs: 0 before, 3 now"));
  EXPECT_THAT(ulpscope(folder, {"compare", "a.ulps", "c.ulps"}).err, HasSubstr("the model's code differs"));
  const Finished one = ulpscope(folder, {"compare", "a.ulps"});
  EXPECT_EQ(one.code, 5);
  EXPECT_THAT(one.err, HasSubstr("comparing takes two"));
}

TEST(CliCompare, HoldsNoFlipsByDifferentRulesAgainstEachOther) {
  const Folder folder;
  ASSERT_EQ(ulpscope(folder, router({"--decision", "argmax", "--session", "a.ulps"})).code, 0);
  ASSERT_EQ(ulpscope(folder, router({"--decision", "argmax", "--tie", "flag", "--session", "a.ulps", "--append"})).code, 0);
  EXPECT_TRUE(comparisonOf(ulpscope(folder, {"compare", "a.ulps", "--json", "-"}))["flips"].is_null());
  EXPECT_THAT(ulpscope(folder, {"compare", "a.ulps"}).out, HasSubstr("not compared: decided by argmax, tie first and by argmax, tie flag"));
}

TEST(CliDecision, ReadsMasksSetsAndThresholds) {
  const Folder folder;
  const json exact = documentOf(ulpscope(folder, runOf("box_area_overflow", {"--decision", "exact", "--session", "a.ulps", "--json", "-"})));
  std::vector<std::string> flipped;
  for (const json& flip : exact["flips"]) flipped.push_back(flip["sample_id"]);
  EXPECT_THAT(flipped, ElementsAre("1", "2"));
  EXPECT_TRUE(exact["flips"][0]["reference_margin"].is_null());
  const json topk = documentOf(ulpscope(folder, router({"--decision", "topk:2", "--session", "b.ulps", "--json", "-"})));
  EXPECT_EQ(topk["decision"]["rule"], "topk:2");
  for (const json& flip : topk["flips"]) EXPECT_EQ(flip["reference"].size(), 2U);
  const json threshold = documentOf(ulpscope(folder, router({"--decision", "threshold:0", "--session", "c.ulps", "--json", "-"})));
  EXPECT_EQ(threshold["decision"]["samples"], 9);
  const json regression = documentOf(ulpscope(folder, router({"--decision", "regression", "--session", "d.ulps", "--json", "-"})));
  EXPECT_GT(regression["decision"]["regression"]["candidate_to_reference"]["max"], 1);
  EXPECT_THAT(regression["flips"], IsEmpty());
}

}  // namespace
}  // namespace ulpscope::test
