// A training that goes on from a checkpoint is the one that was never interrupted, to the last bit; what differs is refused or named.
#include "core/base/hashing.h"
#include "core/storage/training_folder.h"
#include "tests/core/train/train_fixture.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace ulpscope::train {
namespace {

using nlohmann::json;
using tests::recipeOn;
using tests::ScratchFolder;
using tests::trainedWith;
using tests::trainError;
using testing::HasSubstr;

// Two optimizers of other kinds with a loss each, of which one overflows at first; accumulation, clipping, a schedule, shuffled rows.
json restless(const json& changes = json::object()) {
  json recipe = recipeOn("training_restless", json::parse(R"({
    "optimizers": [{"name": "adam", "type": "Adam", "lr": 0.01, "amsgrad": true, "parameters": ["body.*", "norm.*", "calm.*"]},
                   {"name": "sgd", "type": "SGD", "lr": 0.0001, "momentum": 0.9, "parameters": ["loud.*"], "loss": 1}],
    "scaler": {"init_scale": 2048, "growth_interval": 2}, "accumulation": {"steps": 2}, "clip": {"norm": 1.0}, "shuffle": 5, "batch_size": 3,
    "scheduler": {"type": "StepLR", "step_size": 2, "gamma": 0.5}, "steps": 7})"));
  for (const auto& [key, value] : changes.items()) recipe[key] = value;
  return recipe;
}

Resume at(const std::string& folder, std::int64_t step, const std::string& change = "") {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld.h5", static_cast<long long>(step));
  auto checkpoint = storage::readCheckpoint(folder + "/" + name);
  if (!checkpoint) {
    ADD_FAILURE() << checkpoint.error().message();
    return {};
  }
  return {std::move(checkpoint).value(), name, base::sha256OfFile(folder + "/" + name).value(), change};
}

TrainOptions checkpointsIn(const std::string& folder) {
  std::filesystem::create_directories(folder);
  TrainOptions options;
  options.checkpointFolder = folder;
  options.checkpointEvery = 1;
  return options;
}

json ledgerOf(const TrainingOutcome& outcome) {
  json lines = json::array();
  for (const auto& line : outcome.training.runs.front().ledger) lines.push_back(session::toJson(line));
  return lines;
}

// Of everything but dates and how it came here.
void expectSame(const storage::TrainingCheckpoint& a, const storage::TrainingCheckpoint& b) {
  const auto bytes = [](const std::vector<storage::RawTensor>& tensors) {
    std::string all;
    for (const auto& t : tensors) all += t.name + ":" + std::string(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
    return base::sha256(all);
  };
  EXPECT_EQ(bytes(a.parameters), bytes(b.parameters));
  EXPECT_EQ(bytes(a.buffers), bytes(b.buffers));
  EXPECT_EQ(bytes(a.gradients), bytes(b.gradients));
  EXPECT_EQ(bytes(a.tensorAttributes), bytes(b.tensorAttributes));
  EXPECT_EQ(a.attributes, b.attributes);
  EXPECT_EQ(a.scaler, b.scaler);
  EXPECT_EQ(a.generator, b.generator);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(std::tie(a.step, a.microBatches, a.schedulerSteps, a.appliedUpdates, a.scalersMade), std::tie(b.step, b.microBatches, b.schedulerSteps, b.appliedUpdates, b.scalersMade));
  ASSERT_EQ(a.optimizers.size(), b.optimizers.size());
  for (std::size_t o = 0; o < a.optimizers.size(); ++o) {
    ASSERT_EQ(a.optimizers[o].parameters.size(), b.optimizers[o].parameters.size());
    for (std::size_t i = 0; i < a.optimizers[o].parameters.size(); ++i) {
      EXPECT_EQ(a.optimizers[o].parameters[i].step, b.optimizers[o].parameters[i].step);
      EXPECT_EQ(bytes(a.optimizers[o].parameters[i].tensors), bytes(b.optimizers[o].parameters[i].tensors));
    }
  }
}

struct Way {
  const char* name;
  const char* changes;
};
class Resumed : public testing::TestWithParam<Way> {};

TEST_P(Resumed, IsBitIdenticalFromEveryStep) {
  const ScratchFolder scratch;
  const json recipe = restless(json::parse(GetParam().changes));
  const TrainingOutcome whole = trainedWith(recipe, checkpointsIn(scratch.file("whole")));
  ASSERT_EQ(whole.training.runs.front().error, "");
  ASSERT_EQ(whole.training.checkpoints.size(), 8U);
  const Resume last = at(scratch.file("whole"), 7);
  for (std::int64_t step = 0; step <= 7; ++step) {
    const std::string folder = scratch.file("from" + std::to_string(step));
    TrainOptions options = checkpointsIn(folder);
    options.resume = at(scratch.file("whole"), step);
    const TrainingOutcome resumed = trainedWith(recipe, options);
    EXPECT_EQ(ledgerOf(resumed), ledgerOf(whole)) << "from step " << step;
    EXPECT_EQ(resumed.training.runs.front().accuracy, whole.training.runs.front().accuracy);
    EXPECT_EQ(session::toJson(resumed.training.runs.front())["parameters"], session::toJson(whole.training.runs.front())["parameters"]);
    EXPECT_EQ(session::toJson(resumed.training.runs.front())["gradient_sites"], session::toJson(whole.training.runs.front())["gradient_sites"]);
    EXPECT_EQ(resumed.training.runs.front().violations.size(), whole.training.runs.front().violations.size());
    ASSERT_EQ(resumed.training.resumes.size(), 1U);
    EXPECT_EQ(resumed.training.resumes[0].step, step);
    EXPECT_TRUE(resumed.training.resumes[0].differences.empty());
    expectSame(at(folder, 7).checkpoint, last.checkpoint);
  }
}

INSTANTIATE_TEST_SUITE_P(Trainings, Resumed,
                         testing::Values(Way{"Fp16", "{}"}, Way{"Fp32", R"({"autocast": null, "scaler": null})"}, Way{"Bf16", R"({"autocast": {"dtype": "bfloat16"}, "scaler": null})"},
                                         Way{"Series113", R"({"scaler": {"series": "1.13", "init_scale": 1e38, "growth_interval": 1}})"},
                                         Way{"GradientsAsZeros", R"({"set_to_none": false})"},
                                         Way{"WrongOrder", R"({"events": ["backward", "clip", "unscale_", "step", "update"]})"},
                                         Way{"GradientsNeverCleared", R"({"events": ["autocast_begin", "forward", "autocast_end", "scale", "backward", "step", "update"], "accumulation": {"steps": 1}})"}),
                         [](const auto& way) { return std::string(way.param.name); });

// The list of weights that an LSTM keeps must stay the parameters themselves, whatever is run again or resumed.
TEST(Resume, OfAnLstmGoesOnTrainingItsWeights) {
  for (const char* autocast : {R"({"dtype": "float16"})", "null"}) {
    const ScratchFolder scratch;
    const json recipe = recipeOn("training_recurrent", {{"autocast", json::parse(autocast)}, {"batch_size", 3}, {"steps", 5}, {"optimizers", json::parse(R"([{"name": "a", "type": "Adam", "lr": 0.01}])")}});
    const TrainingOutcome whole = trainedWith(recipe, checkpointsIn(scratch.file("whole")));
    ASSERT_EQ(whole.training.runs.front().error, "");
    for (const std::int64_t step : {1, 2, 3, 4}) {
      const Resume before = at(scratch.file("whole"), step), after = at(scratch.file("whole"), step + 1);
      EXPECT_NE(before.checkpoint.parameters.front().bytes, after.checkpoint.parameters.front().bytes) << before.checkpoint.parameters.front().name << " stands still in step " << step;
    }
    TrainOptions options = checkpointsIn(scratch.file("resumed"));
    options.resume = at(scratch.file("whole"), 3);
    EXPECT_EQ(ledgerOf(trainedWith(recipe, options)), ledgerOf(whole));
    expectSame(at(scratch.file("resumed"), 5).checkpoint, at(scratch.file("whole"), 5).checkpoint);
  }
}

TEST(Resume, TheTrainingSkipsSoThatTheScalerHasSomethingToRemember) {
  const ScratchFolder scratch;
  const TrainingOutcome whole = trainedWith(restless(), checkpointsIn(scratch.file("whole")));
  const auto skipped = whole.training.runs.front().skipped();
  EXPECT_FALSE(skipped.at("sgd").empty());
  EXPECT_LT(skipped.at("sgd").size(), 7U);
  EXPECT_TRUE(whole.training.checkpoints.back().good);
}

class ResumeRefused : public testing::Test {
 protected:
  void SetUp() override { trainedWith(restless({{"steps", 2}}), checkpointsIn(m_scratch.file("t"))); }
  std::string says(const json& changes, const std::string& change = "") { return says(restless(changes), at(m_scratch.file("t"), 2, change)); }
  static std::string says(const json& recipe, Resume resume) {
    TrainOptions options;
    options.resume = std::move(resume);
    return trainError(recipe, options);
  }
  ScratchFolder m_scratch;
};

TEST_F(ResumeRefused, WithoutTheScalersState) {
  Resume resume = at(m_scratch.file("t"), 2);
  resume.checkpoint.scaler.reset();
  EXPECT_THAT(says(restless(), resume), HasSubstr("input: step-00000002.h5: has no scaler's state, and its recipe has a scaler"));
}

TEST_F(ResumeRefused, UnderAnotherPolicyUnlessTheChangeHasAName) {
  EXPECT_THAT(says({{"autocast", {{"dtype", "bfloat16"}}}}), HasSubstr("usage: step-00000002.h5: was trained otherwise than the recipe says: autocast.dtype: \"float16\" -> \"bfloat16\"; name this experiment with --change NAME"));
  EXPECT_THAT(says({{"autocast", {{"dtype", "float16"}, {"fp32", {"body"}}}}}), HasSubstr("autocast.fp32: [] -> [\"body\"]"));
  EXPECT_THAT(says({{"scaler", {{"init_scale", 2048}, {"growth_interval", 2}, {"series", "1.13"}}}}), HasSubstr("scaler.series: \"2.1\" -> \"1.13\""));
  EXPECT_THAT(says({{"scaler", nullptr}}), HasSubstr("-> not there"));
}

TEST_F(ResumeRefused, AsAnotherTraining) {
  EXPECT_THAT(says({{"batch_size", 2}}, "smaller"), HasSubstr("belongs to another training than the recipe's: batch_size: 3 -> 2"));
  EXPECT_THAT(says({{"shuffle", 6}}, "x"), HasSubstr("shuffle: 5 -> 6"));
  EXPECT_THAT(says({{"steps", 1}}), HasSubstr("has done 2 steps, the recipe asks for 1"));
  EXPECT_THAT(says(json::object(), "nothing"), HasSubstr("'nothing' changes nothing"));
}

TEST_F(ResumeRefused, WithAnotherModelOrOtherInputs) {
  Resume other = at(m_scratch.file("t"), 2);
  other.checkpoint.modelFingerprint = "another";
  EXPECT_THAT(says(restless(), other), HasSubstr("run: step-00000002.h5: was taken of another model file"));
  Resume inputs = at(m_scratch.file("t"), 2);
  inputs.checkpoint.inputsSha256 = "others";
  EXPECT_THAT(says(restless(), inputs), HasSubstr("was taken on other inputs or labels"));
}

TEST_F(ResumeRefused, WhereItDoesNotFitTheModel) {
  Resume resume = at(m_scratch.file("t"), 2);
  resume.checkpoint.parameters.front().shape = {24};
  EXPECT_THAT(says(restless(), resume), HasSubstr("has another shape or dtype than the model's"));
  Resume without = at(m_scratch.file("t"), 2);
  without.checkpoint.parameters.pop_back();
  EXPECT_THAT(says(restless(), without), HasSubstr("are not as many as the model's"));
}

TEST(Resume, RecordsANamedChangeAndKeepsItInWhatComesAfter) {
  const ScratchFolder scratch;
  trainedWith(restless(), checkpointsIn(scratch.file("a")));
  TrainOptions options = checkpointsIn(scratch.file("b"));
  options.resume = at(scratch.file("a"), 4, "bf16 from here");
  const json changed = restless({{"autocast", {{"dtype", "bfloat16"}}}, {"scaler", nullptr}});
  const TrainingOutcome outcome = trainedWith(changed, options);
  ASSERT_EQ(outcome.training.resumes.size(), 1U);
  EXPECT_EQ(outcome.training.resumes[0].change, "bf16 from here");
  EXPECT_EQ(outcome.training.resumes[0].differences.size(), 2U);
  const auto& run = outcome.training.runs.front();
  EXPECT_EQ(run.ledger.size(), 14U) << "the steps before it too";
  EXPECT_EQ(run.ledger[2 * 4].scaleBefore, 1) << "no scaler any more";
  EXPECT_THAT(run.violations, testing::IsEmpty()) << "the calls so far had a scaler, those from here have none";
  TrainOptions again;
  again.resume = at(scratch.file("b"), 6);
  const TrainingOutcome third = trainedWith(changed, again);
  ASSERT_EQ(third.training.resumes.size(), 2U);
  EXPECT_EQ(third.training.resumes[0].change, "bf16 from here");
  EXPECT_EQ(third.training.resumes[1].change, "");
}

TEST(Resume, AChangedScalerKeepsItsScaleUnlessInitScaleIsWhatChanged) {
  const ScratchFolder scratch;
  trainedWith(restless(), checkpointsIn(scratch.file("a")));
  const Resume from = at(scratch.file("a"), 4, "other interval");
  TrainOptions options;
  options.resume = from;
  const auto slower = trainedWith(restless({{"scaler", {{"init_scale", 2048}, {"growth_interval", 1000}}}}), options);
  EXPECT_EQ(slower.training.runs.front().ledger[2 * 4].scaleBefore, from.checkpoint.scaler->at("scale"));
  EXPECT_EQ(slower.training.runs.front().ledger.back().scaleAfter <= from.checkpoint.scaler->at("scale"), true) << "an interval of 1,000 never grows here";
  const auto anew = trainedWith(restless({{"scaler", {{"init_scale", 8}, {"growth_interval", 2}}}}), options);
  EXPECT_EQ(anew.training.runs.front().ledger[2 * 4].scaleBefore, 8);
}

TEST(Checkpoint, IsRefusedWhereTheScalerIsNeverUpdated) {
  const ScratchFolder scratch;
  const std::string folder = scratch.file("t");
  TrainOptions options = checkpointsIn(folder);
  const TrainingOutcome outcome = trainedWith(restless({{"events", {"backward", "step"}}}), options);
  EXPECT_THAT(outcome.training.runs.front().error, HasSubstr("no checkpoint can be taken after step 0: the scaler still holds what unscale_ or step found"));
  EXPECT_TRUE(outcome.training.runs.front().failed);
  EXPECT_EQ(outcome.training.checkpoints.size(), 1U) << "the one before the first step";
}

TEST(Checkpoint, OfTheRecipesOrderIsTakenAfterUpdateAndRefusedElsewhereWithTheReason) {
  const ScratchFolder scratch;
  TrainOptions options = checkpointsIn(scratch.file("t"));
  options.checkpointEvery = 0;
  const auto with = [](const std::vector<std::string>& events) { return restless({{"events", events}, {"steps", 3}}); };
  EXPECT_EQ(trainedWith(with({"backward", "unscale_", "step", "update", "checkpoint"}), options).training.checkpoints.size(), 4U) << "and the one before the first step";
  EXPECT_THAT(trainError(with({"backward", "checkpoint", "unscale_", "step", "update"})), HasSubstr("no checkpoint can be taken here: gradients wait for their step"));
  EXPECT_THAT(trainedWith(with({"backward", "unscale_", "step", "checkpoint", "update"}), {}).training.runs.front().error, HasSubstr("update() is not: scaler and weights are not of one moment"));
  EXPECT_THAT(trainError(with({"checkpoint", "backward", "unscale_", "step", "update"})), HasSubstr("calls of the same iteration follow it"));
}

TEST(Checkpoint, WritesTheWayBackBeforeTheFirstStep) {
  const ScratchFolder scratch;
  trainedWith(restless({{"steps", 1}}), checkpointsIn(scratch.file("t")));
  const auto fp32 = session::readRecipe(scratch.file("t/fp32.json"));
  ASSERT_TRUE(fp32.ok()) << fp32.error().message();
  EXPECT_FALSE(fp32->autocast.has_value());
  EXPECT_FALSE(fp32->scaler.has_value());
  EXPECT_TRUE(std::filesystem::exists(fp32->model)) << "its paths lead from the folder to the files";
  TrainOptions options;
  options.resume = at(scratch.file("t"), 0, "back to FP32");
  auto outcome = train(fp32.value(), options, {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  EXPECT_FALSE(outcome->training.runs.front().autocast);
}

class Rollback : public testing::Test {
 protected:
  TrainingOutcome trained(const json& rules, const json& changes = json::object()) {
    json recipe = restless({{"rollback", rules}});
    for (const auto& [key, value] : changes.items()) recipe[key] = value;
    TrainOptions options = checkpointsIn(m_scratch.file("t"));
    options.checkpointEvery = 2;
    return trainedWith(recipe, options);
  }
  ScratchFolder m_scratch;
};

TEST_F(Rollback, GoesBackToTheLastGoodCheckpointAndKeepsTheCase) {
  // The counter in the loss passes 0.001 * 2 * 4 with the fifth step's first micro-batch; the limit is found from the ledger itself.
  const TrainingOutcome whole = trainedWith(restless(), {});
  const double limit = std::max({whole.training.runs.front().ledger[0].loss, whole.training.runs.front().ledger[2].loss, whole.training.runs.front().ledger[1].loss, whole.training.runs.front().ledger[3].loss});
  const TrainingOutcome none = trained({{"max_loss", 1e30}});
  EXPECT_FALSE(none.training.rollback.has_value());
  std::filesystem::remove_all(m_scratch.file("t"));
  const TrainingOutcome outcome = trained({{"max_loss", limit * 0.999}});
  ASSERT_TRUE(outcome.training.rollback.has_value());
  const session::RollbackRecord& back = *outcome.training.rollback;
  EXPECT_EQ(back.rule, "max_loss");
  EXPECT_EQ(back.toStep, back.step / 2 * 2) << "a checkpoint each two steps";
  EXPECT_THAT(outcome.training.runs.front().error, HasSubstr("went back to the checkpoint"));
  EXPECT_FALSE(outcome.training.runs.front().failed);
  const auto item = session::readCase(m_scratch.file("t/" + back.caseFile));
  ASSERT_TRUE(item.ok()) << item.error().message();
  EXPECT_EQ(item->checkpoint, back.checkpoint);
  EXPECT_EQ(item->batches.size(), 2U) << "micro-batches";
  EXPECT_EQ(item->batches[0].rows.size(), 3U);
  EXPECT_EQ(item->batches[0].ids.size(), 3U);
}

TEST_F(Rollback, OfAStepWithoutUpdateInARow) {
  const TrainingOutcome outcome = trained({{"no_update_in", 3}}, {{"scaler", {{"init_scale", 1e30}}}});
  ASSERT_TRUE(outcome.training.rollback.has_value());
  EXPECT_EQ(outcome.training.rollback->step, 2);
  EXPECT_EQ(outcome.training.rollback->text, "no update in 3 steps");
}

TEST_F(Rollback, ReplaysToTheLastBit) {
  const TrainingOutcome outcome = trained({{"no_update_in", 3}}, {{"scaler", {{"init_scale", 1e30}}}});
  const std::string caseFile = m_scratch.file("t/" + outcome.training.rollback->caseFile);
  const auto item = session::readCase(caseFile);
  ASSERT_TRUE(item.ok());
  json recipe = restless({{"scaler", {{"init_scale", 1e30}}}, {"steps", item->step + 1}});
  TrainOptions options;
  options.resume = at(m_scratch.file("t"), item->fromStep);
  options.replay = Replay{item.value(), m_scratch.file("m.ts"), m_scratch.file("rows.h5")};
  const TrainingOutcome replayed = trainedWith(recipe, options);
  std::vector<session::LedgerLine> lines;
  for (const auto& line : replayed.training.runs.front().ledger)
    if (line.step >= item->fromStep) lines.push_back(line);
  EXPECT_EQ(session::firstDifference(item->lines, lines), "");
  EXPECT_EQ(replayed.training.runs.size(), 1U) << "FP32 is not trained again";
  EXPECT_FALSE(replayed.training.runs.front().gradientSites.empty());
  const auto rows = storage::readInputFile(m_scratch.file("rows.h5"));
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  EXPECT_EQ(rows->inputs.front().shape, (std::vector<std::int64_t>{6, 4})) << "both micro-batches";
  lines.back().loss = std::nextafter(lines.back().loss, 1e9);
  EXPECT_THAT(session::firstDifference(item->lines, lines), HasSubstr("step 2, sgd: loss"));
}

TEST_F(Rollback, NeedsToKnowHowOftenACheckpointIsTaken) {
  const auto recipe = session::recipeFromJson(restless({{"rollback", {{"max_loss", 1}}}}));
  const auto writes = writesCheckpoints(recipe.value(), 0);
  ASSERT_FALSE(writes.ok());
  EXPECT_THAT(writes.error().message(), HasSubstr("add \"checkpoint_every\": N"));
  EXPECT_TRUE(writesCheckpoints(recipe.value(), 5).value());
  EXPECT_FALSE(writesCheckpoints(session::recipeFromJson(restless()).value(), 0).value());
}

}  // namespace
}  // namespace ulpscope::train
