#include "core/report/run_changes.h"

#include "core/report/run_comparison.h"
#include "core/report/verdict_text.h"
#include "sample_run.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::report {
namespace {

using session::JudgedAs;
using session::Metric;
using session::RunRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

RunRecord runOf(const std::vector<double>& errors, const std::vector<std::string>& flips) {
  RunRecord run;
  run.number = 1;
  run.settings.decision.kind = session::DecisionRule::Kind::argmax;
  for (const double error : errors) {
    session::SiteSummary site;
    site.modulePath = "m" + std::to_string(run.sites.size());
    site.op = "aten::linear";
    site.values[Metric::relL2] = error;
    run.sites.push_back(site);
  }
  for (const std::string& id : flips) {
    session::Flip flip;
    flip.sampleId = id;
    run.flips.push_back(flip);
  }
  return run;
}

TEST(RunChanges, PartFlipsIntoCuredMadeAndKept) {
  const RunChanges changes = changesBetween(runOf({}, {"a", "b", "c"}), runOf({}, {"b", "d"}));
  EXPECT_THAT(changes.flips.cured, ElementsAre("a", "c"));
  EXPECT_THAT(changes.flips.made, ElementsAre("d"));
  EXPECT_THAT(changes.flips.kept, ElementsAre("b"));
  EXPECT_EQ(changes.flipsNotCompared, "");
}

TEST(RunChanges, CompareNoFlipsOfOtherDecisions) {
  RunRecord a = runOf({}, {"a"}), b = runOf({}, {"a"});
  b.settings.tie = session::TieRule::flag;
  EXPECT_EQ(changesBetween(a, b).flipsNotCompared, "not compared: decided by argmax, tie first and by argmax, tie flag");
  EXPECT_THAT(changesBetween(a, b).flips.kept, IsEmpty());
  b.settings.decision = {};
  EXPECT_EQ(changesBetween(a, b).flipsNotCompared, "not compared: B reads no decisions");
  EXPECT_EQ(changesBetween(b, a).flipsNotCompared, "not compared: A reads no decisions");
}

// By hand: 1e-3 -> 2e-3 worse, 0 -> 1e-6 worse by an infinite factor, 4e-3 -> 1e-3 better, equal twice, NaN left out.
TEST(RunChanges, CountSitesThatGotBetterOrWorseAndLeaveNanOut) {
  const RunChanges changes = changesBetween(runOf({1e-3, 0, 4e-3, 5e-3, kNan, 1, kInf}, {}), runOf({2e-3, 1e-6, 1e-3, 5e-3, 1, kNan, kInf}, {}));
  EXPECT_EQ(changes.sites.worse, 2);
  EXPECT_EQ(changes.sites.better, 1);
  EXPECT_EQ(changes.sites.equal, 2);
  ASSERT_EQ(changes.sites.changes.size(), 3U);
  EXPECT_EQ(changes.sites.changes[0].site, "m1: aten::linear");
  EXPECT_EQ(changes.sites.changes[1].site, "m0: aten::linear");
}

TEST(RunChanges, TakeTheWorstOfWhatWasEvaluated) {
  EXPECT_EQ(worstRelL2(runOf({kNan, 2e-3, 5e-2, kNan, 1e-3}, {})), 5e-2);
  EXPECT_EQ(worstRelL2(runOf({1, kInf, kNan}, {})), kInf);
  EXPECT_EQ(worstRelL2(runOf({0}, {})), 0);
  EXPECT_TRUE(std::isnan(worstRelL2(runOf({kNan}, {}))));
  EXPECT_TRUE(std::isnan(worstRelL2(runOf({}, {}))));
}

TEST(RunChanges, PairCriteriaByTheirIds) {
  RunRecord a = runOf({}, {}), b = runOf({}, {});
  EXPECT_THAT(changesBetween(a, b).criteria, IsEmpty());
  a.verdict.emplace();
  a.verdict->criteria = {{"flips", 3, 0, kInf, "s", JudgedAs::fail, ""}, {"old", 1, 2, 0.5, "", JudgedAs::pass, ""}};
  b.verdict.emplace();
  b.verdict->criteria = {{"new", kNan, 1, kNan, "", JudgedAs::notEvaluated, ""}, {"flips", 0, 0, 0, "", JudgedAs::pass, ""}};
  const auto criteria = changesBetween(a, b).criteria;
  ASSERT_EQ(criteria.size(), 3U);
  EXPECT_EQ(criteria[0].id, "flips");
  EXPECT_EQ(criteria[0].a->measured, 3);
  EXPECT_EQ(criteria[0].b->status, JudgedAs::pass);
  EXPECT_EQ(criteria[1].id, "old");
  EXPECT_FALSE(criteria[1].b.has_value());
  EXPECT_EQ(criteria[2].id, "new");
  EXPECT_FALSE(criteria[2].a.has_value());
}

TEST(RunChanges, StandInTheComparisonsTextWithTheRunsName) {
  session::Session session = test::sampleSession();
  RunRecord a = runOf({1e-3}, {"a"}), b = runOf({1e-3}, {});
  b.number = 2;
  b.settings.fp32 = {"m0"};
  session.runNames[2] = "m0 kept";
  const std::string text = comparisonText({session, a, "s.ulps"}, {session, b, "s.ulps"}, {});
  EXPECT_THAT(text, HasSubstr("B: s.ulps run_0002 'm0 kept' (FP16, FP32: m0)\nfrom A to B: + m0 in FP32\n"));
  EXPECT_EQ(comparisonDocument({session, a, "s.ulps"}, {session, b, "s.ulps"}, {})["policy_changes"], nlohmann::json({"+ m0 in FP32"}));
}

TEST(VerdictText, SaysHowManyOfTheTriesWereDeleted) {
  session::Session session = test::sampleSession();
  session::Verdict verdict;
  RunRecord gone = session.runs.front();
  gone.number = 2;
  gone.settings.onlySamples.clear();
  session.deleted = {{gone, "2026-01-31T14:02:07Z"}};
  EXPECT_THAT(verdictText(session, verdict), HasSubstr("2 candidates tried on these samples, 1 of them deleted since)"));
}

// Two lines with the same op, and an op with two outputs: as numbers, all differ, none changed from run to run.
session::RunRecord runOfTwins() {
  session::RunRecord run = runOf({}, {});
  for (const auto& [source, output, relL2] : {std::tuple("net.py:3", 0, 0.008), std::tuple("net.py:4", 0, 0.02), std::tuple("net.py:5", 0, 0.1), std::tuple("net.py:5", 1, 0.2)}) {
    session::SiteSummary site;
    site.op = std::string(source) == "net.py:5" ? "aten::max" : "aten::relu";
    site.source = source;
    site.output = output;
    site.values[session::Metric::relL2] = relL2;
    run.sites.push_back(site);
  }
  return run;
}

TEST(RunChanges, SitesThatShareALabelAreNotTakenForOneAnother) {
  const session::RunRecord a = runOfTwins();
  EXPECT_EQ(changesBetween(a, a).sites.equal, 4);
  EXPECT_THAT(changesBetween(a, a).sites.changes, IsEmpty());
  session::RunRecord b = a;
  b.sites[1].values[session::Metric::relL2] = 0.03;
  b.sites[3].values[session::Metric::relL2] = 0.1;
  const auto changes = changesBetween(a, b).sites.changes;
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].site, "(root): aten::relu@4");
  EXPECT_EQ(changes[0].a, 0.02);
  EXPECT_EQ(changes[1].site, "(root): aten::max, output 1");
}

}  // namespace
}  // namespace ulpscope::report
