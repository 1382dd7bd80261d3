#include "core/session/recipe.h"

#include "core/base/hashing.h"
#include "core/base/nearest_names.h"
#include "core/base/number_text.h"
#include "core/session/json_section.h"
#include "core/session/training_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

const std::vector<std::string>& lossNames() {
  static const std::vector<std::string> names{"output", "cross_entropy", "nll", "mse", "l1", "smooth_l1", "bce_with_logits", "bce", "script"};
  return names;
}
const std::vector<std::string>& optimizerNames() {
  static const std::vector<std::string> names{"SGD", "Adam", "AdamW"};
  return names;
}
const std::vector<std::string>& schedulerNames() {
  static const std::vector<std::string> names{"StepLR", "ExponentialLR", "LinearWarmup"};
  return names;
}

// Micro-batches of an iteration: its calls are laid out before it begins, and its gradients are one update's.
constexpr std::int64_t kMostMicroBatches = 65536;
constexpr double kLargestFloat = std::numeric_limits<float>::max();

// What LibTorch hands to float32 tensors.
double float32(Section& s, const char* key, double otherwise) {
  const double value = s.number(key, otherwise);
  if (std::abs(value) > kLargestFloat) s.fail(key, fmt::format("{} is beyond float32, in which the model is trained", s.at(key).dump()), fmt::format("write at most {}", base::exactNumber(kLargestFloat)));
  return value;
}

double positive(Section& s, const char* key, double otherwise) {
  const double value = float32(s, key, otherwise);
  if (value <= 0) s.fail(key, "must be above 0");
  return value;
}

// The scale is kept in float32: its factors are too, or it jumps to 0 or infinity at once.
double scaling(Section& s, const char* key, double otherwise) {
  const double value = s.number(key, otherwise);
  if (value <= 0) s.fail(key, "must be above 0");
  const bool holds = value <= kLargestFloat && static_cast<float>(value) > 0;
  if (!holds) s.fail(key, fmt::format("{} is {} in float32, in which the scale is kept", s.at(key).dump(), value > 1 ? "infinite" : "0"), "write a finite number above 0 that float32 can hold");
  return value;
}

double share(Section& s, const char* key, double otherwise) {
  const double value = s.number(key, otherwise);
  if (value < 0 || value >= 1) s.fail(key, "must be at least 0 and below 1");
  return value;
}

double notNegative(Section& s, const char* key, double otherwise) {
  const double value = float32(s, key, otherwise);
  if (value < 0) s.fail(key, "must be at least 0");
  return value;
}

// A word alone is right for "output" only.
[[noreturn]] void refuseLoss(Section& file, const std::string& word) {
  if (std::find(lossNames().begin(), lossNames().end(), word) != lossNames().end()) file.fail("loss", "'" + word + "' is a kind of loss", "write {\"kind\": \"" + word + "\"}");
  const std::string nearest = base::nearestNames(word, lossNames(), 1).front();
  file.fail("loss", "'" + word + "' is no loss", nearest == "output" ? "nearest: \"output\", the model's own" : "nearest: {\"kind\": \"" + nearest + "\"}; or \"output\", the model's own");
}

