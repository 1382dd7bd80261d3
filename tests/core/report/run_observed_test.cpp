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

TEST(SizeText, IsDecimal) {
  EXPECT_EQ(sizeText(0), "0 bytes");
  EXPECT_EQ(sizeText(999), "999 bytes");
  EXPECT_EQ(sizeText(1500), "1.5 kB");
  EXPECT_EQ(sizeText(64LL << 20), "67.1 MB");
  EXPECT_EQ(sizeText(2500000000), "2.50 GB");
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

TEST(CaptureText, ListsWhatTheBudgetLeftOut) {
  session::RunRecord run = test::sampleSession().runs.front();
  EXPECT_EQ(captureText(run), "");
  run.capture.emplace();
  run.capture->budget = 1000000;
  run.capture->sites = {{0, 400000}, {1, 200000}};
  EXPECT_EQ(captureText(run), "CAPTURED\n  2 op sites in full, both runs: 600.0 kB of the budget of 1.0 MB\n");
  run.capture->leftOut = {{2, 5000000, "budget"}};
  EXPECT_THAT(captureText(run), AllOf(HasSubstr("LEFT OUT for want of budget (--capture-budget): 1 op site\n"), HasSubstr("5.0 MB  " + session::siteLabel(run.sites[2]))));
}

TEST(RefereeText, GivesTheRatioOfTheErrors) {
  session::RunRecord run = test::sampleSession().runs.front();
  EXPECT_EQ(refereeText(run), "");
  run.settings.referee = true;
  EXPECT_THAT(refereeText(run), HasSubstr("not evaluated"));
  run.sites[0].referenceErrorToFp64 = 1e-7;
  run.sites[0].candidateErrorToFp64 = 4e-4;
  EXPECT_THAT(refereeText(run), HasSubstr("4.00e-04  1.00e-07     4000"));
}

TEST(RunSummary, OfSomeSamplesCountsTheirDecisionsOnly) {
  session::Session session = test::curedSession();
  session::RunRecord& run = session.runs.back();
  run.settings.onlySamples = {session.samples.ids[0], session.samples.ids[1]};
  for (std::size_t i = 2; i < run.decisions.size(); ++i) run.decisions[i] = {std::nan(""), std::nan("")};
  EXPECT_THAT(runSummary(session, run, "s.ulps"), AllOf(HasSubstr("0 of 2 decisions flip"), HasSubstr("Only 2 of 256 samples"), Not(HasSubstr("no decision"))));
}

TEST(RunSummary, OfOutputsAloneSaysThatNoOpWasLookedAt) {
  session::Session session = test::curedSession();
  session::RunRecord& run = session.runs.back();
  run.settings.observe = session::Observe::outputs;
  run.sites.clear();
  run.flips.clear();
  run.nonfiniteSamples = {"s1"};
  EXPECT_THAT(runSummary(session, run, "s.ulps"), AllOf(HasSubstr("no op was looked at"), HasSubstr("outputs of 1 sample: s1"), Not(HasSubstr("do not trust"))));
}

}  // namespace
}  // namespace ulpscope::report
