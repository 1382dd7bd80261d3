#include "core/session/settings.h"

#include <nlohmann/json.hpp>


namespace ulpscope::session {

using base::DType;
using base::Error;
using base::ErrorKind;
using base::Result;

std::string name(Mode mode) {
  switch (mode) {
    case Mode::emulated: return "emulated";
    case Mode::native: return "native";
    case Mode::recorded: return "recorded";
  }
  return "emulated";
}

std::optional<Mode> modeFromName(const std::string& text) {
  for (const Mode mode : {Mode::emulated, Mode::native, Mode::recorded})
    if (text == name(mode)) return mode;
  return std::nullopt;
}

std::string name(TieRule rule) {
  switch (rule) {
    case TieRule::first: return "first";
    case TieRule::flag: return "flag";
    case TieRule::refuse: return "refuse";
  }
  return "first";
}

std::string name(Observe observe) {
  switch (observe) {
    case Observe::outputs: return "outputs";
    case Observe::stats: return "stats";
    case Observe::full: return "full";
  }
  return "full";
}

std::string name(Accumulate accumulate) { return accumulate == Accumulate::strict ? "strict" : "pessimistic"; }

std::optional<Accumulate> accumulateFromName(const std::string& name) {
  if (name == "strict") return Accumulate::strict;
  return name == "pessimistic" ? std::optional(Accumulate::pessimistic) : std::nullopt;
}

std::optional<Observe> observeFromName(const std::string& text) {
  for (const Observe observe : {Observe::outputs, Observe::stats, Observe::full})
    if (text == name(observe)) return observe;
  return std::nullopt;
}

std::optional<TieRule> tieRuleFromName(const std::string& name) {
  if (name == "first") return TieRule::first;
  if (name == "flag") return TieRule::flag;
  if (name == "refuse") return TieRule::refuse;
  return std::nullopt;
}

nlohmann::json toJson(const RunSettings& s) {
  return {{"autocast", base::name(s.autocast)}, {"policy_table", s.policyTable}, {"mode", name(s.mode)},
          {"device", s.device},                 {"batch_size", s.batchSize},     {"seed", s.seed},
          {"train", s.trainMode},               {"cast_cache", s.castCache},     {"verify_probe", s.verifyProbe},
          {"accumulate", s.accumulate ? nlohmann::json(name(*s.accumulate)) : nlohmann::json()},
          {"observe", name(s.observe)},         {"noise_floor", s.noiseFloor},   {"referee", s.referee},
          {"capture", s.capture},               {"capture_budget", s.captureBudget}, {"only_samples", s.onlySamples},
          {"fp32", s.fp32},                     {"disable", s.disable},          {"allow_nonfinite", s.allowNonfinite}, {"decision", s.decision.text()},
          {"decision_output", s.decisionOutput}, {"tie", name(s.tie)},           {"batch_axis", s.batchAxis}};
}

Result<RunSettings> settingsFromJson(const nlohmann::json& json) try {
  RunSettings s;
  const auto autocast = base::dtypeFromName(json.at("autocast"));
  if (!autocast || (*autocast != DType::float16 && *autocast != DType::bfloat16))
    return Error{ErrorKind::usage, "must be float16 or bfloat16", "autocast " + json.at("autocast").dump(), ""};
  s.autocast = *autocast;
  s.policyTable = json.at("policy_table");
  const auto mode = modeFromName(json.at("mode"));
  if (!mode) return Error{ErrorKind::usage, "must be emulated, native or recorded", "mode " + json.at("mode").dump(), ""};
  s.mode = *mode;
  s.device = json.at("device");
  s.batchSize = json.at("batch_size");
  s.seed = json.at("seed");
  s.trainMode = json.at("train");
  s.castCache = json.at("cast_cache");
  s.verifyProbe = json.at("verify_probe");
  const auto observe = observeFromName(json.at("observe"));
  if (!observe) return Error{ErrorKind::usage, "must be outputs, stats or full", "observe " + json.at("observe").dump(), ""};
  s.observe = *observe;
  if (const auto& way = json.at("accumulate"); !way.is_null()) {
    s.accumulate = accumulateFromName(way);
    if (!s.accumulate) return Error{ErrorKind::usage, "must be strict or pessimistic", "accumulate " + way.dump(), ""};
  }
  s.noiseFloor = json.at("noise_floor");
  s.referee = json.at("referee");
  s.capture = json.at("capture").get<std::vector<std::string>>();
  s.captureBudget = json.at("capture_budget");
  s.onlySamples = json.at("only_samples").get<std::vector<std::string>>();
  s.fp32 = json.at("fp32").get<std::vector<std::string>>();
  s.disable = json.at("disable").get<std::vector<std::string>>();
  s.allowNonfinite = json.at("allow_nonfinite").get<std::vector<std::string>>();
  auto rule = parseDecisionRule(json.at("decision"));
  if (!rule) return rule.error();
  s.decision = rule.value();
  s.decisionOutput = json.at("decision_output");
  const auto tie = tieRuleFromName(json.at("tie"));
  if (!tie) return Error{ErrorKind::usage, "must be first, flag or refuse", "tie " + json.at("tie").dump(), ""};
  s.tie = *tie;
  s.batchAxis = json.at("batch_axis").get<std::map<std::string, int>>();
  return s;
} catch (const nlohmann::json::exception& e) {
  return Error{ErrorKind::input, std::string("run settings are damaged: ") + e.what(), "", ""};
}

nlohmann::json toJson(const RunRequest& r) {
  return {{"model", r.modelPath},     {"inputs", r.inputsPath}, {"labels", r.labelsPath},         {"class_names", r.classNamesPath},
          {"session", r.sessionPath}, {"append", r.append},     {"settings", toJson(r.settings)},
          {"criteria", r.criteria},   {"explored", toJson(r.explored)}};
}

Result<RunRequest> requestFromJson(const nlohmann::json& json) try {
  RunRequest r;
  r.modelPath = json.at("model");
  r.inputsPath = json.at("inputs");
  r.labelsPath = json.at("labels");
  r.classNamesPath = json.at("class_names");
  r.sessionPath = json.at("session");
  r.append = json.at("append");
  r.criteria = json.at("criteria");
  r.explored = lineageFromJson(json.at("explored"));
  auto settings = settingsFromJson(json.at("settings"));
  if (!settings) return settings.error();
  r.settings = settings.value();
  return r;
} catch (const nlohmann::json::exception& e) {
  return Error{ErrorKind::input, std::string("run request is damaged: ") + e.what(), "", ""};
}

}  // namespace ulpscope::session
