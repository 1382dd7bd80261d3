#include "core/report/run_observed.h"

#include "core/report/run_document.h"
#include "sample_run.h"

#include <gmock/gmock.h>

#include <cmath>

namespace ulpscope::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(RunObserved, TellsBothEndsOfAccumulation) {
  session::RunRecord run;
  EXPECT_EQ(accumulationText(run), "");
  run.settings.accumulate = session::Accumulate::pessimistic;
  run.accumulation = session::Accumulation{{{"logits", 2e-3, 1e-3, 3, 1}}, 2, 1, {"s4"}};
  EXPECT_EQ(accumulationText(run),
            "ACCUMULATION (a GPU may add up long sums in parts rounded to float16; this run: rounded parts)\n"
            "  output 'logits': relative L2 0.002 with rounded parts, 0.001 with float32 sums\n"
            "  flips: 2 with rounded parts, 1 with float32 sums\n"
            "  depends on it: s4\n");
  run.accumulation->flips = -1;
  EXPECT_THAT(accumulationText(run), Not(HasSubstr("flips")));
}

TEST(NoiseText, NamesTheFlipsThatFp32MakesItself) {
  session::RunRecord run = test::sampleSession().runs.front();
  EXPECT_EQ(noiseText(run), "");
  run.noiseFloor.emplace();
  run.noiseFloor->threads = 2;
  run.noiseFloor->outputs = {{"output", 2e-6, 1e-7}};
  EXPECT_THAT(noiseText(run), AllOf(HasSubstr("output 'output': relative L2 1.00e-07, max abs 2.00e-06"), HasSubstr("FP32 decides every sample as before"),
                                    Not(HasSubstr("not attributable"))));
  run.noiseFloor->flips = {"s5"};
  run.flips.front().withinNoiseFloor = true;
  EXPECT_THAT(noiseText(run), AllOf(HasSubstr("FP32 itself decides otherwise: s5"), HasSubstr("1 flip within the noise floor: not attributable to AMP (marked *)")));
  run.noiseFloor->skipped = "the candidate raised";
  EXPECT_EQ(noiseText(run), "NOISE FLOOR\n  not measured: the candidate raised\n");
}

TEST(NoiseText, OfAnOutputWithoutFiniteValuesIsNotEvaluated) {
  session::RunRecord run = test::sampleSession().runs.front();
  run.noiseFloor.emplace();
  run.noiseFloor->outputs = {{"empty", std::nan(""), std::nan("")}, {"logits", 0, 0}};
  EXPECT_THAT(noiseText(run), AllOf(HasSubstr("  output 'empty': not evaluated: no finite values\n  output 'logits': relative L2 0, max abs 0\n"), Not(HasSubstr("NaN"))));
}

TEST(CaptureText, ListsWhatTheBudgetLeftOut) {
  session::RunRecord run = test::sampleSession().runs.front();
  EXPECT_EQ(captureText(run, "s.ulps"), "");
  run.capture.emplace();
  run.capture->budget = 1 << 30;
  run.capture->sites = {{0, 400000}, {1, 200000}};
  EXPECT_THAT(captureText(run, "s.ulps"), StartsWith("CAPTURED\n  2 op sites in full, both runs: 585.9 KiB of the budget of 1 GiB\n  in s.ulps.d/"));
  run.capture->leftOut = {{2, 5 << 20, "budget"}};
  EXPECT_THAT(captureText(run, "s.ulps"),
              AllOf(HasSubstr("LEFT OUT for want of budget (--capture-budget): 1 op site\n"), HasSubstr("5 MiB  " + session::siteLabel(run.sites[2]))));
  run.capture->sites.clear();
  EXPECT_THAT(captureText(run, "s.ulps"), Not(HasSubstr(".h5")));
}

// The names: core/storage/FORMAT.md; that they are in the file: CliRun.NamesWhereWhatItCapturedIs.
TEST(CaptureText, SaysWhereItIsAndHowItIsCalled) {
  session::RunRecord run = test::sampleSession().runs.front();
  run.number = 12;
  run.capture.emplace();
  run.capture->sites = {{0, 400000}};
  EXPECT_THAT(captureText(run, "a/s.ulps"), HasSubstr("  in a/s.ulps.d/run-0012.tensors.h5: /run_0012/captures/capture_NNNNNN/reference and candidate; attribute 'label' of capture_NNNNNN: its op site\n"));
  run.capture->sites = {{2, 400000}};  // of the whole batch
  EXPECT_THAT(captureText(run, "s.ulps"), HasSubstr("/reference and candidate (reference_b0000, ... where batches stand apart); attribute"));
}