LossRecipe readLoss(Section& file) {
  LossRecipe loss;
  if (!file.has("loss")) file.fail("loss", "is missing", "write \"output\" where the model returns the loss, or {\"kind\": \"cross_entropy\"}");
  if (file.at("loss").is_string()) {
    if (const std::string word = file.text("loss"); word != "output") refuseLoss(file, word);
    return loss;
  }
  Section s = file.section("loss");
  const bool returned = s.has("output") && s.at("output").is_boolean();
  loss.kind = static_cast<LossRecipe::Kind>(s.oneOf("kind", lossNames(), 0));
  if (s.has("kind") && returned) s.fail("output", "must be an output's name where there is a kind");
  const bool isOutput = loss.kind == LossRecipe::Kind::output;
  if (!s.has("kind") && !returned) s.fail("kind", "is missing", "name a loss, or write {\"output\": true}");
  if (returned && !s.flag("output", true)) s.fail("output", "must be true, or the name of the output that the loss takes");
  if (!returned) loss.output = s.text("output");
  loss.reduce = static_cast<LossRecipe::Reduce>(s.oneOf("reduce", {"none", "mean", "sum"}, isOutput ? 0 : 1));
  if (!isOutput && loss.reduce == LossRecipe::Reduce::none) s.fail("reduce", "must be mean or sum: a loss is one number");
  const bool ofClasses = loss.kind == LossRecipe::Kind::crossEntropy || loss.kind == LossRecipe::Kind::nll;
  if (!isOutput) loss.target = s.text("target", ofClasses ? "labels" : "targets");
  if (loss.kind == LossRecipe::Kind::script) loss.script = s.text("path");
  if (loss.kind == LossRecipe::Kind::script && loss.script.empty()) s.fail("path", "is missing", "name a TorchScript module whose forward(output, target) gives the loss");
  s.refuseUnknown();
  return loss;
}

constexpr std::int64_t kMostLosses = 65535;  // the highest number that one can have

OptimizerRecipe readOptimizer(Section s, const std::string& otherwise) {
  OptimizerRecipe o;
  if (!s.has("type")) s.fail("type", "is missing", "write SGD, Adam or AdamW");
  o.type = static_cast<OptimizerRecipe::Type>(s.oneOf("type", optimizerNames(), 0));
  o.name = s.text("name", otherwise);
  if (o.name.empty()) s.fail("name", "is empty");
  if (s.has("parameters")) o.parameters = s.texts("parameters");
  if (o.parameters.empty()) s.fail("parameters", "is empty", "write globs over the model's parameters, as [\"encoder.*\"]");
  o.loss = static_cast<int>(s.whole("loss", 0, 0, kMostLosses));
  if (!s.has("lr")) s.fail("lr", "is missing");
  o.lr = notNegative(s, "lr", 0);
  o.weightDecay = notNegative(s, "weight_decay", o.type == OptimizerRecipe::Type::adamW ? 0.01 : 0);
  if (o.type == OptimizerRecipe::Type::sgd) {
    o.momentum = notNegative(s, "momentum", 0);
    o.dampening = notNegative(s, "dampening", 0);
    o.nesterov = s.flag("nesterov", false);
    if (o.nesterov && (o.momentum == 0 || o.dampening != 0)) s.fail("nesterov", "needs a momentum and no dampening");
  } else {
    o.beta1 = share(s, "beta1", 0.9);
    o.beta2 = share(s, "beta2", 0.999);
    o.eps = notNegative(s, "eps", 1e-8);
    o.amsgrad = s.flag("amsgrad", false);
  }
  s.refuseUnknown();
  return o;
}

void readOptimizers(Section& file, Recipe& recipe) {
  std::set<std::string> names;
  std::vector<Section> sections = file.sections("optimizers");
  for (std::size_t i = 0; i < sections.size(); ++i) {
    recipe.optimizers.push_back(readOptimizer(sections[i], sections.size() == 1 ? "optimizer" : "optimizer" + std::to_string(i)));
    if (!names.insert(recipe.optimizers.back().name).second) sections[i].fail("name", "'" + recipe.optimizers.back().name + "' stands twice");
  }
  if (recipe.optimizers.empty()) file.fail("optimizers", "has no optimizer", "give at least one");
}

AutocastRecipe readAutocast(Section s) {
  AutocastRecipe a;
  a.dtype = s.oneOf("dtype", {"float16", "bfloat16", "fp16", "bf16"}, 0) % 2 == 0 ? base::DType::float16 : base::DType::bfloat16;
  a.policyTable = s.text("policy", "cuda");
  a.mode = s.oneOf("mode", {"emulated", "native"}, 0) == 0 ? Mode::emulated : Mode::native;
  a.fp32 = s.texts("fp32");
  a.disable = s.texts("disable");
  a.castCache = s.flag("cast_cache", true);
  s.refuseUnknown();
  return a;
}

