#include "core/session/training.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

using namespace ulpscope::session;
using testing::DoubleEq;
using testing::ElementsAre;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Training sample() {
  Trajectory run;
  run.name = "recipe";
  run.autocast = run.scaling = true;
  run.fp32 = {"head"};
  LedgerLine skipped;
  skipped.optimizer = "a";
  skipped.loss = 1000;
  skipped.scaleBefore = 65536;
  skipped.scaleAfter = 32768;
  skipped.foundInf = skipped.skipped = true;
  skipped.gradNorm = std::numeric_limits<double>::infinity();
  skipped.firstNonfinite = FirstNonfinite{0, "gradient", "aten::linear", "layer", "model.py:7", 1, "layer.bias", "inf", false, "", "", ""};
  LedgerLine applied;
  applied.step = 1;
  applied.optimizer = "b";
  applied.loss = 0.25;
  applied.appliedUpdates = 1;
  run.ledger = {skipped, applied};
  run.parameters = {{"w", "a", false, {0.5F, kNan, 1.0F}, {0, kNan, 0}, {0, kNan, 0.25F}}, {"unused", "a", true, {kNan}, {kNan}, {kNan}}, {"frozen", "", true, {}, {}, {}}};
  run.gradientSites = {{"aten::linear", "layer", "model.py:7", 2, 0.125, 3, 4, 0.5, 0}};
  run.violations = {{1, "clip", "clip_before_unscale", "b", "clips"}};
  run.alarms = {{"scale_below_1", 1, "the scale is 0.5"}};
  run.poisonedBuffers = {"bn.running_mean (step 0)"};
  run.firstNonfinite = skipped.firstNonfinite;
  run.finalScale = std::numeric_limits<double>::infinity();
  run.steps = 2;
  run.appliedUpdates = 1;
  run.accuracy = 0.75;
  Training training;
  training.number = 3;
  training.recipe = "{}";
  training.warnings = {"w"};
  training.checkpoints = {{0, "step-00000000.h5", "aa", true}, {2, "step-00000002.h5", "bb", false}};
  training.resumes = {{1, "step-00000001.h5", "cc", "bf16 from here", {{"autocast.dtype", "\"float16\"", "\"bfloat16\""}}}};
  training.rollback = RollbackRecord{2, 0, "max_loss", "the loss is 9, above 5", "step-00000000.h5", "case-00000002.json"};
  training.runs = {run, {}};
  training.runs[1].name = "fp32";
  return training;
}

TEST(Training, ReadsBackWhatItWrites) {
  const auto json = toJson(sample());
  const Training back = trainingFromJson(nlohmann::json::parse(json.dump()));
  EXPECT_EQ(toJson(back), json);
  EXPECT_EQ(back.runs[0].ledger[0].firstNonfinite->parameter, "layer.bias");
  EXPECT_TRUE(std::isinf(back.runs[0].ledger[0].gradNorm));
  EXPECT_TRUE(std::isnan(back.runs[0].parameters[0].zero[1]));
  EXPECT_EQ(back.runs[0].gradientSites[0].occurrence, 2);
  EXPECT_FALSE(back.runs[1].accuracy.has_value());
  EXPECT_FALSE(back.checkpoints[1].good);
  EXPECT_EQ(back.resumes[0].differences[0].text(), "autocast.dtype: \"float16\" -> \"bfloat16\"");
  EXPECT_EQ(back.rollback->caseFile, "case-00000002.json");
  EXPECT_EQ(back.run("fp32"), &back.runs[1]);
  EXPECT_EQ(back.run("none"), nullptr);
}

TEST(Training, ReadsARecordOfBeforeThereWereCheckpoints) {
  auto json = toJson(sample());
  for (const char* key : {"checkpoints", "resumes", "rollback"}) json.erase(key);
  const Training back = trainingFromJson(json);
  EXPECT_TRUE(back.checkpoints.empty());
  EXPECT_TRUE(back.resumes.empty());
  EXPECT_FALSE(back.rollback.has_value());
}

TEST(Training, DocumentHasTheRecipesRunAtItsTop) {
  const auto document = trainingDocument(sample());
  EXPECT_EQ(document["ledger"].size(), 2U);
  EXPECT_EQ(document["ledger"][0]["loss"], 1000);
  EXPECT_EQ(document["ledger"][0]["grad_norm"], "+inf");
  EXPECT_EQ(document["skipped"], (nlohmann::json{{"a", {0}}, {"b", nlohmann::json::array()}}));
  EXPECT_EQ(document["first_nonfinite"]["module"], "layer");
  EXPECT_EQ(document["gradient_zero_fraction"], (nlohmann::json{{"w", 0.75}, {"unused", 1.0}})) << "the mean of 0.5 and 1; one without gradient counts as 1; one that nobody trains does not";
  EXPECT_EQ(document["absent_gradients"], nlohmann::json{"unused"});
  EXPECT_EQ(document["final_scale"], "+inf");
  EXPECT_EQ(document["final_loss"], 0.25);
  EXPECT_EQ(document["applied_updates"], 1);
  EXPECT_EQ(document["runs"].size(), 2U);
  EXPECT_EQ(document["runs"][1]["final_loss"], "NaN") << "no step";
  EXPECT_EQ(document["violations"][0]["rule"], "clip_before_unscale");
}

}  // namespace
