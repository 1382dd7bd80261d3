// What a run holds besides its first findings (tests/support/fixtures/observed.py).
#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::engine {
namespace {

using session::Metric;
using tests::expectMetrics;
using tests::runOf;
using tests::siteAt;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

session::RunRequest observed(const std::string& name) { return tests::requestFor("observed/" + name); }

TEST(EveryNumber, OfALinearLayerIsThatOfNumpy) {
  const RunOutcome outcome = runOf(observed("Exact"));
  expectMetrics(outcome, siteAt(outcome, "lin", "aten::linear"), tests::expectedOf("observed/Exact").at("linear"));
}

TEST(EveryNumber, OfAnOpThatDoesNotLieContiguouslyIsThatOfNumpy) {
  const RunOutcome outcome = runOf(observed("Exact"));
  const std::int64_t site = siteAt(outcome, "", "aten::mul");
  const auto expected = tests::expectedOf("observed/Exact");
  EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(site)].sampleAxis, "1");
  expectMetrics(outcome, site, expected.at("mul"));
  expectMetrics(outcome, site, {{"introduced_rel_l2", expected.at("mul_introduced")}, {"inherited_rel_l2", expected.at("mul_inherited")}});
}

std::vector<session::ModuleOutput> outputsOf(const RunOutcome& outcome, const std::string& path) {
  std::vector<session::ModuleOutput> found;
  std::copy_if(outcome.run.moduleOutputs.begin(), outcome.run.moduleOutputs.end(), std::back_inserter(found), [&](const auto& o) { return o.modulePath == path; });
  return found;
}

TEST(ModuleOutputs, InAnotherOrderAreNoWholeOutput) {
  const RunOutcome outcome = runOf(observed("Exact"));  // gives back its last result transposed
  const auto root = outputsOf(outcome, "");
  ASSERT_EQ(root.size(), 1U);
  EXPECT_EQ(root[0].site, siteAt(outcome, "", "aten::mul"));
  EXPECT_TRUE(root[0].part);
}

TEST(ModuleOutputs, NameTheOpSiteThatMadeThem) {
  const RunOutcome outcome = runOf(observed("Modules"));
  const auto only = [&](const std::string& path) {
    const auto found = outputsOf(outcome, path);
    EXPECT_EQ(found.size(), 1U) << path;
    return found.empty() ? session::ModuleOutput{} : found.front();
  };
  EXPECT_EQ(only("stem.0").site, siteAt(outcome, "stem.0", "aten::linear"));
  EXPECT_EQ(only("stem.1").site, siteAt(outcome, "stem.1", "aten::relu"));
  EXPECT_EQ(only("stem").site, only("stem.1").site) << "a container has its last module's output";
  EXPECT_EQ(only("head").site, only("").site);
  EXPECT_THAT(outputsOf(outcome, "same"), IsEmpty()) << "no op made the model's input";
}

TEST(ModuleOutputs, TellTheCallsOfOneModuleApart) {
  const RunOutcome outcome = runOf(observed("Modules"));
  const auto calls = outputsOf(outcome, "twice");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].call, 1);
  EXPECT_EQ(calls[1].call, 2);
  EXPECT_LT(calls[0].site, calls[1].site);
  for (const auto& call : calls) EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(call.site)].op, "aten::relu_") << "the op that wrote last";
}

TEST(ModuleOutputs, OfViewsAreThoseOfWhatTheyView) {
  const RunOutcome outcome = runOf(observed("Modules"));
  const std::int64_t made = outputsOf(outcome, "twice").at(1).site;
  ASSERT_EQ(outputsOf(outcome, "flat").size(), 1U);
  EXPECT_EQ(outputsOf(outcome, "flat")[0].site, made);
  EXPECT_FALSE(outputsOf(outcome, "flat")[0].part);
  ASSERT_EQ(outputsOf(outcome, "cut").size(), 1U);
  EXPECT_EQ(outputsOf(outcome, "cut")[0].site, made);
  EXPECT_TRUE(outputsOf(outcome, "cut")[0].part);
}

TEST(ModuleOutputs, OfATupleHaveTheirNames) {
  const RunOutcome outcome = runOf(observed("Modules"));
  const auto pair = outputsOf(outcome, "pair");
  ASSERT_EQ(pair.size(), 2U);
  EXPECT_EQ(pair[0].name, "output.0");
  EXPECT_EQ(pair[0].site, siteAt(outcome, "pair", "aten::add"));
  EXPECT_EQ(pair[1].name, "output.1");
  EXPECT_EQ(pair[1].site, siteAt(outcome, "pair", "aten::mul"));
}