// The bounds are those that torch.amp.GradScaler asserts.
ScalerRecipe readScaler(Section s) {
  ScalerRecipe r;
  r.series = static_cast<ScalerRecipe::Series>(s.oneOf("series", {"1.13", "2.1"}, 1));
  r.initScale = scaling(s, "init_scale", 65536);
  r.growthFactor = scaling(s, "growth_factor", 2);
  if (r.growthFactor <= 1) s.fail("growth_factor", "must be above 1, as torch.amp says");
  r.backoffFactor = scaling(s, "backoff_factor", 0.5);
  if (r.backoffFactor >= 1) s.fail("backoff_factor", "must be above 0 and below 1, as torch.amp says");
  r.growthInterval = s.whole("growth_interval", 2000, 1);
  s.refuseUnknown();
  return r;
}

ClipRecipe readClip(Section s) {
  ClipRecipe c;
  if (s.has("norm")) c.norm = positive(s, "norm", 1);
  if (s.has("value")) c.value = positive(s, "value", 1);
  c.errorIfNonfinite = s.flag("error_if_nonfinite", false);
  if (c.norm.has_value() == c.value.has_value()) s.fail(c.norm ? "value" : "norm", c.norm ? "stands beside a norm" : "is missing", "give either norm or value");
  if (c.value && c.errorIfNonfinite) s.fail("error_if_nonfinite", "belongs to a norm");
  s.refuseUnknown();
  return c;
}

SchedulerRecipe readScheduler(Section s) {
  SchedulerRecipe r;
  r.type = static_cast<SchedulerRecipe::Type>(s.oneOf("type", schedulerNames(), 0));
  r.rule = s.oneOf("rule", {"per_update", "per_iteration"}, 0) == 0 ? SchedulerRecipe::Rule::perUpdate : SchedulerRecipe::Rule::perIteration;
  if (r.type != SchedulerRecipe::Type::exponential) r.stepSize = s.whole("step_size", 1, 1);
  r.gamma = positive(s, "gamma", 0.1);
  s.refuseUnknown();
  return r;
}

void readAccumulation(Section s, Recipe& recipe) {
  recipe.accumulationSteps = s.whole("steps", 1, 1, kMostMicroBatches);
  recipe.divideLoss = s.flag("divide_loss", true);
  s.refuseUnknown();
}

TrainingCriteria readLimits(Section s) {
  TrainingCriteria c;
  c.maxSkipRate = s.limit("max_skip_rate", 1);
  if (s.has("min_applied_updates")) c.minAppliedUpdates = s.whole("min_applied_updates", 0, 0);
  c.maxFinalLossIncrease = s.limit("max_final_loss_increase");
  c.maxAccuracyDrop = s.limit("max_accuracy_drop", 1);
  c.noAlarm = s.flag("no_alarm", false);
  s.refuseUnknown();
  return c;
}

RollbackRecipe readRollback(Section s) {
  RollbackRecipe r;
  r.outputsNonfinite = s.flag("outputs_nonfinite", false);
  r.minAccuracy = s.limit("min_accuracy", 1);
  r.maxLoss = s.limit("max_loss", Section::kLargest, -Section::kLargest);
  if (s.has("no_update_in")) r.noUpdateIn = s.whole("no_update_in", 1, 1);
  s.refuseUnknown();
  return r;
}

void readShuffle(Section& file, Recipe& recipe) {
  if (!file.has("shuffle") || file.at("shuffle") == false) return;
  if (file.at("shuffle").is_boolean()) file.fail("shuffle", "true names no seed", "write a seed, or false");
  recipe.shuffleSeed = static_cast<std::uint64_t>(file.whole("shuffle", 0, 0));
}

