#include "core/report/training_text.h"

#include <gmock/gmock.h>

using namespace ulpscope;
using testing::HasSubstr;
using testing::Not;

namespace {

session::Training training() {
  session::Trajectory run;
  run.name = "recipe";
  run.autocast = run.scaling = true;
  for (int i = 0; i < 4; ++i) {
    session::LedgerLine line;
    line.step = i;
    line.optimizer = "sgd";
    line.skipped = i < 3;
    line.loss = 2.0 - i;
    run.ledger.push_back(line);
  }
  run.steps = 4;
  run.appliedUpdates = 1;
  run.finalScale = 8192;
  run.firstNonfinite = session::FirstNonfinite{0, "gradient", "aten::linear", "layer", "model.py:7", 1, "layer.bias", "inf", false, "", "", ""};
  run.parameters = {{"layer.weight", "sgd", false, {0.5F, 0.25F}, {0, 0}, {0, 0}}, {"head", "sgd", true, {}, {}, {}}, {"frozen", "", true, {}, {}, {}}};
  run.violations = {{2, "clip", "clip_before_unscale", "", "clips gradients"}};
  session::Training t;
  t.policyTable = "cuda@2.12";
  t.runs = {run};
  return t;
}

TEST(TrainingText, SaysWhatBecameOfTheSteps) {
  const std::string text = report::trainingSummary(training());
  EXPECT_THAT(text, HasSubstr("autocast on (cuda@2.12), scaling on"));
  EXPECT_THAT(text, HasSubstr("1 of 4 steps applied"));
  EXPECT_THAT(text, HasSubstr("0-2\n"));
  EXPECT_THAT(text, HasSubstr("step 0: aten::linear in layer (model.py:7): inf in the gradient of its output; first parameter layer.bias"));
  EXPECT_THAT(text, HasSubstr("2 to -1"));
  EXPECT_THAT(text, HasSubstr("at most 0.375 (layer.weight); no gradient ever reached head\n")) << "the mean of 0.5 and 0.25; a frozen one has no optimizer";
  EXPECT_THAT(text, HasSubstr("step 2: clip_before_unscale (clip): clips gradients"));
  EXPECT_THAT(text, Not(HasSubstr("TRAJECTORIES"))) << "one is no table";
  EXPECT_THAT(report::trainingSummary({}), HasSubstr("Nothing was trained"));
}

TEST(TrainingText, CallsNotRecordedWhatARecordedLoopDoesNotSay) {
  session::Training t = training();
  t.recorded = session::RecordedLoop{"loop.jsonl", true, {{"device", "cuda:0"}, {"autocast", "bfloat16"}}};
  t.libtorchVersion = "2.6.0";
  session::Trajectory& run = t.runs.front();
  run.parameters.clear();
  for (session::LedgerLine& line : run.ledger) line.unrecorded = {"zero_share", "scale_after"};
  run.ledger.back().unrecorded.insert("loss");
  std::string text = report::trainingSummary(t);
  EXPECT_THAT(text, HasSubstr("autocast on (bfloat16), scaling on\nRecorded     loop.jsonl, PyTorch 2.6.0: recorded from a loop in Python on cuda:0; no engine can train it again\n"));
  EXPECT_THAT(text, HasSubstr("Scale        not recorded\n"));
  EXPECT_THAT(text, HasSubstr("Loss         2 to not recorded\n"));
  EXPECT_THAT(text, HasSubstr("Zero grads   not recorded\n"));
  run.ledger[1].unrecorded.clear();
  run.ledger[1].zeroShare = 0.25;
  EXPECT_THAT(report::trainingSummary(t), HasSubstr("at most 0.25 of the elements (sgd in step 1)"));
  for (session::LedgerLine& line : run.ledger) line.unrecorded = {"applied", "skipped"};
  text = report::trainingSummary(t);
  EXPECT_THAT(text, HasSubstr("Updates      4 steps, which of them were applied is not recorded\nSkipped      not recorded\n"));
}

TEST(TrainingText, PutsTrajectoriesSideBySide) {
  session::Training t = training();
  t.runs.push_back({});
  t.runs.back().name = "fp32";
  t.runs.back().accuracy = 0.9875;
  t.runs.back().error = "raised";
  t.runs.back().parameters = {{"layer.weight", "sgd", false, {0.125F}, {0}, {0}}};
  EXPECT_THAT(report::trainingSummary(t), HasSubstr("fp32"));
  EXPECT_THAT(report::trainingSummary(t), HasSubstr("98.75 %"));
  EXPECT_THAT(report::trainingSummary(t), HasSubstr("at most 0.375 (layer.weight, 0.125 in FP32)"));
  EXPECT_THAT(report::trainingSummary(t), HasSubstr("ended early"));
}

TEST(TrainingText, WritesStepsAsRanges) {
  EXPECT_EQ(report::stepRanges({}), "");
  EXPECT_EQ(report::stepRanges({4}), "4");
  EXPECT_EQ(report::stepRanges({0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
}

TEST(TrainingText, ListsTheOrdersViolations) {
  EXPECT_EQ(report::orderText({}), "The order is right.\n");
  const std::string nothing = report::orderText({{0, "step", "", "", analysis::OrderRule::nothingToJudge}});
  EXPECT_THAT(nothing, testing::StartsWith("Nothing to judge: no step: log the calls"));
  EXPECT_THAT(nothing, Not(HasSubstr("right")));
  EXPECT_THAT(report::orderText({{3, "clip", "adam", "amp", analysis::OrderRule::clipBeforeUnscale}}), HasSubstr("step 3: clip of adam in amp: clip_before_unscale: clips gradients"));
}

TEST(TrainingText, SaysOnceWhatIsWrongInManySteps) {
  std::vector<analysis::OrderViolation> violations;
  session::Training t = training();
  t.runs[0].violations.clear();
  for (const std::int64_t step : {0, 1, 2, 3, 4, 5, 6, 9}) {
    violations.push_back({step, "clip", "a", "", analysis::OrderRule::clipBeforeUnscale});
    violations.push_back({step, "update", "", "", analysis::OrderRule::updateTwice});
    t.runs[0].violations.push_back({step, "clip", "clip_before_unscale", "a", "clips gradients"});
  }
  violations.push_back({3, "clip", "b", "", analysis::OrderRule::clipBeforeUnscale});
  const std::string text = report::orderText(violations);
  EXPECT_THAT(text, testing::StartsWith("steps 0-6, 9: clip of a: clip_before_unscale: clips gradients"));
  EXPECT_THAT(text, HasSubstr("\nsteps 0-6, 9: update: update_twice: "));
  EXPECT_THAT(text, HasSubstr("\nstep 3: clip of b: clip_before_unscale: "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(report::trainingSummary(t), HasSubstr("ORDER\n  steps 0-6, 9: clip_before_unscale (clip of a): clips gradients\n"));
  EXPECT_THAT(report::trainingSummary(t), Not(HasSubstr("more")));
}

}  // namespace
