// Steps against PyTorch 1.13 (make_training_cases.py) and by hand: optimizers, schedulers, batches, accumulation, losses, clipping.
#include "core/train/batch_plan.h"
#include "core/train/gradient_statistics.h"
#include "core/train/learning_rates.h"
#include "core/train/optimizers.h"
#include "core/train/trajectory_run.h"
#include "tests/core/train/train_fixture.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cmath>
#include <limits>

namespace ulpscope::train {
namespace {

using nlohmann::json;
using tests::recipeOn;
using tests::trainedRun;

const double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

bool alarmIn(const session::Trajectory& run) {
  for (const session::Alarm& alarm : run.alarms) ADD_FAILURE() << alarm.id << " " << alarm.step << " " << alarm.text;
  return !run.alarms.empty();
}

json optimizerOf(const json& run) {
  json optimizer = {{"name", "o"}, {"type", run.at("type")}};
  for (const auto& [key, value] : run.at("options").items()) {
    if (key == "betas") optimizer["beta1"] = value[0], optimizer["beta2"] = value[1];
    else optimizer[key] = value;
  }
  return optimizer;
}

json schedulerOf(const std::string& name) {
  if (name == "step") return {{"type", "StepLR"}, {"step_size", 2}, {"gamma", 0.3}};
  if (name == "exponential") return {{"type", "ExponentialLR"}, {"gamma", 0.7}};
  if (name == "warmup") return {{"type", "LinearWarmup"}, {"step_size", 3}, {"gamma", 0.25}};
  return nullptr;
}

json netRecipe(const json& run) {
  return {{"model", tests::trainingCase("net.ts")}, {"inputs", tests::trainingCase("net_inputs.pt")}, {"loss", {{"kind", "cross_entropy"}}}, {"optimizers", {optimizerOf(run)}},
          {"scheduler", schedulerOf(run.at("scheduler"))}, {"accumulation", {{"steps", 2}}}, {"batch_size", 4}, {"steps", 5}};
}

at::Tensor weightsOf(const json& numbers, const at::Tensor& like) {
  return at::tensor(numbers.get<std::vector<double>>(), at::kDouble).to(at::kFloat).view(like.sizes());
}

// To a few units in the last place: PyTorch's Python adds the same numbers, in places in another order.
TEST(Fp32Steps, GiveTorchOptimsWeights) {
  for (const auto& expected : tests::trainingCases("steps")) {
    SCOPED_TRACE(expected.at("optimizer").get<std::string>() + ", " + expected.at("scheduler").get<std::string>());
    const session::Recipe recipe = session::recipeFromJson(netRecipe(expected)).value();
    const auto loaded = LoadedTraining::load(recipe);
    ASSERT_TRUE(loaded) << loaded.error().message();
    const TrainingHooks hooks;
    const TrainingFrame frame = loaded.value()->frame(recipe, hooks, {});
    const RunPlan plan{"fp32", std::nullopt, std::nullopt};
    TrajectoryRun run(frame, plan);
    for (int step = 0; step < 5; ++step) ASSERT_TRUE(run.step());
    for (const NamedParameter& parameter : run.model().parameters()) {
      const at::Tensor found = parameter.tensor.detach(), wanted = weightsOf(expected.at("weights").at(parameter.name), found);
      EXPECT_TRUE(at::allclose(found, wanted, /*rtol=*/5e-7, /*atol=*/5e-8)) << parameter.name << " " << (found - wanted).abs().max().item<double>();
    }
  }
}

TEST(Fp32Steps, KeepTorchOptimsAccount) {
  const json cases = tests::trainingCases("steps");
  ASSERT_EQ(cases.size(), 24U);
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.at("optimizer").get<std::string>() + ", " + expected.at("scheduler").get<std::string>());
    const session::Trajectory run = trainedRun(netRecipe(expected));
    ASSERT_EQ(run.ledger.size(), 5U);
    for (std::size_t step = 0; step < 5; ++step) {
      EXPECT_NEAR(run.ledger[step].loss, expected.at("losses")[step].get<double>(), 2e-7) << step;
      EXPECT_NEAR(run.ledger[step].lr, expected.at("rates")[step].get<double>(), 1e-12);
      EXPECT_NEAR(run.ledger[step].updateNorm, expected.at("updates")[step].get<double>(), 2e-6 * expected.at("updates")[step].get<double>()) << step;
      EXPECT_NEAR(run.ledger[step].gradNorm, expected.at("gradients")[step].get<double>(), 2e-6);
    }
    EXPECT_EQ(run.name, "recipe");
    EXPECT_THAT(run.violations, testing::IsEmpty());
    EXPECT_NEAR(*run.accuracy, expected.at("accuracy").get<double>(), 1e-12);
  }
}