void readEvents(Section& file, Recipe& recipe) {
  if (!file.hasValue("events")) return;
  recipe.events = file.texts("events");
  if (recipe.events.empty()) file.fail("events", "is empty", "write null for the right order");
  for (const std::string& event : recipe.events)
    if (auto known = parseRecipeEvent(event); !known) file.fail("events", known.error().message());
}

// torch.nn.functional.binary_cross_entropy under CUDA autocast; BF16 on the CPU takes it.
void refuseBannedLoss(Section& file, const Recipe& recipe) {
  if (recipe.loss.kind != LossRecipe::Kind::bce || !recipe.autocast || recipe.autocast->policyTable.rfind("cuda", 0) != 0) return;
  file.fail("loss",
            "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast. Many models use a sigmoid layer right before the binary cross entropy layer. In this case, combine the two "
            "layers using torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss. binary_cross_entropy_with_logits and BCEWithLogits are safe to autocast.",
            "use bce_with_logits on the scores before the sigmoid");
}

// The largest rate and what LibTorch makes of it must stay in float32 to the last step.
void refuseRunawayRate(Section& file, const Recipe& recipe) {
  double growth = 0;  // of the rate's logarithm
  if (recipe.scheduler) {
    const SchedulerRecipe& s = *recipe.scheduler;
    const auto times = s.type == SchedulerRecipe::Type::linearWarmup ? 1 : (recipe.steps - 1) / (s.type == SchedulerRecipe::Type::step ? s.stepSize : 1);
    growth = std::max(0.0, std::log(s.gamma) * static_cast<double>(times));
  }
  const double largest = std::log(kLargestFloat);
  for (std::size_t i = 0; i < recipe.optimizers.size(); ++i) {
    const OptimizerRecipe& o = recipe.optimizers[i];
    if (o.lr == 0) continue;
    double update = std::log(o.lr);
    if (o.type != OptimizerRecipe::Type::sgd) update -= std::log1p(-o.beta1);  // Adam's first correction
    if (o.type == OptimizerRecipe::Type::adamW && o.weightDecay > 0) update = std::max(update, std::log(o.lr) + std::log(o.weightDecay));
    if (update > largest) file.fail(fmt::format("optimizers[{}].lr", i), "makes updates beyond float32, in which the model is trained", "write a smaller rate");
    if (update + growth > largest) file.fail("scheduler.gamma", fmt::format("takes the rate of optimizer {} beyond float32 within {}", o.name, base::counted(recipe.steps, "step")), "write a smaller one, or fewer steps");
  }
}

void readWhole(Section& file, Recipe& recipe) {
  if (file.has("schema") && file.at("schema") != 1) file.fail("schema", file.at("schema").dump() + " is not the schema that this version reads", "write 1, or use a newer Ulpscope");
  for (const auto& [key, to] : {std::pair("model", &recipe.model), std::pair("inputs", &recipe.inputs)}) {
    *to = file.text(key);
    if (to->empty()) file.fail(key, "is missing", "name a file, relative to the recipe");
  }
  recipe.labels = file.text("labels");
  recipe.loss = readLoss(file);
  readOptimizers(file, recipe);
  if (file.hasValue("scheduler")) recipe.scheduler = readScheduler(file.section("scheduler"));
  if (file.hasValue("autocast")) recipe.autocast = readAutocast(file.section("autocast"));
  if (file.hasValue("scaler")) recipe.scaler = readScaler(file.section("scaler"));
  if (file.hasValue("accumulation")) readAccumulation(file.section("accumulation"), recipe);
  if (file.hasValue("clip")) recipe.clip = readClip(file.section("clip"));
  recipe.stopOnNonfinite = file.oneOf("on_nonfinite", {"stop", "skip"}, 1) == 0;
  recipe.setToNone = file.flag("set_to_none", true);
  if (!file.has("steps")) file.fail("steps", "is missing", "say how many updates to try");
  recipe.steps = file.whole("steps", 1, 1);
  recipe.batchSize = file.whole("batch_size", 32, 1);
  readShuffle(file, recipe);
  recipe.seed = static_cast<std::uint64_t>(file.whole("seed", 0, 0));
  readEvents(file, recipe);
  if (file.hasValue("criteria")) recipe.criteria = readLimits(file.section("criteria"));
  if (file.hasValue("rollback")) recipe.rollback = readRollback(file.section("rollback"));
  recipe.checkpointEvery = file.whole("checkpoint_every", 0, 0);
  file.refuseUnknown();
  refuseBannedLoss(file, recipe);
  refuseRunawayRate(file, recipe);
}

}  // namespace