TEST(ModuleOutputs, ThatWereWrittenInPartSinceHaveNoSite) {
  const RunOutcome outcome = runOf(observed("Written"));
  EXPECT_EQ(outputsOf(outcome, "lin").size(), 1U);
  for (const char* path : {"blank", "assembled"}) EXPECT_THAT(outputsOf(outcome, path), IsEmpty()) << path;
}

// Which samples are origins does not hang on who shares their batch.
TEST(ReferenceNonfinite, IsJudgedSampleBySample) {
  for (const int batchSize : {1, 3, 6}) {
    session::RunRequest request = observed("Infinite");
    request.settings.batchSize = batchSize;
    const RunOutcome outcome = runOf(request);
    const auto exp = std::find_if(outcome.run.referenceNonfinite.begin(), outcome.run.referenceNonfinite.end(), [](const auto& f) { return f.op == "aten::exp"; });
    ASSERT_NE(exp, outcome.run.referenceNonfinite.end()) << batchSize;
    EXPECT_THAT(exp->sampleIds, ElementsAre("4")) << batchSize;
    EXPECT_EQ(exp->counts.plusInf, 8) << batchSize;
  }
}

TEST(ModuleOutputs, AreTheSameForEveryBatch) {
  session::RunRequest request = observed("Modules");
  const std::size_t once = runOf(request).run.moduleOutputs.size();
  request.settings.batchSize = 2;
  EXPECT_EQ(runOf(request).run.moduleOutputs.size(), once);
}

// FP32's last bits at most: had the samples not been put back in order, the floor would be of order 1. Folded axes take part.
TEST(NoiseFloor, ComparesEachSampleWithItself) {
  session::RunRequest request = tests::requestFor("encoder_trace");
  request.settings.batchSize = 2;
  const RunOutcome outcome = runOf(request);
  std::int64_t measured = 0, folded = 0;
  for (const auto& site : outcome.run.sites) {
    if (!site.noiseFloorRelL2) continue;
    ++measured;
    folded += site.sampleAxis.find('n') != std::string::npos;
    EXPECT_LT(*site.noiseFloorRelL2, 1e-5) << session::siteLabel(site) << " " << site.sampleAxis;
  }
  EXPECT_GT(measured, 10);
  ASSERT_TRUE(outcome.run.noiseFloor.has_value());
  EXPECT_EQ(outcome.run.noiseFloor->skipped, "");
  ASSERT_FALSE(outcome.run.noiseFloor->outputs.empty());
  EXPECT_LT(outcome.run.noiseFloor->outputs[0].relL2, 1e-5);
}

TEST(NoiseFloor, AFlipThatFp32MakesItselfIsNotAmps) {
  session::RunRequest request = observed("OrderMatters");
  request.settings.decision = session::parseDecisionRule("argmax").value();
  const RunOutcome outcome = runOf(request);
  ASSERT_EQ(outcome.run.flips.size(), 1U);
  EXPECT_EQ(outcome.run.flips[0].sampleId, "0");
  EXPECT_TRUE(outcome.run.flips[0].withinNoiseFloor);
  ASSERT_TRUE(outcome.run.noiseFloor.has_value());
  EXPECT_THAT(outcome.run.noiseFloor->flips, ElementsAre("0"));
  EXPECT_EQ(outcome.run.noiseFloor->outputs.at(0).maxAbs, 1);
}

TEST(NoiseFloor, AFlipThatOnlyHalfMakesIsAmps) {
  session::RunRequest request = observed("OrderDoesNotMatter");
  request.settings.decision = session::parseDecisionRule("argmax").value();
  const RunOutcome outcome = runOf(request);
  ASSERT_EQ(outcome.run.flips.size(), 1U);
  EXPECT_FALSE(outcome.run.flips[0].withinNoiseFloor);
  EXPECT_THAT(outcome.run.noiseFloor->flips, IsEmpty());
  EXPECT_EQ(outcome.run.noiseFloor->outputs.at(0).maxAbs, 0);
}

TEST(NoiseFloor, IsNotMeasuredWhereTheModelDrawsRandomNumbers) {
  session::RunRequest request = observed("Drop");
  request.settings.trainMode = true;
  const RunOutcome outcome = runOf(request);
  ASSERT_TRUE(outcome.run.noiseFloor.has_value());
  EXPECT_THAT(outcome.run.noiseFloor->skipped, HasSubstr("random"));
  request.settings.noiseFloor = false;
  EXPECT_FALSE(runOf(request).run.noiseFloor.has_value());
}