TEST(Batches, TakeTheNextRowsAndWrapRound) {
  BatchPlan plan(5, 3, std::nullopt);
  EXPECT_THAT(plan.next(), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(plan.next(), testing::ElementsAre(3, 4, 0));
  EXPECT_THAT(plan.next(), testing::ElementsAre(1, 2, 3));
  BatchPlan few(2, 8, std::nullopt);
  EXPECT_THAT(few.next(), testing::ElementsAre(0, 1));
}

TEST(Batches, ShuffleEachEpochByTheSeed) {
  const auto epochs = [](std::uint64_t seed) {
    BatchPlan plan(50, 50, seed);
    return std::pair(plan.next(), plan.next());
  };
  const auto [first, second] = epochs(7);
  std::vector<std::int64_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, tests::stepsUpTo(50));
  EXPECT_NE(first, second);
  EXPECT_EQ(epochs(7).first, first);
  EXPECT_NE(epochs(8).first, first);
  BatchPlan plan(6, 6, 0);  // computed apart, in Python; a row may stay where it is
  EXPECT_THAT(plan.next(), testing::ElementsAre(4, 2, 5, 3, 0, 1));
  EXPECT_THAT(plan.next(), testing::ElementsAre(5, 3, 0, 1, 2, 4));
  std::uint64_t state = 1234567;  // the reference sequence of prng.di.unimi.it/splitmix64.c
  EXPECT_EQ(nextRandom(state), 6457827717110365317ULL);
  EXPECT_EQ(nextRandom(state), 3203168211198807973ULL);
}

TEST(Statistics, CountWhatTheySay) {
  const at::Tensor gradient = at::tensor({0.0, -0.0, 0x1p-15, -0x1p-14, 3.0, 4.0}, at::kDouble).to(at::kFloat);
  const GradientStatistics s = statisticsOf(gradient, 0x1p-14);
  EXPECT_EQ(s.elements, 6);
  EXPECT_EQ(s.zeros, 2);
  EXPECT_EQ(s.subnormals, 1) << "2^-14 is normal in half";
  EXPECT_EQ(s.nonfinite, 0);
  EXPECT_NEAR(s.squares, 25 + 0x1p-30 + 0x1p-28, 1e-15);
  const GradientStatistics bad = statisticsOf(at::tensor({1.0, kInf, -kInf, kNan}, at::kDouble), 0);
  EXPECT_EQ(bad.nonfinite, 3);
  EXPECT_TRUE(bad.hasNan);
  EXPECT_TRUE(std::isnan(bad.squares));
  EXPECT_EQ(statisticsOf(at::tensor({kInf}), 0).squares, kInf);
  EXPECT_EQ(statisticsOf(at::empty({0}), 1).share(0), 0);
  const at::Tensor many = at::arange(1000, at::kFloat).view({10, 100}).t();
  EXPECT_NEAR(statisticsOf(many, 1).squares, 999.0 * 1000 * 1999 / 6, 1e-3) << "strided; 1 + 4 + 9 + ...";
  EXPECT_NEAR(squaredDistance(many, many + 0.5), 250, 1e-6);
}

