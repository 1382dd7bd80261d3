#include "core/session/recipe_changes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace ulpscope::session {
namespace {

using nlohmann::json;

// Their changes are experiments; of an optimizer those that are no number of its update are not.
constexpr std::array<std::string_view, 5> kExperimental{"autocast", "scaler", "clip", "scheduler", "on_nonfinite"};
constexpr std::array<std::string_view, 3> kIdentityOfOptimizer{"type", "parameters", "loss"};

template <typename T>
json orNull(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json of(const LossRecipe& l) { return {{"kind", name(l.kind)}, {"reduce", static_cast<int>(l.reduce)}, {"output", l.output}, {"target", l.target}, {"is_script", !l.script.empty()}}; }

json of(const OptimizerRecipe& o) {
  return {{"type", name(o.type)}, {"parameters", o.parameters}, {"loss", o.loss}, {"lr", o.lr}, {"momentum", o.momentum}, {"dampening", o.dampening}, {"nesterov", o.nesterov},
          {"beta1", o.beta1}, {"beta2", o.beta2}, {"eps", o.eps}, {"amsgrad", o.amsgrad}, {"weight_decay", o.weightDecay}};
}

json of(const AutocastRecipe& a) {
  const auto sorted = [](std::vector<std::string> texts) {
    std::sort(texts.begin(), texts.end());
    return texts;
  };
  return {{"dtype", base::name(a.dtype)}, {"policy", a.policyTable}, {"mode", name(a.mode)}, {"fp32", sorted(a.fp32)}, {"disable", sorted(a.disable)}, {"cast_cache", a.castCache}};
}

json of(const ScalerRecipe& s) {
  return {{"series", name(s.series)}, {"init_scale", s.initScale}, {"growth_factor", s.growthFactor}, {"backoff_factor", s.backoffFactor}, {"growth_interval", s.growthInterval}};
}

json of(const ClipRecipe& c) { return {{"norm", orNull(c.norm)}, {"value", orNull(c.value)}, {"error_if_nonfinite", c.errorIfNonfinite}}; }

json of(const SchedulerRecipe& s) { return {{"type", name(s.type)}, {"rule", s.rule == SchedulerRecipe::Rule::perUpdate ? "per_update" : "per_iteration"}, {"step_size", s.stepSize}, {"gamma", s.gamma}}; }

json of(const TrainingCriteria& c) {
  return {{"max_skip_rate", orNull(c.maxSkipRate)}, {"min_applied_updates", orNull(c.minAppliedUpdates)}, {"max_final_loss_increase", orNull(c.maxFinalLossIncrease)},
          {"max_accuracy_drop", orNull(c.maxAccuracyDrop)}, {"no_alarm", c.noAlarm}};
}

// Every default written out.
json meaningOf(const Recipe& r) {
  json optimizers = json::object();
  for (const OptimizerRecipe& optimizer : r.optimizers) optimizers[optimizer.name] = of(optimizer);
  return {{"loss", of(r.loss)},
          {"optimizers", optimizers},
          {"scheduler", r.scheduler ? of(*r.scheduler) : json()},
          {"autocast", r.autocast ? of(*r.autocast) : json()},
          {"scaler", r.scaler ? of(*r.scaler) : json()},
          {"accumulation", {{"steps", r.accumulationSteps}, {"divide_loss", r.divideLoss}}},
          {"clip", r.clip ? of(*r.clip) : json()},
          {"on_nonfinite", r.stopOnNonfinite ? "stop" : "skip"},
          {"set_to_none", r.setToNone},
          {"batch_size", r.batchSize},
          {"shuffle", orNull(r.shuffleSeed)},
          {"seed", r.seed},
          {"events", r.events},
          {"criteria", of(r.criteria)}};
}

std::string textOf(const json& value) { return value.is_null() ? "" : value.dump(); }

void differences(const std::string& key, const json& before, const json& after, std::vector<RecipeDifference>& found) {
  if (before == after) return;
  if (!before.is_object() || !after.is_object()) {
    found.push_back({key, textOf(before), textOf(after)});
    return;
  }
  std::set<std::string> keys;
  for (const json* side : {&before, &after})
    for (const auto& [name, value] : side->items()) keys.insert(name);
  for (const std::string& name : keys) differences(key.empty() ? name : key + "." + name, before.value(name, json()), after.value(name, json()), found);
}

bool isExperimental(const RecipeDifference& difference) {
  const std::string& key = difference.key;
  const std::string top = key.substr(0, key.find('.'));
  if (top != "optimizers") return std::find(kExperimental.begin(), kExperimental.end(), top) != kExperimental.end();
  if (difference.before.empty() || difference.after.empty()) return false;  // an optimizer that one of the two does not have
  return std::find(kIdentityOfOptimizer.begin(), kIdentityOfOptimizer.end(), key.substr(key.rfind('.') + 1)) == kIdentityOfOptimizer.end();
}

}  // namespace

RecipeChanges changesBetween(const Recipe& before, const Recipe& after) {
  std::vector<RecipeDifference> all;
  differences("", meaningOf(before), meaningOf(after), all);
  RecipeChanges changes;
  for (RecipeDifference& difference : all) (isExperimental(difference) ? changes.experimental : changes.forbidden).push_back(std::move(difference));
  return changes;
}

}  // namespace ulpscope::session