// The model is exact in FP32, so float64 finds no error there, and the candidate's is the whole difference.
TEST(Referee, GivesEachRunItsOwnError) {
  session::RunRequest request = observed("Exact");
  request.settings.referee = true;
  const RunOutcome outcome = runOf(request);
  const auto& linear = outcome.run.sites[static_cast<std::size_t>(siteAt(outcome, "lin", "aten::linear"))];
  ASSERT_TRUE(linear.referenceErrorToFp64.has_value() && linear.candidateErrorToFp64.has_value());
  EXPECT_EQ(*linear.referenceErrorToFp64, 0);
  EXPECT_DOUBLE_EQ(*linear.candidateErrorToFp64, linear.values[Metric::relL2]);
}

TEST(Referee, DrawsTheMasksThatTheRunsDraw) {
  session::RunRequest request = observed("Drop");
  request.settings.trainMode = true;
  request.settings.referee = true;
  const RunOutcome outcome = runOf(request);
  const auto& out = outcome.run.sites[static_cast<std::size_t>(siteAt(outcome, "out", "aten::linear"))];
  ASSERT_TRUE(out.referenceErrorToFp64.has_value());
  EXPECT_GT(*out.referenceErrorToFp64, 1e-9) << "float64 was not another precision";
  EXPECT_LT(*out.referenceErrorToFp64, 1e-5) << "another mask would give about 1";
  EXPECT_LT(*out.candidateErrorToFp64, 1e-2);
  EXPECT_GT(*out.candidateErrorToFp64, 10 * *out.referenceErrorToFp64);
}

TEST(ObserveOutputs, FindsTheSameDecisionsAndNoSites) {
  session::RunRequest request = observed("OrderDoesNotMatter");
  request.settings.decision = session::parseDecisionRule("argmax").value();
  request.settings.observe = session::Observe::outputs;
  const RunOutcome outcome = runOf(request);
  EXPECT_THAT(outcome.run.sites, IsEmpty());
  EXPECT_EQ(outcome.run.flips.size(), 1U);
  EXPECT_EQ(outcome.run.outputs.at(0).maxAbs, 1);
}

TEST(ObserveOutputs, NamesTheSamplesWithNonFiniteOutputs) {
  session::RunRequest request = tests::requestFor("ffn_wo_overflow");
  const std::vector<std::string> full = runOf(request).run.nonfiniteSamples;
  ASSERT_THAT(full, Not(IsEmpty()));
  request.settings.observe = session::Observe::outputs;
  EXPECT_EQ(runOf(request).run.nonfiniteSamples, full);
}

TEST(OnlySamples, KeepTheirPlacesAmongAll) {
  session::RunRequest request = observed("Exact");
  request.settings.onlySamples = {"3", "2", "3"};
  const RunOutcome outcome = runOf(request);
  EXPECT_THAT(outcome.run.settings.onlySamples, ElementsAre("2", "3")) << "each once, in the set's order";
  const auto expected = tests::expectedOf("observed/Exact").at("linear").at("rel_l2");
  const std::int64_t site = siteAt(outcome, "lin", "aten::linear");
  EXPECT_EQ(outcome.samples.ids.size(), 5U);
  EXPECT_EQ(outcome.run.samplesComplete, 2);
  for (const std::int64_t s : {0, 1, 4}) {
    EXPECT_TRUE(std::isnan(outcome.metrics[Metric::relL2].at(site, s)));
    EXPECT_EQ(outcome.metrics.flags[static_cast<std::size_t>(site * 5 + s)], storage::kCellNotRun);
  }
  for (const std::int64_t s : {2, 3})
    EXPECT_NEAR(outcome.metrics[Metric::relL2].at(site, s), expected[static_cast<std::size_t>(s)].get<double>(), 1e-9);
  EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(site)].worstSample, 2);
}

TEST(OnlySamples, ThatDoNotExistAreRefused) {
  session::RunRequest request = observed("Exact");
  request.settings.onlySamples = {"7"};
  Engine engine;
  const auto outcome = engine.run(request, {}, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(outcome.error().message(), HasSubstr("--only-samples 7: is no sample id of the inputs"));
}

TEST(Progress, NamesItsStagesAndNeverLeavesLessThanNoTime) {
  session::RunRequest request = tests::requestFor("encoder_trace");
  request.settings.referee = true;
  request.settings.batchSize = 2;
  std::vector<std::string> stages;
  RunHooks hooks;
  hooks.progress = [&](const base::Progress& progress) {
    if (stages.empty() || stages.back() != progress.stage) stages.push_back(progress.stage);
    EXPECT_TRUE(progress.secondsLeft >= 0 || progress.secondsLeft == base::kUnknownTime);
    EXPECT_LE(progress.done, progress.total);
  };
  Engine engine;
  ASSERT_TRUE(engine.run(request, hooks, {}).ok());
  EXPECT_THAT(stages, ElementsAre("loading", "finding sample axes", "running", "noise floor", "referee in float64"));
}

}  // namespace
}  // namespace ulpscope::engine