TEST(Parameters, AreTakenByGlobsOnce) {
  const auto optimizer = [](const std::string& name, std::vector<std::string> globs) {
    session::OptimizerRecipe o;
    o.name = name;
    o.parameters = std::move(globs);
    return o;
  };
  const std::vector<std::string> names{"body.weight", "body.bias", "head.weight"};
  const auto taken = assignParameters({optimizer("a", {"body.*"}), optimizer("b", {"head.weight"})}, names);
  ASSERT_TRUE(taken);
  EXPECT_THAT(taken.value(), testing::ElementsAre(testing::ElementsAre(0, 1), testing::ElementsAre(2)));
  const auto nothing = assignParameters({optimizer("a", {"boddy.*"})}, names);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(nothing.error().message(), testing::AllOf(testing::HasSubstr("'boddy.*' matches no parameter"), testing::HasSubstr("body.")));
  const auto twice = assignParameters({optimizer("a", {"*"}), optimizer("b", {"head.*"})}, names);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message(), testing::AllOf(testing::HasSubstr("'head.weight' is also a parameter of optimizer a"), testing::HasSubstr("optimizer b")));
}

// The demo's network from nothing: a second of training each.
TEST(Digits, AreLearntInFp16AsInFp32) {
  const TrainingOutcome outcome = tests::trained({{"model", tests::trainingCase("digits.ts")}, {"inputs", ULPSCOPE_TEST_DEMO "/inputs.h5"}, {"loss", {{"kind", "cross_entropy"}}},
                                                  {"optimizers", {{{"type", "Adam"}, {"lr", 0.002}}}}, {"autocast", {{"dtype", "float16"}}}, {"scaler", json::object()}, {"steps", 400}, {"shuffle", 1}});
  const session::Trajectory& half = *outcome.training.run("recipe");
  const session::Trajectory& whole = *outcome.training.run("fp32");
  EXPECT_GT(*whole.accuracy, 0.95);
  EXPECT_NEAR(*half.accuracy, *whole.accuracy, 0.005);
  EXPECT_LT(half.finalLoss(), 0.4 * half.ledger.front().loss);
  EXPECT_EQ(half.appliedUpdates + static_cast<std::int64_t>(half.skipped().begin()->second.size()), 400);
  EXPECT_FALSE(alarmIn(half));
}

// The gradient of 0.25 sum(x w + b) is 0.25 sum(x): two micro-batches of one row each are as good as both rows at once, but for the division.
TEST(Accumulation, AddsMicroBatchesDividedOrNot) {
  const json calm = {{{"name", "calm"}, {"type", "SGD"}, {"lr", 0.0}, {"parameters", {"calm.weight"}}}};
  const auto norm = [&](std::int64_t steps, std::int64_t rows, bool divides) {
    return trainedRun(recipeOn("training_two_losses", {{"optimizers", calm}, {"scaler", nullptr}, {"batch_size", rows}, {"accumulation", {{"steps", steps}, {"divide_loss", divides}}}})).ledger[0].gradNorm;
  };
  const double whole = 0.25 * std::sqrt(0.75 * 0.75 + 0.25 * 0.25 + 0.5 * 0.5);  // of the rows' sum (0.75, 0.25, 0.5)
  EXPECT_NEAR(norm(1, 2, true), whole, 1e-9);
  EXPECT_NEAR(norm(2, 1, false), whole, 1e-9);
  EXPECT_NEAR(norm(2, 1, true), whole / 2, 1e-9);
}

json twoOptimizers(double calmRate = 0.5) {
  return {{{"name", "calm"}, {"type", "SGD"}, {"lr", calmRate}, {"parameters", {"calm.*"}}, {"loss", 0}},
          {{"name", "loud"}, {"type", "SGD"}, {"lr", 0.5}, {"parameters", {"loud.*"}}, {"loss", 1}}};
}

