#include "core/report/verdict_text.h"

#include "core/report/run_document.h"
#include "core/session/criteria.h"
#include "sample_run.h"
#include "schema_validator.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

namespace ulpscope::report {
namespace {

using nlohmann::json;
using session::JudgedAs;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

session::Session validated() {
  session::Session session = test::sampleSession();
  session.criteria = {{1, "2026-01-02T03:04:05Z", "0123456789abcdef", R"({"schema":1,"decisions":{"max_flips":0}})", false, ""}};
  session::Verdict verdict;
  verdict.status = JudgedAs::fail;
  verdict.revision = 1;
  verdict.sha256 = "0123456789abcdef";
  verdict.criteria = {{"decisions.flips", 3, 0, INFINITY, "s5", JudgedAs::fail, ""},
                      {"logits.rel_l2", 0.001, 0.002, 0.5, "", JudgedAs::pass, ""},
                      {"a<b&\"c\"", std::nan(""), 1, std::nan(""), "", JudgedAs::notEvaluated, "no output 'x'"}};
  session.runs.front().verdict = verdict;
  return session;
}

json schemaOf(const std::string& path) {
  std::ifstream stream(path);
  return json::parse(stream);
}

TEST(VerdictText, SaysStatusRowsAndWhatWasKnownBefore) {
  session::Session session = validated();
  const std::string text = verdictText(session, *session.runs.front().verdict);
  EXPECT_THAT(text, AllOf(HasSubstr("VERDICT FAIL (criteria revision 1, SHA-256 0123456789ab; 1 candidate tried"), HasSubstr("fail           decisions.flips"), HasSubstr("+inf  s5"),
                          HasSubstr("not evaluated  a<b&\"c\""), Not(HasSubstr("after"))));
  session.criteria.push_back(session.criteria.front());
  session.criteria.back().afterResults = true;
  EXPECT_THAT(verdictText(session, *session.runs.front().verdict), HasSubstr("criteria were revised after results had been seen"));
  session.explored = session::Lineage{"id", "digits", 4, "abc", true};
  EXPECT_THAT(verdictText(session, *session.runs.front().verdict), AllOf(HasSubstr("criteria written after exploring these samples (digits, 4 runs)"), HasSubstr("5 candidates tried")));
  session.explored->sameSamples = false;
  EXPECT_THAT(verdictText(session, *session.runs.front().verdict), AllOf(Not(HasSubstr("exploring")), HasSubstr("1 candidate tried")));
}

TEST(VerdictDocument, IsValidAndSaysWhenCriteriaCameAfterResults) {
  session::Session session = validated();
  const json document = runDocument(session, session.runs.front(), "s.ulps");
  EXPECT_THAT(test::schemaFaults(schemaOf(ULPSCOPE_SCHEMA), document), IsEmpty());
  EXPECT_EQ(document["exploratory"], false);
  EXPECT_EQ(document["verdict"]["criteria_after_results"], false);
  EXPECT_EQ(document["verdict"]["criteria"][0]["ratio"], "+inf");
  session.runs.front().verdict->revision = 0;  // criteria that nobody locked
  EXPECT_EQ(runDocument(session, session.runs.front(), "s.ulps")["verdict"]["criteria_after_results"], true);
}

TEST(VerdictJUnit, HasACaseForEachCriterionAndEscapesItsText) {
  const session::Session session = validated();
  const std::string xml = verdictJUnit(session, session.runs.front(), *session.runs.front().verdict);
  EXPECT_THAT(xml, AllOf(HasSubstr("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), HasSubstr("<failure message=\"measured 3, limit 0, sample s5\"/>"),
                         HasSubstr("name=\"a&lt;b&amp;&quot;c&quot;\""), HasSubstr("<skipped message=")));
}

TEST(VerdictJUnit, ARunThatCannotBeJudgedIsACaseOfItsOwn) {
  const session::Session session = validated();
  session::Verdict raised;
  raised.status = JudgedAs::fail;
  raised.reason = "the candidate raised";
  const std::string xml = verdictJUnit(session, session.runs.front(), raised);
  EXPECT_THAT(xml, AllOf(HasSubstr("tests=\"1\" failures=\"1\""), HasSubstr("name=\"run\""), HasSubstr("the candidate raised")));
}

TEST(CriteriaText, ShowsEveryRevision) {
  session::Session session = validated();
  session.criteria.push_back({2, "2026-01-03T00:00:00Z", "ffff", R"({"schema":1})", true, "too strict"});
  EXPECT_THAT(criteriaText(session), AllOf(HasSubstr("revision 1, locked 2026-01-02T03:04:05Z"), HasSubstr("revision 2"), HasSubstr("because: too strict"), HasSubstr("after results")));
  session.criteria.clear();
  EXPECT_THAT(criteriaText(session), HasSubstr("exploratory"));
}

TEST(CriteriaSchema, AcceptsTheTemplateAndAFilledFileAndNoUnknownKey) {
  const json schema = schemaOf(ULPSCOPE_CRITERIA_SCHEMA);
  json filled = session::criteriaTemplate({"logits"}, session::parseDecisionRule("argmax").value());
  EXPECT_THAT(test::schemaFaults(schema, filled), IsEmpty());
  filled["outputs"][0] = {{"id", "logits"}, {"output", "logits"}, {"atol", 0.1}, {"sqnr_db", -3}, {"max_share_outside", 0.5}};
  EXPECT_THAT(test::schemaFaults(schema, filled), IsEmpty());
  filled["outputs"][0]["max_share_outside"] = 1.5;
  filled["decisoins"] = json::object();
  EXPECT_EQ(test::schemaFaults(schema, filled).size(), 2U);
}

// What the reader takes, the schema lists, and the reverse.
TEST(CriteriaSchema, ListsEveryMetric) {
  const json properties = schemaOf(ULPSCOPE_CRITERIA_SCHEMA)["properties"]["sites"]["items"]["properties"];
  for (const session::Metric metric : session::allMetrics()) EXPECT_TRUE(properties.contains(session::key(metric))) << session::key(metric);
  EXPECT_EQ(properties.size(), session::allMetrics().size() + 2);
}

}  // namespace
}  // namespace ulpscope::report