std::string name(LossRecipe::Kind kind) { return lossNames()[static_cast<std::size_t>(kind)]; }
std::string name(OptimizerRecipe::Type type) { return optimizerNames()[static_cast<std::size_t>(type)]; }
std::string name(SchedulerRecipe::Type type) { return schedulerNames()[static_cast<std::size_t>(type)]; }
std::string name(ScalerRecipe::Series series) { return series == ScalerRecipe::Series::v1_13 ? "1.13" : "2.1"; }

std::string canonicalText(const TrainingCriteria& criteria) {
  json limits = json::object();
  if (criteria.maxSkipRate) limits["max_skip_rate"] = *criteria.maxSkipRate;
  if (criteria.minAppliedUpdates) limits["min_applied_updates"] = *criteria.minAppliedUpdates;
  if (criteria.maxFinalLossIncrease) limits["max_final_loss_increase"] = *criteria.maxFinalLossIncrease;
  if (criteria.maxAccuracyDrop) limits["max_accuracy_drop"] = *criteria.maxAccuracyDrop;
  if (criteria.noAlarm) limits["no_alarm"] = true;
  return criteria.any() ? limits.dump() : "";
}

Result<TrainingCriteria> trainingCriteriaFromText(const std::string& canonical) try {
  const auto limits = parseJson(canonical, "criteria of trainings", "");
  if (!limits) return limits.error();
  return readLimits(Section(limits.value(), "criteria of trainings"));
} catch (const SectionFault& fault) {
  return fault.error;
}

Result<Recipe> recipeFromJson(const json& document) try {
  Recipe recipe;
  Section file(document, "recipe");
  readWhole(file, recipe);
  recipe.canonical = document.dump();
  recipe.sha256 = base::sha256(recipe.canonical);
  return recipe;
} catch (const SectionFault& fault) {
  return fault.error;
} catch (const json::exception& e) {
  return Error{ErrorKind::input, std::string("cannot be read: ") + e.what(), "recipe", ""};
}

Error asRecipeFault(Error error, const std::string& path) {
  if (error.kind != ErrorKind::usage) return error;
  for (const auto& [option, key] : {std::pair<std::string, const char*>("--fp32 ", "autocast.fp32, "), {"--disable ", "autocast.disable, "}, {"--policy ", "autocast.policy, "}})
    if (error.which.rfind(option, 0) == 0) error.which = key + error.which.substr(option.size());
  const std::string place = error.which.substr(0, error.which.find_first_of(" ,."));
  const std::vector<std::string> places{"recipe", "optimizer", "events", "loss", "autocast", "rollback"};
  if (std::find(places.begin(), places.end(), place) == places.end()) return error;
  error.kind = ErrorKind::input;
  return (place == "recipe" ? error : error.within("recipe")).within(path);
}

Result<Recipe> readRecipe(const std::string& path) {
  const auto document = readJsonFile(path, "`ulpscope train --help` shows a recipe");
  if (!document) return document.error();
  auto recipe = recipeFromJson(document.value());
  if (!recipe) return recipe.error().within(path);
  Recipe& r = recipe.value();
  for (std::string* part : {&r.model, &r.inputs, &r.labels, &r.loss.script})
    if (!part->empty()) *part = (std::filesystem::path(path).parent_path() / *part).string();
  return recipe;
}

}  // namespace ulpscope::session
