// Steps without interception: that they train to the bits of the judged ones, and what a benchmark of them tells. Nothing here hangs on how fast
// anything is.
#include "core/train/step_benchmark.h"

#include "tests/core/train/train_fixture.h"

#include <gmock/gmock.h>

namespace ulpscope::train {
namespace {

using engine::TimedSide;
using nlohmann::json;
using testing::HasSubstr;
using tests::recipeOn;

json nativeRecipe(const std::string& fixture, const json& changes = json::object()) {
  json recipe = recipeOn(fixture, {{"scaler", nullptr}, {"steps", 5}, {"autocast", {{"dtype", "bfloat16"}, {"mode", "native"}}}, {"optimizers", {{{"name", "sgd"}, {"type", "SGD"}, {"lr", 0.125}, {"momentum", 0.5}}}}});
  recipe.update(changes);
  return recipe;
}

json classes(const json& changes = json::object()) {
  json recipe = nativeRecipe("training_poisoned_buffers", {{"loss", {{"kind", "cross_entropy"}}}, {"batch_size", 4}});
  recipe.update(changes);
  return recipe;
}

json withRegion(json recipe, const std::string& kind, const std::string& module) {
  recipe["autocast"][kind] = {module};
  return recipe;
}

// A trajectory without its time.
json factsOf(session::Trajectory run) {
  run.elapsedSeconds = 0;
  return session::toJson(run);
}

TEST(StepManner, TrainsToTheSameBitsWithoutInterception) {
  for (const json& recipe : {classes(), withRegion(classes(), "fp32", "out"), withRegion(classes(), "disable", "fc"), withRegion(classes(), "fp32", "loss"), nativeRecipe("training_flat_gradients", {{"batch_size", 64}}),
                             classes({{"accumulation", {{"steps", 2}}}, {"batch_size", 2}, {"clip", {{"norm", 0.5}}}})}) {
    SCOPED_TRACE(recipe.dump());
    TrainOptions plain;
    plain.manner.intercepts = false;
    const session::Training seen = tests::trainedWith(recipe, {}).training, unseen = tests::trainedWith(recipe, plain).training;
    ASSERT_EQ(seen.runs.size(), 2U);
    ASSERT_EQ(unseen.runs.size(), 2U);
    EXPECT_EQ(seen.runs[0].error, "");
    EXPECT_EQ(factsOf(unseen.runs[0]), factsOf(seen.runs[0]));
    EXPECT_EQ(factsOf(unseen.runs[1]), factsOf(seen.runs[1]));
    EXPECT_NE(seen.runs[0].finalLoss(), seen.runs[1].finalLoss()) << "BF16 is not FP32";
  }
}

// Random numbers are other ones than under interception, and the same in each training.
TEST(StepManner, DrawsTheSameRandomNumbersAgain) {
  const json recipe = nativeRecipe("training_tied", {{"loss", {{"kind", "mse"}}}, {"batch_size", 3}});
  TrainOptions plain;
  plain.manner.intercepts = false;
  const auto first = tests::trainedWith(recipe, plain).training, second = tests::trainedWith(recipe, plain).training;
  EXPECT_EQ(factsOf(first.runs[0]), factsOf(second.runs[0]));
}

StepOrder orderFor(const json& recipe) {
  StepOrder order;
  order.recipe = session::recipeFromJson(recipe).value();
  order.threads = 2;
  return order;
}

TEST(StepBenchmark, TimesAlternatingStepsAndTrainsAgain) {
  const auto timed = timeSteps(orderFor(classes()), {}, {});
  ASSERT_TRUE(timed.ok()) << timed.error().message();
  ASSERT_EQ(timed->pairs.size(), 20U);
  for (std::size_t i = 0; i < timed->pairs.size(); ++i) {
    EXPECT_EQ(timed->pairs[i].candidateFirst, i % 2 == 1);
    EXPECT_EQ(timed->pairs[i].batch, static_cast<std::int64_t>(i % 3)) << "12 samples in batches of 4";
    EXPECT_GT(timed->pairs[i].referenceSeconds, 0);
    EXPECT_GT(timed->pairs[i].candidateSeconds, 0);
  }
  EXPECT_EQ(timed->conditions.work, "training step: loss cross_entropy, SGD, no scaler");
  EXPECT_EQ(timed->conditions.batchSize, 4);
  EXPECT_EQ(timed->conditions.threads, 2);
  EXPECT_EQ(timed->conditions.interception, "off");
  EXPECT_TRUE(timed->conditions.trainMode);
  ASSERT_EQ(timed->recheck.runs.size(), 2U);
  EXPECT_EQ(timed->recheck.runs[0].steps, 5);
}

TEST(StepBenchmark, MeasuresMemoryOfOneSide) {
  for (const TimedSide side : {TimedSide::reference, TimedSide::candidate}) {
    const auto memory = peakMemoryOfSteps(orderFor(classes()), side, {}, {});
    ASSERT_TRUE(memory.ok()) << memory.error().message();
    EXPECT_EQ(memory->forwards, engine::kPeakForwards);
    if (memory->whyNot.empty()) { EXPECT_GE(memory->peakBytes, memory->beforeBytes); }
  }
}

TEST(StepBenchmark, RefusesWhatItCannotTime) {
  const auto refusal = [](const StepOrder& order) {
    const auto timed = timeSteps(order, {}, {});
    EXPECT_FALSE(timed.ok());
    return timed.ok() ? base::Error{} : timed.error();
  };
  EXPECT_THAT(refusal(orderFor(withRegion(classes(), "fp32", "out:aten::linear"))).message(), HasSubstr("only interception"));
  StepOrder few = orderFor(classes());
  few.pairs = 3;
  EXPECT_EQ(refusal(few).kind, base::ErrorKind::usage);
  StepOrder other = orderFor(classes());
  other.open = [](const auto&, const auto&) { return base::Status(base::Error{base::ErrorKind::input, "is another model", "m", ""}); };
  EXPECT_EQ(refusal(other).what, "is another model");
  EXPECT_EQ(peakMemoryOfSteps(other, TimedSide::candidate, {}, {}).error().what, "is another model");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(timeSteps(orderFor(classes()), {}, stop.get_token()).error().kind, base::ErrorKind::cancelled);
}

}  // namespace
}  // namespace ulpscope::train