TEST(RefereeText, GivesTheRatioOfTheErrors) {
  session::Session session = test::sampleSession();
  session::RunRecord& run = session.runs.front();
  EXPECT_EQ(refereeText(session, run), "");
  run.settings.referee = true;
  EXPECT_THAT(refereeText(session, run), HasSubstr("not evaluated"));
  run.sites[0].referenceErrorToFp64 = 1e-7;
  run.sites[0].candidateErrorToFp64 = 4e-4;
  EXPECT_THAT(refereeText(session, run), StartsWith("REFEREE (relative L2 against float64, worst sample)\n  candidate      FP32 candidate/FP32  op site\n"
                                                    "   4.00e-04  1.00e-07           4000  encoder.0.ffn.wi: aten::linear\n"));
}

TEST(RefereeText, SaysOfHowManySamplesItsWorstIs) {
  session::Session session = test::sampleSession();
  session::RunRecord& run = session.runs.front();
  run.settings.referee = true;
  run.sites[0].referenceErrorToFp64 = run.sites[0].candidateErrorToFp64 = 1e-7;
  run.settings.onlySamples = {"s1", "s2"};
  EXPECT_THAT(refereeText(session, run), StartsWith("REFEREE (relative L2 against float64, worst sample, of the 2 samples compared)\n"));
  run.settings.onlySamples.clear();
  run.status = session::RunStatus::partial;
  run.samplesComplete = 64;
  EXPECT_THAT(refereeText(session, run), HasSubstr("worst sample, of the 64 samples compared)"));
  run.candidateError.emplace();
  EXPECT_EQ(refereeText(session, run), "REFEREE (float64)\n  not measured: the candidate raised\n");
}

TEST(RunSummary, OfSomeSamplesCountsTheirDecisionsOnly) {
  session::Session session = test::curedSession();
  session::RunRecord& run = session.runs.back();
  run.settings.onlySamples = {session.samples.ids[0], session.samples.ids[1]};
  for (std::size_t i = 2; i < run.decisions.size(); ++i) run.decisions[i] = {std::nan(""), std::nan("")};
  EXPECT_THAT(runSummary(session, run, "s.ulps"), AllOf(HasSubstr("0 of 2 decisions flip"), HasSubstr("run_0002: ffn.ts, 2 of 256 samples, 5 op sites\n"), HasSubstr("Only these samples: s0, s1\n"), Not(HasSubstr("no decision"))));
}

TEST(RunSummary, CountsWhatBrokeOffAmongTheSamplesThatWereAskedFor) {
  session::Session session = test::curedSession();
  session::RunRecord& run = session.runs.back();
  run.settings.onlySamples = {"s0", "s1"};
  run.status = session::RunStatus::partial;
  run.samplesComplete = 1;
  EXPECT_THAT(runSummary(session, run, "s.ulps"), HasSubstr("NOT COMPLETE (partial): 1 of 2 samples were compared"));
}

TEST(RunSummary, SaysWhatItsWordsMeanWhereItUsesThem) {
  session::Session session = test::curedSession();
  session::RunRecord& run = session.runs.back();
  run.noiseFloor.emplace();
  EXPECT_THAT(runSummary(session, run, "s.ulps"), HasSubstr("\nWords: op site = one call of an op in a module; introduced = what the op adds on FP32's own inputs; noise floor = "
                                                            "FP32 against itself in another order\n"));
  run.noiseFloor->skipped = "the candidate raised";
  run.settings.observe = session::Observe::stats;
  EXPECT_THAT(runSummary(session, run, "s.ulps"), HasSubstr("\nWords: op site = one call of an op in a module\n"));
}

TEST(RunSummary, OfOutputsAloneSaysThatNoOpWasLookedAt) {
  session::Session session = test::curedSession();
  session::RunRecord& run = session.runs.back();
  run.settings.observe = session::Observe::outputs;
  run.sites.clear();
  run.flips.clear();
  run.nonfiniteSamples = {"s1"};
  EXPECT_THAT(runSummary(session, run, "s.ulps"), AllOf(StartsWith("run_0002: ffn.ts, 256 samples\n"), HasSubstr("no op was looked at"), Not(HasSubstr("Words:")), HasSubstr("outputs of 1 sample: s1"), Not(HasSubstr("do not trust"))));
}

}  // namespace
}  // namespace ulpscope::report
