#include "core/report/run_document.h"

#include "sample_run.h"

#include <gmock/gmock.h>

namespace ulpscope::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string summaryOf(const session::Session& session) { return runSummary(session, session.runs.back(), "ffn-fp16.ulps"); }

TEST(RunSummary, SaysWhatWasComparedAndThatThereIsNoVerdict) {
  EXPECT_THAT(summaryOf(test::sampleSession()),
              AllOf(HasSubstr("run_0001: ffn.ts, 256 samples, 5 op sites"),
                    HasSubstr("FP16 autocast (cuda@1.13, emulated) against FP32; exploratory: no criteria")));
}

TEST(RunSummary, PutsTheDiagnosisUnderFirstNonFinite) {
  EXPECT_THAT(summaryOf(test::sampleSession()),
              HasSubstr("FIRST NON-FINITE\n  encoder.0.ffn.wo overflows: |x| = 81,920 > 65,504 in samples s142, s17.\n"
                        "    aten::linear in encoder.0.ffn.wo at model.py:12; cause: overflow; samples s142, s17\n"
                        "    0 NaN, 3 +inf, 1 -inf\n  carried on by 1 later op site (consequences)\n"));
}

TEST(RunSummary, CountsFlipsOverTheDecisionsThatExist) {
  EXPECT_THAT(summaryOf(test::sampleSession()),
              AllOf(HasSubstr("3 of 254 decisions flip (1.2 %, 95 % interval 0.2 % to 3.5 %)"),
                    HasSubstr("no decision for 2 samples (scores are NaN), not counted above: s1, s2")));
}

TEST(RunSummary, ShowsAFlipWithNamesMarginsEffectAndFirstSite) {
  const std::string text = summaryOf(test::sampleSession());
  EXPECT_THAT(text, HasSubstr("s5           three          8                 4.00e-04        +inf  changed, regressed"));
  EXPECT_THAT(text, HasSubstr("head: aten::linear#2"));
}

TEST(RunSummary, ShowsTenFlipsAndCountsTheRest) {
  session::Session session = test::sampleSession();
  session.runs[0].flips.resize(13, session.runs[0].flips[0]);
  EXPECT_THAT(summaryOf(session), HasSubstr("  ... and 3 more\n"));
}

TEST(RunSummary, SaysInWordsThatNothingWasFound) {
  EXPECT_THAT(summaryOf(test::curedSession()),
              AllOf(HasSubstr("no non-finite values that the reference does not have"),
                    HasSubstr("0 of 256 decisions flip (below 1.2 % with 95 % confidence)"), Not(HasSubstr("no decision"))));
}

TEST(RunSummary, ComparesWithTheRunBefore) {
  EXPECT_THAT(summaryOf(test::curedSession()),
              HasSubstr("Against run_0001 (FP16): non-finite origins 1 -> 0, flips 3 -> 0, without decision 2 -> 0"));
}

TEST(RunSummary, RanksWorstSitesAndLeavesOutWhatWasNotCompared) {
  const std::string text = summaryOf(test::sampleSession());
  const auto first = text.find("     +inf      2.25  float16   s17          encoder.0.ffn.wo: aten::linear");
  const auto second = text.find("    0.012      0.75  float16   s17          head: aten::linear#2");
  ASSERT_NE(first, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second);
  EXPECT_THAT(text.substr(text.find("WORST OP SITES")), Not(HasSubstr("NaN")));
}

TEST(RunSummary, NothingComparedIsNeverAPass) {
  session::Session session = test::sampleSession();
  session.runs[0].sites.clear();
  session.runs[0].nonfiniteOrigins.clear();
  session.runs[0].decisions.clear();
  session.runs[0].flips.clear();
  EXPECT_THAT(summaryOf(session), AllOf(HasSubstr("not evaluated: no op was compared"), HasSubstr("do not trust this run"),
                                        HasSubstr("not evaluated: no sample has a decision in both runs")));
}

TEST(RunSummary, NamesAnIncompleteRunAndAFailedProbeCheck) {
  session::Session session = test::sampleSession();
  session.runs[0].status = session::RunStatus::partial;
  session.runs[0].samplesComplete = 64;
  session.runs[0].probeCheck = "differs";
  EXPECT_THAT(summaryOf(session), AllOf(HasSubstr("NOT COMPLETE (partial): 64 of 256 samples were compared"),
                                        HasSubstr("PROBE CHECK FAILED")));
}

TEST(RunSummary, ShowsACandidateThatRaisedAndOtherControlFlow) {
  session::Session session = test::sampleSession();
  session.runs[0].candidateError = session::CandidateError{"aten::mm", "block", "expected Half but found Float"};
  session.runs[0].controlFlow = {{"block", "prim::Loop", "3 trips in the reference, 4 in the candidate"}};
  EXPECT_THAT(summaryOf(session), AllOf(HasSubstr("THE FP16 RUN RAISED\n  aten::mm in block: expected Half but found Float"),
                                        HasSubstr("CONTROL FLOW DIVERGED\n  prim::Loop in block: 3 trips")));
}

TEST(RunSummary, EndsWithWhereTheSessionLiesAndHowToOpenIt) {
  const std::string text = summaryOf(test::sampleSession());
  EXPECT_THAT(text, testing::EndsWith("Session: ffn-fp16.ulps (run_0001); open it with: ulpscope gui ffn-fp16.ulps\n"));
  EXPECT_THAT(text, HasSubstr("warning: stored in float16: not pure FP32"));
}

}  // namespace
}  // namespace ulpscope::report
