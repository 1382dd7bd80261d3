// Two trainings that users reported, and what their skips are owed to. Expected: numpy (tests/support/fixtures/training.py).
#include "tests/core/train/train_fixture.h"

#include <gmock/gmock.h>

#include <cmath>

namespace ulpscope::train {
namespace {

using tests::recipeOn;
using tests::trainedRun;

nlohmann::json loudLoss(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json recipe = recipeOn("training_loud_loss", {{"steps", 16}, {"batch_size", 4}});
  recipe.update(changes);
  return recipe;
}

TEST(LoudLoss, SkipsTheFirstTwelveStepsAndEndsAtScale16) {
  const nlohmann::json expected = tests::expectedOf("training_loud_loss");
  const session::Trajectory run = trainedRun(loudLoss());
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.skipped().at("sgd"), expected.at("skipped").get<std::vector<std::int64_t>>());
  std::vector<double> scales{run.ledger.front().scaleBefore};
  for (const session::LedgerLine& line : run.ledger) scales.push_back(line.scaleAfter);
  EXPECT_EQ(scales, expected.at("scales").get<std::vector<double>>());
  EXPECT_EQ(run.finalScale, 16);
  EXPECT_EQ(run.appliedUpdates, 4);
  EXPECT_THAT(run.violations, testing::IsEmpty());
}

TEST(LoudLoss, NamesOpAndModuleOfEachSkip) {
  const nlohmann::json expected = tests::expectedOf("training_loud_loss");
  const session::Trajectory run = trainedRun(loudLoss());
  for (std::size_t step = 0; step < 12; ++step) {
    const auto& first = run.ledger.at(step).firstNonfinite;
    ASSERT_TRUE(first) << step;
    EXPECT_EQ(first->stage, "gradient");
    EXPECT_EQ(first->op, "aten::linear");
    EXPECT_EQ(first->modulePath, "layer");
    EXPECT_EQ(first->kind, "inf");
    EXPECT_EQ(first->step, static_cast<std::int64_t>(step));
    EXPECT_NE(first->source, "");
    const auto parameters = expected.at("culprits")[step].at("parameters").get<std::vector<std::string>>();
    EXPECT_THAT(parameters, testing::Contains(first->parameter)) << step;
  }
  EXPECT_EQ(run.ledger.at(11).firstNonfinite->parameter, "layer.bias") << "the weight's gradient fits by then";
  EXPECT_FALSE(run.ledger.at(12).firstNonfinite);
  EXPECT_EQ(run.firstNonfinite->step, 0);
}

TEST(LoudLoss, RaisesTheAlarmOfSkipsInARow) {
  const session::Trajectory run = trainedRun(loudLoss());
  const session::Alarm* alarm = tests::alarmOf(run, "skips_in_a_row");
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->step, 4);
  EXPECT_FALSE(tests::alarmOf(run, "no_update"));
  EXPECT_FALSE(tests::alarmOf(run, "forward_nonfinite"));
}

TEST(LoudLoss, SkipsTheSameWithAllSamplesWhereTheBatchIsLarger) {
  const TrainingOutcome outcome = tests::trained(loudLoss({{"batch_size", 32}}));
  EXPECT_EQ(outcome.training.run("recipe")->finalScale, 16);
  EXPECT_THAT(outcome.training.warnings, testing::Contains(testing::HasSubstr("4 samples")));
}

TEST(LoudLoss, IsNoTroubleInFp32) {
  const session::Trajectory run = trainedRun(loudLoss(), "fp32");
  EXPECT_TRUE(run.skipped().at("sgd").empty());
  EXPECT_TRUE(run.alarms.empty());
  EXPECT_EQ(run.finalScale, 1);
}

TEST(LoudLoss, StopsADiagnosisWhereTheRecipeSaysSo) {
  const session::Trajectory run = trainedRun(loudLoss({{"on_nonfinite", "stop"}}));
  EXPECT_EQ(run.steps, 0);
  EXPECT_THAT(run.error, testing::AllOf(testing::HasSubstr("step 0"), testing::HasSubstr("stage gradient"), testing::HasSubstr("aten::linear in layer")));
  ASSERT_EQ(run.ledger.size(), 1U) << "the account of the step that stopped it";
  EXPECT_TRUE(run.ledger[0].skipped);
}

