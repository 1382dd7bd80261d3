// Loops that go wrong: by their order, by their scale, by what they leave behind; and the 2x2 that tells causes apart.
#include "core/analysis/training_alarms.h"
#include "core/train/step_program.h"
#include "core/train/training_model.h"
#include "core/train/trajectory_run.h"
#include "tests/core/train/train_fixture.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cmath>

namespace ulpscope::train {
namespace {

using nlohmann::json;
using session::EventKind;
using tests::alarmOf;
using tests::recipeOn;
using tests::rulesOf;
using tests::trainedRun;

json half(const json& changes = json::object()) {
  json recipe = recipeOn("training_half_loss", {{"scaler", {{"init_scale", 1024}}}, {"optimizers", {{{"type", "SGD"}, {"lr", 0.5}, {"name", "sgd"}}}}});
  recipe.update(changes);
  return recipe;
}

std::vector<EventKind> kinds(const json& changes, LoopParts parts = {true, true}) {
  std::vector<EventKind> found;
  const session::Recipe recipe = session::recipeFromJson(half(changes)).value();
  const std::vector<Call> program = programFor(recipe, parts).value();
  for (const Call& call : program) found.push_back(call.kind);
  return found;
}

TEST(Program, IsTheOrderOfPyTorchsExamples) {
  using enum EventKind;
  EXPECT_THAT(kinds({{"clip", {{"norm", 1}}}, {"scheduler", {{"type", "StepLR"}}}, {"accumulation", {{"steps", 2}}}}),
              testing::ElementsAre(zeroGrad, autocastBegin, forward, loss, autocastEnd, scale, backward, autocastBegin, forward, loss, autocastEnd, scale, backward, unscale, guard, clip, step, update, schedulerStep));
  EXPECT_THAT(kinds(json::object(), {false, false}), testing::ElementsAre(zeroGrad, forward, loss, backward, guard, step));
}

TEST(Program, GivesAShortListWhatItCannotDoWithout) {
  using enum EventKind;
  EXPECT_THAT(kinds({{"events", {"backward", "step", "update"}}}), testing::ElementsAre(zeroGrad, autocastBegin, forward, loss, autocastEnd, scale, backward, step, update));
  EXPECT_THAT(kinds({{"events", {"zero_grad", "forward", "backward", "step"}}}), testing::ElementsAre(zeroGrad, forward, loss, backward, step)) << "one that names forward is literal";
}

TEST(Training, WarnsOfLayersThatTracingFrozeInEvalMode) {
  const json ofSum = {{"loss", {{"output", true}, {"reduce", "sum"}}}, {"batch_size", 2}};
  const auto traced = tests::trained(recipeOn("training_traced_in_eval", ofSum));
  ASSERT_EQ(traced.training.warnings.size(), 1U);
  EXPECT_THAT(traced.training.warnings[0], testing::HasSubstr("2 layers stay in eval mode whatever the training does, first 1 (batch_norm): the model was traced so"));
  EXPECT_THAT(tests::trained(recipeOn("training_restless", {{"batch_size", 2}})).training.warnings, testing::IsEmpty()) << "scripted layers follow the mode";
}

TEST(Order, OfTheRightLoopHasNoViolation) {
  const session::Trajectory run = trainedRun(half({{"steps", 4}, {"accumulation", {{"steps", 2}}}, {"batch_size", 1}, {"clip", {{"norm", 1}}}, {"scheduler", {{"type", "ExponentialLR"}, {"gamma", 0.5}}}}));
  EXPECT_EQ(run.error, "");
  EXPECT_THAT(run.violations, testing::IsEmpty());
  EXPECT_EQ(run.schedulerSteps, 4);
}

TEST(Order, NamesAClipOfScaledGradients) {
  const session::Trajectory wrong = trainedRun(half({{"clip", {{"norm", 0.01}}}, {"events", {"backward", "clip", "unscale_", "step", "update"}}}));
  EXPECT_EQ(rulesOf(wrong), std::vector<std::string>{"clip_before_unscale"});
  EXPECT_EQ(wrong.error, "");
  const session::Trajectory right = trainedRun(half({{"clip", {{"norm", 0.01}}}}));
  EXPECT_NEAR(wrong.ledger[0].updateNorm, right.ledger[0].updateNorm / 1024, 0.01 * right.ledger[0].updateNorm / 1024) << "the threshold was off by the scale; weights round the change to 1 %";
  EXPECT_NE(wrong.violations[0].text, "");
}

TEST(Order, EndsWherePyTorchRaises) {
  const session::Trajectory unscale = trainedRun(half({{"steps", 3}, {"events", {"backward", "unscale_", "unscale_", "step", "update"}}}));
  EXPECT_EQ(unscale.error, "unscale_() has already been called on this optimizer since the last update().");
  EXPECT_EQ(rulesOf(unscale), std::vector<std::string>{"unscale_twice"});
  EXPECT_EQ(unscale.steps, 0);
  const session::Trajectory update = trainedRun(half({{"steps", 3}, {"events", {"backward", "step"}}}));
  EXPECT_EQ(update.error, "step() has already been called since the last update().");
  EXPECT_EQ(update.steps, 1);
  EXPECT_EQ(update.ledger.size(), 2U) << "the account of the step that raised";
  EXPECT_THAT(rulesOf(update), testing::Contains("update_missing"));
  const session::Trajectory stepped = trainedRun(half({{"events", {"backward", "step", "unscale_", "update"}}}));
  EXPECT_EQ(stepped.error, "unscale_() is being called after step().");
}

TEST(Order, KnowsStepsBesideTheScalerAndScalersMadeAnew) {
  const session::Trajectory direct = trainedRun(half({{"events", {"backward", "optimizer_step"}}}));
  EXPECT_EQ(rulesOf(direct), std::vector<std::string>({"optimizer_step_direct", "update_missing"}));
  EXPECT_NEAR(direct.ledger[0].updateNorm, 0.5 * direct.ledger[0].scaledNorm, 1e-3) << "gradients went in scaled";
  const session::Trajectory anew = trainedRun(half({{"steps", 3}, {"scaler", {{"growth_interval", 1}, {"init_scale", 8}}}, {"events", {"new_scaler", "backward", "step", "update"}}}));
  EXPECT_THAT(rulesOf(anew), testing::Contains("scaler_recreated"));
  EXPECT_EQ(anew.ledger[2].scaleAfter, 16) << "each iteration starts at 8 again";
}

TEST(Order, NamesAccumulationThatIsCutShort) {
  const json two = {{"accumulation", {{"steps", 2}}}, {"batch_size", 1}};
  json early = two, whole = two;
  early["events"] = {"backward", "unscale_", "backward", "step", "update"};
  whole["events"] = {"backward", "step", "update"};
  EXPECT_THAT(rulesOf(trainedRun(half(early))), testing::Contains("unscale_before_accumulated"));
  EXPECT_THAT(rulesOf(trainedRun(half(whole))), testing::IsEmpty()) << "a single backward stands for both";
}

TEST(Order, RunsForwardOutsideAutocastWhereTheListSaysSo) {
  const session::Trajectory run = trainedRun(half({{"scaler", {{"init_scale", 65536}}}, {"events", {"zero_grad", "forward", "scale", "backward", "step", "update"}}}));
  EXPECT_THAT(rulesOf(run), testing::ElementsAre("forward_outside_autocast"));
  EXPECT_FALSE(run.ledger[0].skipped) << "an FP32 loss carries 65,536";
}

TEST(Scale, CollapsesWhereTheForwardOverflows) {
  const session::Trajectory run = trainedRun(recipeOn("training_loud_forward", {{"steps", 24}}));
  EXPECT_EQ(run.appliedUpdates, 0);
  EXPECT_EQ(run.finalScale, 65536 / std::pow(2.0, 24));
  ASSERT_TRUE(alarmOf(run, "scale_below_1"));
  EXPECT_EQ(alarmOf(run, "scale_below_1")->step, 16) << "65,536 = 2^16, halved 17 times";
  ASSERT_TRUE(alarmOf(run, "no_update"));
  EXPECT_EQ(alarmOf(run, "no_update")->step, 19);
  ASSERT_TRUE(alarmOf(run, "forward_nonfinite"));
  EXPECT_EQ(run.firstNonfinite->stage, "intermediate");
  EXPECT_EQ(run.firstNonfinite->op, "aten::linear");
  EXPECT_EQ(run.firstNonfinite->modulePath, "first");
  EXPECT_EQ(run.firstNonfinite->kind, "inf");
}

TEST(Scale, GrowsToInfinityBeforeSeries21) {
  const auto run = [](const std::string& series) {
    return trainedRun(recipeOn("training_two_losses", {{"optimizers", {{{"name", "calm"}, {"type", "SGD"}, {"lr", 0.0}, {"parameters", {"calm.weight"}}}}}, {"autocast", nullptr},
                                                       {"scaler", {{"init_scale", 0x1p126}, {"growth_interval", 1}, {"series", series}}}, {"steps", 4}}));
  };
  const session::Trajectory old = run("1.13"), now = run("2.1");
  EXPECT_TRUE(std::isinf(old.finalScale));
  ASSERT_TRUE(alarmOf(old, "scale_infinite"));
  EXPECT_EQ(alarmOf(old, "scale_infinite")->step, 1);
  EXPECT_THAT(old.skipped().at("calm"), testing::ElementsAre(2, 3));
  EXPECT_EQ(now.finalScale, 0x1p127);
  EXPECT_FALSE(alarmOf(now, "scale_infinite"));
}

TEST(Gradient, IsNotFiniteWhereTheLossIs) {
  const session::Trajectory run = trainedRun(recipeOn("training_root_at_zero", {{"autocast", nullptr}, {"scaler", nullptr}}));
  EXPECT_EQ(run.ledger[0].loss, 0);
  EXPECT_TRUE(run.ledger[0].foundInf);
  EXPECT_FALSE(run.ledger[0].skipped) << "nobody skips without a scaler";
  const auto& first = run.ledger[0].firstNonfinite;
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stage, "gradient");
  EXPECT_EQ(first->op, "aten::abs") << "whose output's gradient is 1 / (2 sqrt(0))";
  EXPECT_EQ(first->kind, "inf");
  EXPECT_EQ(first->parameter, "scale");
  EXPECT_FALSE(alarmOf(run, "forward_nonfinite"));
}

TEST(Stages, NameAParameterAnInputAndAnUpdate) {
  const json nan = {{{"name", "o"}, {"type", "SGD"}, {"lr", 1.0}}};
  const session::Trajectory run = trainedRun(recipeOn("training_root_at_zero", {{"autocast", nullptr}, {"scaler", nullptr}, {"optimizers", nan}, {"steps", 2}}));
  EXPECT_EQ(run.ledger[1].firstNonfinite->stage, "parameter");
  EXPECT_EQ(run.ledger[1].firstNonfinite->parameter, "scale");
  const json huge = {{{"name", "o"}, {"type", "SGD"}, {"lr", 1e38}}};
  const session::Trajectory update = trainedRun(recipeOn("training_loud_loss", {{"autocast", nullptr}, {"scaler", nullptr}, {"optimizers", huge}}));
  EXPECT_EQ(update.ledger[0].firstNonfinite->stage, "update");
  EXPECT_EQ(update.ledger[0].firstNonfinite->kind, "inf");
}

// The overflow of the second batch's forward: its gradients skip the step, the running statistics stay.
TEST(Buffers, ArePoisonedInASkippedStep) {
  const json recipe = recipeOn("training_poisoned_buffers", {{"loss", {{"kind", "cross_entropy"}}}, {"batch_size", 4}, {"steps", 3}});
  const session::Trajectory run = trainedRun(recipe);
  EXPECT_THAT(run.skipped().at("sgd"), testing::Contains(1));
  EXPECT_TRUE(run.ledger[1].skipped);
  EXPECT_FALSE(run.ledger[0].skipped);
  EXPECT_FALSE(run.firstNonfinite->step == 0);
  EXPECT_THAT(run.poisonedBuffers, testing::UnorderedElementsAre("bn.running_mean (step 1)", "bn.running_var (step 1)"));
  EXPECT_EQ(run.ledger[1].firstNonfinite->modulePath, "fc");
  EXPECT_TRUE(alarmOf(run, "buffers_poisoned"));
  json cured = recipe;
  cured["autocast"]["fp32"] = {"fc"};
  EXPECT_THAT(trainedRun(cured).poisonedBuffers, testing::IsEmpty());
}

// One training step moves running statistics once, whatever is watched beside it: 0.1 of the batch's mean (momentum 0.1).
TEST(Buffers, MoveOnceAStep) {
  json recipe = recipeOn("training_poisoned_buffers", {{"loss", {{"kind", "cross_entropy"}}}, {"batch_size", 4}, {"scaler", {{"init_scale", 1e9}}}});
  const session::Recipe parsed = session::recipeFromJson(recipe).value();
  const auto loaded = LoadedTraining::load(parsed);
  ASSERT_TRUE(loaded);
  const TrainingHooks hooks;
  const TrainingFrame frame = loaded.value()->frame(parsed, hooks, {});
  const RunPlan plan{"recipe", parsed.autocast, parsed.scaler};
  TrajectoryRun run(frame, plan);
  ASSERT_TRUE(run.step()) << "a skip: its first step was run four times in all";
  const at::Tensor x = loaded.value()->set.inputs.at("x").tensor.narrow(0, 0, 4);
  at::Tensor found;
  for (const auto& buffer : run.model().buffers())
    if (buffer.name == "bn.running_mean") found = buffer.value();
  const at::NoGradGuard noGrad;
  const at::Tensor weight = run.model().parameters()[0].tensor, bias = run.model().parameters()[1].tensor;
  const at::Tensor expected = 0.1 * (at::linear(x, weight, bias)).mean(0);
  EXPECT_TRUE(at::allclose(found, expected, 5e-3, 1e-2)) << found << expected;
  EXPECT_FALSE(at::allclose(found, 1.9 * expected, 5e-3, 1e-2)) << "twice would be 0.19";
}

TEST(TiedWeights, AreOneParameter) {
  TrainingModel model(torch::jit::load(tests::modelPath("training_tied")));
  ASSERT_EQ(model.parameters().size(), 1U);
  EXPECT_EQ(model.parameters()[0].name, "inner.weight");
  EXPECT_TRUE(model.module().attr("outer").toModule().attr("weight").toTensor().is_same(model.parameters()[0].tensor));
}

// Dropout draws by seed and place: again the same, with another seed not.
TEST(Seeds, GiveTheSameTraining) {
  const auto losses = [](std::uint64_t seed) {
    const session::Trajectory run = trainedRun(recipeOn("training_tied", {{"loss", {{"kind", "mse"}}}, {"steps", 3}, {"batch_size", 4}, {"seed", seed}, {"optimizers", {{{"type", "Adam"}, {"lr", 0.1}, {"name", "a"}}}}}));
    std::vector<double> found;
    for (const auto& line : run.ledger) found.push_back(line.loss);
    return found;
  };
  EXPECT_EQ(losses(1), losses(1));
  EXPECT_NE(losses(1), losses(2));
}

// The watched runs of the recipe's first step touch neither its own nor FP32's numbers.
TEST(WatchedSteps, LeaveNoTrace) {
  const json recipe = recipeOn("training_poisoned_buffers", {{"loss", {{"kind", "cross_entropy"}}}, {"batch_size", 4}, {"steps", 1}, {"optimizers", {{{"type", "SGD"}, {"lr", 0.1}, {"name", "sgd"}}}}});
  json fp32 = recipe;
  fp32["autocast"] = fp32["scaler"] = nullptr;
  const TrainingOutcome beside = tests::trained(recipe);
  const session::Trajectory alone = trainedRun(fp32);
  EXPECT_EQ(beside.training.run("fp32")->ledger[0].loss, alone.ledger[0].loss);
  EXPECT_EQ(beside.training.run("fp32")->ledger[0].updateNorm, alone.ledger[0].updateNorm);
  EXPECT_FALSE(beside.training.run("recipe")->gradientSites.empty());
}

std::vector<std::string> namesOf(const TrainingOutcome& outcome) {
  std::vector<std::string> names;
  for (const auto& run : outcome.training.runs) names.push_back(run.name);
  return names;
}

TEST(Isolation, TellsAutocastFromScaling) {
  const TrainingOutcome outcome = tests::trained(recipeOn("training_flat_gradients", {{"batch_size", 64}, {"optimizers", {{{"name", "o"}, {"type", "SGD"}, {"lr", 1.0}}}}}), /*isolate=*/true);
  EXPECT_THAT(namesOf(outcome), testing::ElementsAre("recipe", "fp32", "autocast off, scaling on", "autocast on, scaling off"));
  EXPECT_EQ(outcome.training.run("autocast on, scaling off")->ledger[0].updateNorm, 0);
  EXPECT_GT(outcome.training.run("recipe")->ledger[0].updateNorm, 0);
  const double fp32 = outcome.training.run("fp32")->ledger[0].updateNorm;
  EXPECT_NEAR(outcome.training.run("autocast off, scaling on")->ledger[0].updateNorm, fp32, 1e-5 * fp32);
  EXPECT_TRUE(alarmOf(*outcome.training.run("autocast on, scaling off"), "update_norm_far"));
  EXPECT_FALSE(alarmOf(*outcome.training.run("autocast off, scaling on"), "update_norm_far"));
}

TEST(Isolation, SetsRegionsBesideTheCells) {
  json recipe = recipeOn("training_loud_forward", {{"steps", 2}});
  recipe["autocast"]["fp32"] = {"first", "second"};
  const TrainingOutcome outcome = tests::trained(recipe, /*isolate=*/true);
  EXPECT_THAT(namesOf(outcome), testing::ElementsAre("recipe", "fp32", "autocast off, scaling on", "autocast on, scaling off, no FP32 region", "autocast on, scaling on, no FP32 region"));
  EXPECT_TRUE(outcome.training.run("recipe")->skipped().at("sgd").empty());
  EXPECT_EQ(outcome.training.run("recipe")->fp32, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(outcome.training.run("autocast on, scaling on, no FP32 region")->skipped().at("sgd").size(), 2U);
}

TEST(Isolation, NeedsNoSecondFp32) {
  const json descent = {{{"name", "o"}, {"type", "SGD"}, {"lr", 1.0}}};
  const TrainingOutcome outcome = tests::trained(recipeOn("training_flat_gradients", {{"batch_size", 64}, {"autocast", nullptr}, {"scaler", nullptr}, {"optimizers", descent}}), /*isolate=*/true);
  EXPECT_TRUE(alarmOf(*outcome.training.run("autocast on, scaling off"), "update_norm_far")) << "the recipe is FP32 itself";
  EXPECT_THAT(namesOf(outcome), testing::ElementsAre("recipe", "autocast off, scaling on", "autocast on, scaling off", "autocast on, scaling on"));
}

TEST(Recipe, ErrorsNameWhatIsNotThere) {
  EXPECT_THAT(tests::trainError(recipeOn("training_two_losses", {{"optimizers", {{{"type", "SGD"}, {"lr", 1}, {"parameters", {"quiet.*"}}}}}})), testing::AllOf(testing::StartsWith("usage: "), testing::HasSubstr("'quiet.*' matches no parameter")));
  EXPECT_THAT(tests::trainError(recipeOn("training_half_loss", {{"optimizers", {{{"type", "SGD"}, {"lr", 1}, {"loss", 1}}}}})), testing::AllOf(testing::StartsWith("usage: "), testing::HasSubstr("takes loss 1")));
  EXPECT_THAT(tests::trainError(recipeOn("training_poisoned_buffers")), testing::AllOf(testing::StartsWith("usage: "), testing::HasSubstr("which is no loss")));
  EXPECT_THAT(tests::trainError(recipeOn("training_half_loss", {{"loss", {{"kind", "mse"}}}})), testing::AllOf(testing::StartsWith("usage: "), testing::HasSubstr("'targets' is neither an input")));
  EXPECT_THAT(tests::trainError(recipeOn("training_half_loss", {{"loss", {{"kind", "mse"}, {"target", "x"}}}})), testing::AllOf(testing::StartsWith("usage: "), testing::HasSubstr("loss, target: has [2, 2], the output []"))) << "it would be broadcast";
  json region = recipeOn("training_half_loss");
  region["autocast"]["fp32"] = {"leyer"};
  EXPECT_THAT(tests::trainError(region), testing::AllOf(testing::StartsWith("usage: "), testing::HasSubstr("layer")));
  EXPECT_THAT(tests::trainError(recipeOn("training_half_loss", {{"model", "/nowhere/model.ts"}})), testing::StartsWith("input: "));
}

json probable(const json& loss) { return recipeOn("training_probable", {{"loss", loss}, {"autocast", nullptr}, {"scaler", nullptr}, {"steps", 2}, {"optimizers", {{{"type", "SGD"}, {"lr", 0.5}}}}}); }

TEST(Losses, AreRefusedUnderCudaAutocastInPyTorchsWords) {
  const TrainingOutcome outcome = tests::trained(probable({{"kind", "bce"}}), /*isolate=*/true);
  EXPECT_EQ(outcome.training.run("recipe")->error, "");
  EXPECT_EQ(outcome.training.run("recipe")->steps, 2);
  EXPECT_THAT(outcome.training.run("autocast on, scaling off")->error, testing::AllOf(testing::HasSubstr("unsafe to autocast"), testing::HasSubstr("in loss")));
}

// 8 probabilities p against labels y: PyTorch's own formula by hand, -mean(y log p + (1 - y) log(1 - p)), and squares from a script.
TEST(Losses, AreWhatTheirNamesSay) {
  const auto lossOf = [](const json& loss) { return trainedRun(probable(loss)).ledger[0].loss; };
  const torch::jit::Module inputs = torch::jit::load(tests::modelFolder("training_probable") + "/inputs.pt");
  const at::NoGradGuard noGrad;
  torch::jit::Module model = torch::jit::load(tests::modelPath("training_probable"));
  const at::Tensor p = model.forward({inputs.attr("x")}).toTensor().to(at::kDouble), y = inputs.attr("labels").toTensor().to(at::kDouble), d = p - y;
  EXPECT_NEAR(lossOf({{"kind", "bce"}, {"target", "labels"}}), -(y * p.log() + (1 - y) * (1 - p).log()).mean().item<double>(), 1e-6);
  EXPECT_NEAR(lossOf({{"kind", "mse"}, {"target", "labels"}, {"reduce", "sum"}}), (d * d).sum().item<double>(), 1e-6);
  EXPECT_NEAR(lossOf({{"kind", "l1"}, {"target", "labels"}}), d.abs().mean().item<double>(), 1e-6);
  EXPECT_NEAR(lossOf({{"kind", "smooth_l1"}, {"target", "labels"}}), (0.5 * d * d).mean().item<double>(), 1e-6) << "all |d| < 1";
  EXPECT_NEAR(lossOf({{"kind", "bce_with_logits"}, {"target", "labels"}}), ((1 + p.exp()).log() - y * p).mean().item<double>(), 1e-6);
  EXPECT_NEAR(lossOf({{"kind", "script"}, {"target", "labels"}, {"path", tests::modelFolder("training_probable") + "/loss.ts"}}), (d * d).mean().item<double>(), 1e-6);
}

// An FP32 region may be the loss itself: its module path is "loss".
TEST(Losses, StandInTheModulePathLoss) {
  json recipe = probable({{"kind", "script"}, {"target", "labels"}, {"path", tests::modelFolder("training_probable") + "/loss.ts"}});
  recipe["autocast"] = {{"dtype", "float16"}};
  const session::Trajectory run = trainedRun(recipe);
  EXPECT_TRUE(std::any_of(run.gradientSites.begin(), run.gradientSites.end(), [](const auto& site) { return site.modulePath == "loss" && site.op == "aten::mean"; }));
  recipe["autocast"]["fp32"] = {"loss"};
  EXPECT_EQ(trainedRun(recipe).error, "");
}

TEST(Cancel, KeepsTheStepsThatAreDone) {
  std::stop_source stop;
  TrainingHooks hooks;
  hooks.line = [&](const std::string&, const session::LedgerLine& line) {
    if (line.step == 2) stop.request_stop();
  };
  const session::Recipe recipe = session::recipeFromJson(half({{"steps", 50}})).value();
  const auto outcome = train(recipe, {}, hooks, stop.get_token());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->training.cancelled);
  ASSERT_EQ(outcome->training.runs.size(), 1U);
  EXPECT_EQ(outcome->training.runs[0].steps, 3);
  EXPECT_EQ(outcome->training.runs[0].error, "cancelled");
  const auto none = train(recipe, {}, {}, stop.get_token());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, base::ErrorKind::cancelled);
}

TEST(Native, TrainsInBfloat16OnTheCpusOwnLists) {
  const session::Trajectory run = trainedRun(recipeOn("training_flat_gradients", {{"batch_size", 64}, {"scaler", nullptr}, {"autocast", {{"dtype", "bfloat16"}, {"mode", "native"}}}}));
  EXPECT_EQ(run.error, "");
  EXPECT_LT(run.ledger[0].zeroShare, 0.3) << "BF16 has FP32's range";
  EXPECT_THAT(tests::trainError(recipeOn("training_half_loss", {{"autocast", {{"dtype", "float16"}, {"mode", "native"}}}})), testing::HasSubstr("BF16"));
}

}  // namespace
}  // namespace ulpscope::train