// The loud loss gives 64 x scale to each of two outputs, and the bias their sum: at scale 512 that is 65,536, which is no half number, at 256
// it is 32,768. From 65,536 down to 512 the scale is halved eight times.
TEST(TwoOptimizers, OneSkipsTheOtherStepsAndTheScaleIsBoths) {
  const session::Trajectory run = trainedRun(recipeOn("training_two_losses", {{"optimizers", twoOptimizers()}, {"steps", 10}}));
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.skipped().at("loud"), tests::stepsUpTo(8));
  EXPECT_TRUE(run.skipped().at("calm").empty());
  EXPECT_EQ(run.finalScale, 256);
  EXPECT_EQ(run.appliedUpdates, 10);
  const session::LedgerLine& calm = run.ledger[0];
  const session::LedgerLine& loud = run.ledger[1];
  EXPECT_FALSE(calm.foundInf);
  EXPECT_TRUE(loud.foundInf);
  EXPECT_FALSE(calm.firstNonfinite);
  EXPECT_EQ(loud.firstNonfinite->modulePath, "loud");
  EXPECT_EQ(calm.scaleAfter, 32768);
  EXPECT_NEAR(calm.updateNorm, 0.5 * calm.gradNorm, 1e-6);
  EXPECT_EQ(loud.updateNorm, 0);
}

// A half mean: its gradient is the scale, and 65,536 is no half number. 32,768 is.
TEST(HalfLoss, CannotCarry65536) {
  const auto skips = [](double scale) { return trainedRun(recipeOn("training_half_loss", {{"scaler", {{"init_scale", scale}}}})); };
  const session::Trajectory skipped = skips(65536);
  EXPECT_TRUE(skipped.ledger[0].skipped);
  EXPECT_EQ(skipped.ledger[0].firstNonfinite->op, "aten::mean");
  EXPECT_EQ(skipped.ledger[0].firstNonfinite->modulePath, "");
  EXPECT_FALSE(skips(32768).ledger[0].skipped);
}

TEST(Clip, TakesTheNormOfUnscaledGradients) {
  const json calm = {{{"name", "calm"}, {"type", "SGD"}, {"lr", 1.0}, {"parameters", {"calm.weight"}}}};
  const session::Trajectory run = trainedRun(recipeOn("training_two_losses", {{"optimizers", calm}, {"clip", {{"norm", 0.1}}}, {"scaler", {{"init_scale", 1024}}}}));
  const session::LedgerLine& line = run.ledger[0];
  const double whole = 0.25 * std::sqrt(0.75 * 0.75 + 0.25 * 0.25 + 0.5 * 0.5);
  EXPECT_NEAR(line.scaledNorm, 1024 * whole, 1e-3);
  EXPECT_NEAR(line.gradNorm, whole, 1e-6);
  EXPECT_NEAR(line.clippedNorm, 0.1, 1e-5) << "max_norm / (norm + 1e-6)";
  EXPECT_NEAR(line.updateNorm, 0.1, 1e-5);
}

TEST(Clip, TakesAValue) {
  const json calm = {{{"name", "calm"}, {"type", "SGD"}, {"lr", 1.0}, {"parameters", {"calm.weight"}}}};
  const session::Trajectory run = trainedRun(recipeOn("training_two_losses", {{"optimizers", calm}, {"clip", {{"value", 0.1}}}, {"autocast", nullptr}, {"scaler", nullptr}}));
  // (0.1875, 0.0625, 0.125) becomes (0.1, 0.0625, 0.1).
  EXPECT_NEAR(run.ledger[0].clippedNorm, std::sqrt(0.01 + 0.0625 * 0.0625 + 0.01), 1e-7);
}

TEST(Clip, RaisesInPyTorchsWordsWhereTheNormIsNotFinite) {
  const session::Trajectory run = trainedRun(recipeOn("training_loud_loss", {{"clip", {{"norm", 1}, {"error_if_nonfinite", true}}}, {"steps", 3}}));
  EXPECT_EQ(run.steps, 0);
  EXPECT_THAT(run.error, testing::HasSubstr("The total norm of order 2 for gradients from `parameters` is non-finite, so it cannot be clipped"));
}

}  // namespace
}  // namespace ulpscope::train
