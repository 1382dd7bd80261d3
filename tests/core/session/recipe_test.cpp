#include "core/session/recipe.h"
#include "core/session/training_events.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace ulpscope;
using namespace ulpscope::session;
using nlohmann::json;
using testing::HasSubstr;

namespace {

json smallest() {
  return json::parse(R"({"model": "m.ts", "inputs": "in.h5", "loss": "output", "optimizers": [{"type": "SGD", "lr": 0.1}], "steps": 3})");
}
std::string error(const json& document) {
  const auto recipe = recipeFromJson(document);
  return recipe ? "read" : recipe.error().message();
}
std::string errorWith(const char* key, const json& value) {
  json document = smallest();
  document[key] = value;
  return error(document);
}

TEST(Recipe, TakesPyTorchsDefaults) {
  const auto r = recipeFromJson(smallest());
  ASSERT_TRUE(r.ok()) << r.error().message();
  EXPECT_EQ(r->loss.kind, LossRecipe::Kind::output);
  ASSERT_EQ(r->optimizers.size(), 1U);
  EXPECT_EQ(r->optimizers[0].name, "optimizer");
  EXPECT_EQ(r->optimizers[0].weightDecay, 0);
  EXPECT_FALSE(r->autocast.has_value());
  EXPECT_FALSE(r->scaler.has_value());
  EXPECT_EQ(r->accumulationSteps, 1);
  EXPECT_TRUE(r->setToNone);
  EXPECT_FALSE(r->stopOnNonfinite);
  EXPECT_EQ(r->sha256.size(), 64U);
}

TEST(Recipe, ReadsEveryPart) {
  const auto r = recipeFromJson(json::parse(R"({
    "schema": 1, "model": "m.ts", "inputs": "in.h5", "labels": "y.txt", "loss": {"kind": "cross_entropy", "output": "logits", "reduce": "sum"},
    "optimizers": [{"name": "a", "type": "AdamW", "lr": 0.001, "parameters": ["body.*"], "beta2": 0.99}, {"name": "b", "type": "SGD", "lr": 0.1, "momentum": 0.9, "nesterov": true, "loss": 1}],
    "scheduler": {"type": "StepLR", "step_size": 10, "gamma": 0.5, "rule": "per_iteration"},
    "autocast": {"dtype": "bf16", "policy": "cuda@2.6", "fp32": ["head"], "cast_cache": false},
    "scaler": {"init_scale": 1024, "growth_factor": 4, "backoff_factor": 0.25, "growth_interval": 7, "series": "1.13"},
    "accumulation": {"steps": 4, "divide_loss": false}, "clip": {"norm": 1.5, "error_if_nonfinite": true}, "on_nonfinite": "stop", "set_to_none": false,
    "steps": 20, "batch_size": 8, "shuffle": 5, "seed": 9, "events": ["backward", "unscale_:a", "clip", "step", "update"],
    "criteria": {"max_skip_rate": 0.1, "min_applied_updates": 18, "max_final_loss_increase": 0.5, "max_accuracy_drop": 0.005, "no_alarm": true},
    "rollback": {"outputs_nonfinite": true, "min_accuracy": 0.5, "max_loss": -0.25, "no_update_in": 6}, "checkpoint_every": 5})"));
  ASSERT_TRUE(r.ok()) << r.error().message();
  EXPECT_EQ(r->loss.target, "labels");
  EXPECT_EQ(r->loss.reduce, LossRecipe::Reduce::sum);
  EXPECT_EQ(r->optimizers[0].weightDecay, 0.01) << "AdamW's default";
  EXPECT_EQ(r->optimizers[0].beta2, 0.99);
  EXPECT_TRUE(r->optimizers[1].nesterov);
  EXPECT_EQ(r->optimizers[1].loss, 1);
  EXPECT_TRUE(r->rollback.outputsNonfinite);
  EXPECT_EQ(r->rollback.minAccuracy, 0.5);
  EXPECT_EQ(r->rollback.maxLoss, -0.25);
  EXPECT_EQ(r->rollback.noUpdateIn, 6);
  EXPECT_EQ(r->checkpointEvery, 5);
  EXPECT_EQ(r->scheduler->rule, SchedulerRecipe::Rule::perIteration);
  EXPECT_EQ(r->autocast->dtype, base::DType::bfloat16);
  EXPECT_FALSE(r->autocast->castCache);
  EXPECT_EQ(r->scaler->series, ScalerRecipe::Series::v1_13);
  EXPECT_EQ(r->scaler->growthInterval, 7);
  EXPECT_FALSE(r->divideLoss);
  EXPECT_EQ(*r->clip->norm, 1.5);
  EXPECT_EQ(*r->shuffleSeed, 5U);
  EXPECT_EQ(r->events.size(), 5U);
  EXPECT_TRUE(r->criteria.noAlarm);
}

TEST(Recipe, NamesWhatIsWrongAndWhere) {
  EXPECT_THAT(errorWith("scalar", nullptr), HasSubstr("recipe, scalar: is no key that is known here; nearest: 'scaler'"));
  EXPECT_THAT(error(json::parse("[]")), HasSubstr("recipe: must be an object"));
  for (const char* key : {"model", "inputs", "loss", "optimizers", "steps"}) {
    json document = smallest();
    document.erase(key);
    EXPECT_THAT(error(document), HasSubstr(key)) << key;
  }
  EXPECT_THAT(errorWith("optimizers", json::parse(R"([{"type": "SGD", "lr": 0.1, "beta1": 0.5}])")), HasSubstr("recipe, optimizers[0].beta1: is no key"));
  EXPECT_THAT(errorWith("optimizers", json::parse(R"([{"type": "Lion", "lr": 0.1}])")), HasSubstr("'Lion' is not one of"));
  EXPECT_THAT(errorWith("optimizers", json::parse(R"([{"type": "SGD", "lr": 0.1, "name": "a"}, {"type": "SGD", "lr": 0.1, "name": "a"}])")), HasSubstr("'a' stands twice"));
  EXPECT_THAT(errorWith("optimizers", json::parse(R"([{"type": "SGD", "lr": 0.1, "nesterov": true}])")), HasSubstr("needs a momentum"));
  EXPECT_THAT(errorWith("scaler", {{"growth_factor", 1}}), HasSubstr("recipe, scaler.growth_factor: must be above 1"));
  EXPECT_THAT(errorWith("scaler", {{"backoff_factor", 1}}), HasSubstr("must be above 0 and below 1"));
  EXPECT_THAT(errorWith("clip", json::object()), HasSubstr("give either norm or value"));
  EXPECT_THAT(errorWith("clip", {{"norm", 1}, {"value", 1}}), HasSubstr("give either norm or value"));
  EXPECT_THAT(errorWith("steps", 0), HasSubstr("0 is below 1"));
  EXPECT_THAT(errorWith("steps", 2.5), HasSubstr("2.5 is no whole number"));
  EXPECT_THAT(errorWith("shuffle", true), HasSubstr("true names no seed"));
  EXPECT_EQ(errorWith("shuffle", false), "read");
  EXPECT_THAT(errorWith("events", json::array({"stop"})), HasSubstr("'stop': is no event of a training loop"));
  EXPECT_THAT(errorWith("loss", "mse"), HasSubstr("'mse' is a kind of loss; write {\"kind\": \"mse\"}"));
  EXPECT_THAT(errorWith("loss", "outptu"), HasSubstr("'outptu' is no loss; nearest: \"output\", the model's own"));
  EXPECT_THAT(errorWith("loss", "cros_entropy"), HasSubstr("nearest: {\"kind\": \"cross_entropy\"}; or \"output\""));
  EXPECT_THAT(errorWith("schema", 2), HasSubstr("recipe, schema: 2 is not the schema that this version reads; write 1"));
  EXPECT_THAT(errorWith("schema", "1"), HasSubstr("is not the schema"));
  EXPECT_THAT(errorWith("loss", {{"output", true}, {"reduce", "max"}}), HasSubstr("'max' is not one of"));
}

json optimizerWith(const char* type, const json& more) {
  json optimizer = {{"type", type}, {"lr", 0.1}};
  optimizer.update(more);
  return json::array({optimizer});
}

// The scale is a float32 tensor in torch.amp: 65536 * 1e39 is infinite there, and 1e-300 is 0.
TEST(Recipe, RefusesScalesThatFloat32CannotHold) {
  for (const char* key : {"init_scale", "growth_factor"})
    for (const double value : {1e39, 1e300}) EXPECT_THAT(errorWith("scaler", {{key, value}}), HasSubstr(std::string("recipe, scaler.") + key + ": " + json(value).dump() + " is infinite in float32, in which the scale is kept"));
  for (const char* key : {"init_scale", "backoff_factor"})
    for (const double value : {1e-46, 1e-300}) EXPECT_THAT(errorWith("scaler", {{key, value}}), HasSubstr(std::string("scaler.") + key + ": " + json(value).dump() + " is 0 in float32"));
  EXPECT_EQ(errorWith("scaler", {{"init_scale", 1e-45}, {"growth_factor", 3.4e38}}), "read") << "the smallest subnormal, and nearly the largest number";
  EXPECT_THAT(errorWith("scaler", {{"init_scale", -1}}), HasSubstr("must be above 0"));
}

TEST(Recipe, RefusesNumbersThatLibTorchCannotTake) {
  for (const char* key : {"lr", "weight_decay", "momentum", "dampening"}) EXPECT_THAT(errorWith("optimizers", optimizerWith("SGD", {{key, 1e300}})), HasSubstr(std::string("recipe, optimizers[0].") + key + ": 1e+300 is beyond float32")) << key;
  EXPECT_THAT(errorWith("optimizers", optimizerWith("AdamW", {{"weight_decay", 1e308}})), HasSubstr("optimizers[0].weight_decay: 1e+308 is beyond float32"));
  EXPECT_THAT(errorWith("optimizers", optimizerWith("Adam", {{"eps", 1e39}})), HasSubstr("optimizers[0].eps: 1e+39 is beyond float32"));
  EXPECT_THAT(errorWith("optimizers", optimizerWith("AdamW", {{"lr", 1e20}, {"weight_decay", 1e20}})), HasSubstr("optimizers[0].lr: makes updates beyond float32")) << "1 - lr * weight_decay";
  EXPECT_THAT(errorWith("optimizers", optimizerWith("Adam", {{"lr", 1e38}})), HasSubstr("optimizers[0].lr: makes updates beyond float32")) << "lr / (1 - beta1)";
  EXPECT_EQ(errorWith("optimizers", optimizerWith("SGD", {{"lr", 1e38}})), "read");
  for (const char* key : {"norm", "value"}) EXPECT_THAT(errorWith("clip", {{key, 1e39}}), HasSubstr(std::string("recipe, clip.") + key + ": 1e+39 is beyond float32"));
  EXPECT_THAT(errorWith("scheduler", {{"type", "ExponentialLR"}, {"gamma", 1e200}}), HasSubstr("recipe, scheduler.gamma: 1e+200 is beyond float32"));
}

// 0.1 * 1e10^k passes 3.4e38 with k = 4.
TEST(Recipe, RefusesAScheduleThatLeavesFloat32) {
  json document = smallest();
  document["scheduler"] = {{"type", "ExponentialLR"}, {"gamma", 1e10}};
  document["steps"] = 4;
  EXPECT_EQ(error(document), "read") << "the fourth step has 0.1e30";
  document["steps"] = 5;
  EXPECT_THAT(error(document), HasSubstr("recipe, scheduler.gamma: takes the rate of optimizer optimizer beyond float32 within 5 steps"));
  document["scheduler"] = {{"type", "StepLR"}, {"gamma", 1e10}, {"step_size", 2}};
  EXPECT_EQ(error(document), "read");
  document["steps"] = 9;
  EXPECT_THAT(error(document), HasSubstr("within 9 steps"));
  document["scheduler"] = {{"type", "LinearWarmup"}, {"gamma", 1e10}};
  EXPECT_EQ(error(document), "read") << "once";
  document["scheduler"] = {{"type", "ExponentialLR"}, {"gamma", 0.5}};
  EXPECT_EQ(error(document), "read");
}

TEST(Recipe, RefusesCountsThatMemoryCannotHold) {
  EXPECT_EQ(errorWith("accumulation", {{"steps", 65536}}), "read");
  EXPECT_THAT(errorWith("accumulation", {{"steps", 65537}}), HasSubstr("recipe, accumulation.steps: 65537 is above 65,536; write at most 65536"));
  EXPECT_THAT(errorWith("accumulation", {{"steps", 1000000000000}}), HasSubstr("1000000000000 is above 65,536"));
  EXPECT_THAT(errorWith("optimizers", optimizerWith("SGD", {{"loss", 4294967296}})), HasSubstr("optimizers[0].loss: 4294967296 is above")) << "which an int would take for 0";
}

TEST(Recipe, IsBlamedByItsKeysNotByOptions) {
  const auto told = [](base::ErrorKind kind, const std::string& which) { return asRecipeFault({kind, "matches no module", which, ""}, "r.json"); };
  EXPECT_EQ(told(base::ErrorKind::usage, "--fp32 nope").message(), "r.json, recipe, autocast.fp32, nope: matches no module");
  EXPECT_EQ(told(base::ErrorKind::usage, "--disable nope").message(), "r.json, recipe, autocast.disable, nope: matches no module");
  EXPECT_EQ(told(base::ErrorKind::usage, "--policy tpu").message(), "r.json, recipe, autocast.policy, tpu: matches no module");
  EXPECT_EQ(told(base::ErrorKind::usage, "loss, target").kind, base::ErrorKind::input);
  EXPECT_EQ(told(base::ErrorKind::usage, "recipe, rollback").message(), "r.json, recipe, rollback: matches no module");
  EXPECT_EQ(told(base::ErrorKind::usage, "--change").message(), "--change: matches no module") << "an option it was";
  EXPECT_EQ(told(base::ErrorKind::usage, "step-3.h5").kind, base::ErrorKind::usage);
  EXPECT_EQ(told(base::ErrorKind::run, "model.ts").message(), "model.ts: matches no module");
  EXPECT_EQ(told(base::ErrorKind::run, "model.ts").kind, base::ErrorKind::run);
}

TEST(Recipe, RefusesTheLossThatAutocastRefuses) {
  json document = smallest();
  document["loss"] = {{"kind", "bce"}};
  EXPECT_EQ(error(document), "read") << "FP32 may";
  document["autocast"] = {{"dtype", "float16"}};
  EXPECT_THAT(error(document), HasSubstr("unsafe to autocast"));
  document["autocast"]["policy"] = "cpu";
  EXPECT_EQ(error(document), "read");
}

// Every key that the schema names is known to the reader; what it does not name is refused by both.
TEST(Recipe, KnowsTheKeysOfItsSchema) {
  std::ifstream file(ULPSCOPE_TEST_DATA "/../../../resources/schema/recipe.schema.json");
  const json schema = json::parse(file);
  for (const auto& [key, unused] : schema.at("properties").items()) EXPECT_THAT(errorWith(key.c_str(), json::object()), testing::Not(HasSubstr("is no key that is known"))) << key;
  for (const auto& [key, unused] : schema.at("properties").at("optimizers").at("items").at("properties").items()) {
    const char* type = key.rfind("beta", 0) == 0 || key == "eps" || key == "amsgrad" ? "Adam" : "SGD";
    json optimizer = {{"type", type}, {"lr", 0.1}};
    if (!optimizer.contains(key)) optimizer[key] = nullptr;
    EXPECT_THAT(errorWith("optimizers", json::array({optimizer})), testing::Not(HasSubstr("is no key that is known"))) << key;
  }
}

TEST(Recipe, RefusesAKeyThatStandsTwice) {
  const tests::ScratchFolder folder;
  const std::string path = folder.file("recipe.json");
  tests::writeFile(path, R"({"model": "m.ts", "inputs": "in.h5", "loss": "output", "optimizers": [{"type": "SGD", "lr": 0.1}, {"type": "SGD", "lr": 0.2, "lr": 0.3}], "steps": 3})");
  const auto recipe = readRecipe(path);
  ASSERT_FALSE(recipe.ok()) << "the second of two rates would quietly win";
  EXPECT_THAT(recipe.error().message(), HasSubstr("recipe.json: has the key 'lr' twice in one object; take one of the two out"));
}

TEST(EventLines, ReadBackWhatTheyWrite) {
  const std::string text =
      "{\"ulpscope_events\": 1, \"optimizers\": [\"a\", \"b\"], \"accumulation\": 2}\n\n"
      "{\"iteration\": 3, \"event\": \"step\", \"optimizer\": \"b\", \"scaler\": \"s\", \"run\": \"amp\", \"api\": \"torch.cuda.amp\", \"applied\": false}\n"
      "{\"iteration\": 4, \"event\": \"checkpoint\", \"saved\": [\"model\", \"rng\"]}\n{\"iteration\": 5, \"event\": \"checkpoint\", \"saved\": null}\n";
  const auto log = eventLogFromLines(text);
  ASSERT_TRUE(log.ok()) << log.error().message();
  EXPECT_EQ(log->facts.accumulation, 2);
  ASSERT_EQ(log->events.size(), 3U);
  EXPECT_EQ(log->events[0].kind, EventKind::step);
  EXPECT_EQ(log->events[0].applied, false);
  const auto again = eventLogFromLines(toLines(log.value()));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(toLines(again.value()), toLines(log.value()));
  EXPECT_EQ(again->events[0].api, "torch.cuda.amp");
  EXPECT_EQ(again->events[1].saved, (std::vector<std::string>{"model", "rng"}));
  EXPECT_FALSE(again->events[2].saved.has_value());
}

TEST(EventLines, NameTheLineThatIsWrong) {
  const std::string head = "{\"ulpscope_events\": 1, \"optimizers\": [\"a\"]}\n";
  const auto says = [](const std::string& text) {
    const auto log = eventLogFromLines(text);
    return log ? "read" : log.error().message();
  };
  EXPECT_THAT(says(""), HasSubstr("event log: is empty"));
  EXPECT_THAT(says(head + "{\"event\": \"unscale\"}"), HasSubstr("line 2, event: 'unscale' is no event; nearest: 'unscale_'"));
  EXPECT_THAT(says(head + "\n{\"event\": \"step\""), HasSubstr("line 3, column 17: is no JSON: it ends where more should follow; write one JSON object a line"));
  EXPECT_THAT(says(head + "{\"event\": step}"), HasSubstr("line 2, column 11: is no JSON: 'step' does not belong there"));
  EXPECT_THAT(says(head + "{\"event\": \"step\", \"event\": \"clip\"}"), HasSubstr("line 2: has the key 'event' twice in one object"));
  EXPECT_THAT(says(head + "{\"event\": " + std::string(300000, '[')), HasSubstr("line 2, column 110: is nested deeper than 100 levels"));
  EXPECT_THAT(says("{\"iteration\": 0, \"event\": \"step\"}"), HasSubstr("line 1, ulpscope_events: is missing; begin the log with its head"));
  EXPECT_THAT(says("{\"ulpscope_events\": 1, \"optimizers\": [\"a\", \"b\", \"a\"]}"), HasSubstr("line 1, optimizers: 'a' stands twice"));
  EXPECT_THAT(says(head + "{\"event\": \"step\", \"optimizer\": \"b\"}"), HasSubstr("'b' is not among the first line's 'a'"));
  EXPECT_THAT(says(head + "{\"event\": \"checkpoint\", \"saved\": [\"model\", \"scalar\"]}"), HasSubstr("line 2, saved: 'scalar' is not one of 'model', 'optimizer', 'scaler'"));
  EXPECT_THAT(says(head + "{\"event\": \"step\", \"saved\": []}"), HasSubstr("line 2, saved: is no key that is known here"));
  EXPECT_THAT(says("{\"ulpscope_events\": 2, \"optimizers\": [\"a\"]}"), HasSubstr("not the version"));
}

}  // namespace
