#include "core/report/run_document.h"

#include "sample_run.h"

#include <gmock/gmock.h>

#include <limits>

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

TEST(RunSummary, SaysWhereARecordingWasMade) {
  session::Session session = test::sampleSession();
  session::RunRecord& run = session.runs.back();
  run.settings.mode = session::Mode::recorded;
  run.settings.device = "cuda:0 (NVIDIA H200)";
  run.libtorchVersion = "2.6.0";
  run.policyTable = "cuda@2.6";
  EXPECT_THAT(summaryOf(session), HasSubstr("FP16 autocast (cuda@2.6, recorded on cuda:0 (NVIDIA H200) with PyTorch 2.6.0) against FP32"));
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
  const auto first = text.find("     +inf          -      2.25  float16   s17          encoder.0.ffn.wo: aten::linear");
  const auto second = text.find("    0.012   5.00e-04      0.75  float16   s17          head: aten::linear#2");
  ASSERT_NE(first, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second);
  EXPECT_THAT(text.substr(text.find("WORST OP SITES")), Not(HasSubstr("NaN")));
}

TEST(RunSummary, SaysThatASitesErrorIsTheWorstSamplesAndAnOutputsIsOverAll) {
  EXPECT_THAT(summaryOf(test::sampleSession()),
              AllOf(HasSubstr("WORST OP SITES (relative L2, worst sample, over finite values)\n     rel L2 introduced   max abs"),
                    HasSubstr("  output 'logits': relative L2 0.012 over all its finite values, max abs 0.75; NON-FINITE: 20 NaN, 0 +inf, 0 -inf\n")));
}

TEST(RunSummary, NamesTheLargestIntroducedErrorWhateverTheLargestErrorIs) {
  session::Session session = test::sampleSession();
  auto& sites = session.runs[0].sites;
  EXPECT_THAT(summaryOf(session), HasSubstr("  largest introduced error: 5.00e-04 at head: aten::linear#2\n"));
  sites[0].values[session::Metric::introducedRelL2] = std::numeric_limits<double>::quiet_NaN();  // first in order: it must not hide the others
  EXPECT_THAT(summaryOf(session), HasSubstr("  largest introduced error: 5.00e-04 at head: aten::linear#2\n"));
  sites[0].values[session::Metric::introducedRelL2] = 0;
  sites[3].values[session::Metric::introducedRelL2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(summaryOf(session), Not(HasSubstr("largest introduced error")));
}

TEST(RunSummary, CountsTheValuesOfAnIntegerOutputThatDiffer) {
  session::Session session = test::sampleSession();
  session::OutputSummary ids;
  ids.name = "ids";
  ids.dtype = base::DType::int64;
  ids.elements = 7;
  session.runs[0].outputs = {ids};
  EXPECT_THAT(summaryOf(session), HasSubstr("OUTPUTS\n  output 'ids': all 7 values are equal\n"));
  session.runs[0].outputs[0].differingElements = 4;
  EXPECT_THAT(summaryOf(session), HasSubstr("OUTPUTS\n  output 'ids': 4 of 7 values differ\n"));
  session.runs[0].outputs[0].elements = 0;
  EXPECT_THAT(summaryOf(session), HasSubstr("OUTPUTS\n  output 'ids': no values compared\n"));
}

TEST(RunSummary, AnOutputWithoutAFiniteValueIsNotEvaluated) {
  session::Session session = test::sampleSession();
  session.runs[0].outputs[0].relL2.reset();
  EXPECT_THAT(summaryOf(session), HasSubstr("output 'logits': not evaluated: no value is finite in both runs; NON-FINITE: 20 NaN"));
}

TEST(RunSummary, ListsSitesWithoutADistanceThatDifferByCount) {
  session::Session session = test::sampleSession();
  auto& sites = session.runs[0].sites;
  EXPECT_THAT(summaryOf(session), Not(HasSubstr("SITES THAT DIFFER")));
  for (auto& site : sites) site.differingElements = 9;  // floating ones have metrics instead
  sites[0].candidateDtype = base::DType::boolean;
  sites[2].candidateDtype = base::DType::int64;
  sites[2].differingElements = 1200;
  EXPECT_THAT(summaryOf(session), HasSubstr("INTEGER AND BOOL OP SITES THAT DIFFER\n  differing elements  dtype     op site\n"
                                            "               1,200  int64     (root): aten::add\n"
                                            "                   9  bool      encoder.0.ffn.wi: aten::linear\n\n"));
}

TEST(RunSummary, ASampleWithoutADecisionInFp32IsNoDecisionEither) {
  session::Session session = test::sampleSession();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  session.runs[0].decisions[2].referenceMargin = kNan;  // s2 has none in either run
  session.runs[0].decisions[9].referenceMargin = kNan;
  EXPECT_THAT(summaryOf(session), AllOf(HasSubstr("3 of 253 decisions flip"), HasSubstr("no decision for 2 samples (scores are NaN), not counted above: s1, s2\n"),
                                        HasSubstr("no decision in FP32 itself for 1 sample (scores are NaN), not counted above: s9\n")));
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

TEST(RunSummary, OfACandidateThatRaisedSaysHowFarItsTablesGo) {
  session::Session session = test::sampleSession();
  session.runs[0].candidateError = session::CandidateError{"aten::mm", "block", "expected Half but found Float"};
  session.runs[0].status = session::RunStatus::partial;
  session.runs[0].samplesComplete = 0;
  session.runs[0].nonfiniteOrigins.clear();
  EXPECT_THAT(summaryOf(session),
              AllOf(HasSubstr("NOT COMPLETE (partial): 0 of 256 samples ran to the end; what follows takes in the ops of the next batch up to the error\n"),
                    HasSubstr("no non-finite values that the reference does not have, up to the error\n"),
                    HasSubstr("WORST OP SITES (relative L2, worst sample, over finite values, up to the error)\n"), Not(HasSubstr("were compared"))));
}

TEST(RunSummary, PrintsEqualLinesOfControlFlowOnceWithTheirNumber) {
  session::Session session = test::sampleSession();
  const session::ControlFlowFinding loop{"block", "prim::Loop", "3 trips in the reference, 4 in the candidate"}, mm{"", "aten::mm", "ran in the candidate only"};
  session.runs[0].controlFlow = {loop, mm, loop, loop};
  EXPECT_THAT(summaryOf(session), HasSubstr("CONTROL FLOW DIVERGED\n  prim::Loop in block: 3 trips in the reference, 4 in the candidate (3 times)\n"
                                            "  aten::mm in (root): ran in the candidate only\n\n"));
}

TEST(RunSummary, EndsWithWhereTheSessionLiesAndHowToOpenIt) {
  const std::string text = summaryOf(test::sampleSession());
  EXPECT_THAT(text, testing::EndsWith("Session: ffn-fp16.ulps (run_0001); open it with: ulpscope gui ffn-fp16.ulps\n"));
  EXPECT_THAT(text, HasSubstr("warning: stored in float16: not pure FP32"));
}

}  // namespace
}  // namespace ulpscope::report