// The rate runs ahead where the scheduler steps each iteration.
TEST(LoudLoss, KeepsAnUnconditionalScheduleApartFromUpdates) {
  const nlohmann::json schedule = {{"type", "StepLR"}, {"step_size", 1}, {"gamma", 0.5}, {"rule", "per_iteration"}};
  const session::Trajectory every = trainedRun(loudLoss({{"scheduler", schedule}}));
  EXPECT_EQ(every.schedulerSteps, 16);
  EXPECT_EQ(every.appliedUpdates, 4);
  EXPECT_EQ(tests::rulesOf(every), std::vector<std::string>(12, "schedule_on_skipped_update"));
  nlohmann::json perUpdate = schedule;
  perUpdate["rule"] = "per_update";
  const session::Trajectory real = trainedRun(loudLoss({{"scheduler", perUpdate}}));
  EXPECT_EQ(real.schedulerSteps, 4);
  EXPECT_THAT(real.violations, testing::IsEmpty());
}

double zeroFraction(const session::Trajectory& run, const std::string& name) {
  for (const auto& parameter : run.parameters)
    if (parameter.name == name) return parameter.zeroFraction();
  return -1;
}

void expectZeroFractions(const session::Trajectory& run, const std::string& which) {
  const nlohmann::json expected = tests::expectedOf("training_flat_gradients").at("zero").at(which);
  ASSERT_EQ(expected.size(), 4U);
  for (const auto& [name, share] : expected.items()) EXPECT_NEAR(zeroFraction(run, name), share.get<double>(), 0.03) << which << " " << name;
}

nlohmann::json flat(const nlohmann::json& scaler) { return recipeOn("training_flat_gradients", {{"batch_size", 64}, {"scaler", scaler}}); }

TEST(FlatGradients, AreZeroInFp16WithoutScaleAndNotWithIt) {
  const TrainingOutcome without = tests::trained(flat(nullptr)), with = tests::trained(flat(nlohmann::json::object()));
  expectZeroFractions(*without.training.run("recipe"), "fp16_1");
  expectZeroFractions(*without.training.run("fp32"), "fp32");
  expectZeroFractions(*with.training.run("recipe"), "fp16_65536");
  EXPECT_EQ(without.training.run("recipe")->ledger[0].zeroShare, 1);
  EXPECT_FALSE(without.training.run("recipe")->ledger[0].foundInf);
  EXPECT_TRUE(tests::alarmOf(*without.training.run("recipe"), "gradients_flushed_to_zero"));
  EXPECT_FALSE(tests::alarmOf(*with.training.run("recipe"), "gradients_flushed_to_zero"));
}

// At scale 16 a part of them survives: shares that neither extreme has.
TEST(FlatGradients, AreZeroInPartAtAScaleBetween) {
  expectZeroFractions(tests::trainedRun(flat({{"init_scale", 16}})), "fp16_16");
  const nlohmann::json shares = tests::expectedOf("training_flat_gradients").at("zero").at("fp16_16");
  EXPECT_TRUE(std::any_of(shares.begin(), shares.end(), [](const auto& share) { return share > 0.02 && share < 0.5; }));
}

TEST(FlatGradients, AreLostAtTheHeadsOutput) {
  const session::Trajectory run = tests::trainedRun(flat(nullptr));
  bool seen = false;
  for (const session::GradientSite& site : run.gradientSites)
    if (site.op == "aten::linear" && site.modulePath == "net.head") {
      seen = true;
      EXPECT_EQ(site.zeroShare, 1);
      EXPECT_EQ(site.relL2, 1) << "all of it is gone";
      EXPECT_GT(site.referenceNorm, 0);
    }
  EXPECT_TRUE(seen);
}

// The outputs' rounding to FP16 is as large as what they miss: the distance is numpy's, not small.
TEST(FlatGradients, AreAsFarFromFp32sAsNumpySays) {
  const double expected = tests::expectedOf("training_flat_gradients").at("head_distance");
  ASSERT_GT(expected, 0.05);
  const session::Trajectory run = tests::trainedRun(flat(nlohmann::json::object()));
  for (const session::GradientSite& site : run.gradientSites)
    if (site.op == "aten::linear" && site.modulePath == "net.head") {
      EXPECT_NEAR(site.relL2, expected, 0.01 * expected);
      EXPECT_EQ(site.nonfiniteShare, 0);
      return;
    }
  FAIL() << "net.head has no site";
}

}  // namespace
}  // namespace ulpscope::train
