#include "core/session/training.h"

#include "core/base/number_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::session {

using base::jsonNumber;
using base::numberFromJson;
using nlohmann::json;

json toJson(const std::optional<FirstNonfinite>& f) {
  if (!f) return nullptr;
  return {{"step", f->step}, {"stage", f->stage}, {"op", f->op}, {"module", f->modulePath}, {"source", f->source}, {"occurrence", f->occurrence}, {"parameter", f->parameter}, {"kind", f->kind}, {"of_parameter", f->ofParameter},
          {"maker_op", f->makerOp}, {"maker_module", f->makerModule}, {"maker_source", f->makerSource}};
}

std::optional<FirstNonfinite> firstNonfiniteFromJson(const json& j) {
  if (j.is_null()) return std::nullopt;
  return FirstNonfinite{j.at("step"), j.at("stage"), j.at("op"), j.at("module"), j.at("source"), j.at("occurrence"), j.at("parameter"), j.at("kind"), j.value("of_parameter", false),
                        j.value("maker_op", ""), j.value("maker_module", ""), j.value("maker_source", "")};
}

json toJson(const LedgerLine& l) {
  json j = {{"step", l.step},
          {"optimizer", l.optimizer},
          {"loss", jsonNumber(l.loss)},
          {"scale_before", jsonNumber(l.scaleBefore)},
          {"scale_after", jsonNumber(l.scaleAfter)},
          {"found_inf", l.foundInf},
          {"applied", l.applied},
          {"skipped", l.skipped},
          {"scaled_norm", jsonNumber(l.scaledNorm)},
          {"grad_norm", jsonNumber(l.gradNorm)},
          {"clipped_norm", jsonNumber(l.clippedNorm)},
          {"zero_share", jsonNumber(l.zeroShare)},
          {"subnormal_share", jsonNumber(l.subnormalShare)},
          {"nonfinite_share", jsonNumber(l.nonfiniteShare)},
          {"lr", jsonNumber(l.lr)},
          {"update_norm", jsonNumber(l.updateNorm)},
          {"applied_updates", l.appliedUpdates},
          {"scheduler_steps", l.schedulerSteps},
          {"growth_tracker", l.growthTracker},
          {"first_nonfinite", toJson(l.firstNonfinite)}};
  for (const std::string& key : l.unrecorded) j[key] = nullptr;
  return j;
}

LedgerLine ledgerLineFromJson(const json& j) {
  LedgerLine l;
  l.step = j.at("step");
  l.optimizer = j.at("optimizer");
  const auto isRecorded = [&](const char* key) {
    if (!j.at(key).is_null()) return true;
    l.unrecorded.insert(key);
    return false;
  };
  for (const auto& [key, to] : {std::pair("loss", &l.loss), std::pair("scale_before", &l.scaleBefore), std::pair("scale_after", &l.scaleAfter), std::pair("scaled_norm", &l.scaledNorm),
                                std::pair("grad_norm", &l.gradNorm), std::pair("clipped_norm", &l.clippedNorm), std::pair("zero_share", &l.zeroShare), std::pair("subnormal_share", &l.subnormalShare),
                                std::pair("nonfinite_share", &l.nonfiniteShare), std::pair("lr", &l.lr), std::pair("update_norm", &l.updateNorm)})
    *to = isRecorded(key) ? numberFromJson(j.at(key)) : std::numeric_limits<double>::quiet_NaN();
  for (const auto& [key, to] : {std::pair("found_inf", &l.foundInf), std::pair("skipped", &l.skipped)})
    if (isRecorded(key)) *to = j.at(key);
  if (!j.contains("applied")) l.applied = !l.skipped;  // of before there were steps without a call
  else if (isRecorded("applied")) l.applied = j.at("applied");
  for (const auto& [key, to] : {std::pair("applied_updates", &l.appliedUpdates), std::pair("scheduler_steps", &l.schedulerSteps)})
    if (isRecorded(key)) *to = j.at(key);
  if (j.contains("growth_tracker") && isRecorded("growth_tracker")) l.growthTracker = j.at("growth_tracker");
  l.firstNonfinite = firstNonfiniteFromJson(j.at("first_nonfinite"));
  return l;
}

namespace {

json numbers(const std::vector<float>& values) {
  json list = json::array();
  for (const float value : values) list.push_back(jsonNumber(value));
  return list;
}

std::vector<float> floatsFrom(const json& list) {
  std::vector<float> values;
  for (const json& value : list) values.push_back(static_cast<float>(numberFromJson(value)));
  return values;
}

json toJson(const ParameterGradients& p) {
  return {{"name", p.name}, {"optimizer", p.optimizer}, {"absent", p.absent}, {"zero", numbers(p.zero)}, {"subnormal", numbers(p.subnormal)}, {"nonfinite", numbers(p.nonfinite)}};
}

ParameterGradients parameterFrom(const json& j) {
  return {j.at("name"), j.at("optimizer"), j.at("absent"), floatsFrom(j.at("zero")), floatsFrom(j.at("subnormal")), floatsFrom(j.at("nonfinite"))};
}

json toJson(const GradientSite& s) {
  return {{"op", s.op}, {"module", s.modulePath}, {"source", s.source}, {"occurrence", s.occurrence}, {"rel_l2", jsonNumber(s.relL2)}, {"reference_norm", jsonNumber(s.referenceNorm)},
          {"norm", jsonNumber(s.norm)}, {"zero_share", jsonNumber(s.zeroShare)}, {"nonfinite_share", jsonNumber(s.nonfiniteShare)}};
}

GradientSite gradientFrom(const json& j) {
  return {j.at("op"), j.at("module"), j.at("source"), j.at("occurrence"), numberFromJson(j.at("rel_l2")), numberFromJson(j.at("reference_norm")),
          numberFromJson(j.at("norm")), numberFromJson(j.at("zero_share")), numberFromJson(j.at("nonfinite_share"))};
}

json toJson(const Violation& v) { return {{"step", v.step}, {"event", v.event}, {"rule", v.rule}, {"optimizer", v.optimizer}, {"text", v.text}}; }
json toJson(const Alarm& a) { return {{"id", a.id}, {"step", a.step}, {"text", a.text}}; }

template <typename T>
json listOf(const std::vector<T>& items) {
  json list = json::array();
  for (const T& item : items) list.push_back(toJson(item));
  return list;
}

json gradientZeroFraction(const Trajectory& run) {
  json fractions = json::object();
  for (const ParameterGradients& parameter : run.parameters)
    if (!parameter.optimizer.empty()) fractions[parameter.name] = jsonNumber(parameter.zeroFraction());
  return fractions;
}

// What both documents say of a trajectory.
json common(const Trajectory& run) {
  json absent = json::array();
  for (const ParameterGradients& parameter : run.parameters)
    if (parameter.absent && !parameter.optimizer.empty()) absent.push_back(parameter.name);
  return {{"name", run.name},
          {"autocast", run.autocast},
          {"scaling", run.scaling},
          {"fp32", run.fp32},
          {"ledger", listOf(run.ledger)},
          {"skipped", run.skipped()},
          {"violations", listOf(run.violations)},
          {"alarms", listOf(run.alarms)},
          {"first_nonfinite", toJson(run.firstNonfinite)},
          {"gradient_zero_fraction", gradientZeroFraction(run)},
          {"absent_gradients", absent},
          {"gradient_sites", listOf(run.gradientSites)},
          {"poisoned_buffers", run.poisonedBuffers},
          {"final_scale", run.recordsLast("scale_after") ? jsonNumber(run.finalScale) : json()},
          {"final_loss", run.recordsLast("loss") ? jsonNumber(run.finalLoss()) : json()},
          {"steps", run.steps},
          {"applied_updates", run.appliedUpdates},
          {"scheduler_steps", run.schedulerSteps},
          {"accuracy", run.accuracy ? jsonNumber(*run.accuracy) : json()},
          {"error", run.error},
          {"failed", run.failed},
          {"elapsed_seconds", run.elapsedSeconds}};
}

json common(const Training& t) {
  return {{"number", t.number}, {"created", t.createdUtc}, {"libtorch", t.libtorchVersion}, {"policy_table", t.policyTable}, {"cancelled", t.cancelled},
          {"elapsed_seconds", t.elapsedSeconds}, {"warnings", t.warnings}, {"verdict", toJson(t.verdict)}, {"checkpoints", listOf(t.checkpoints)}, {"resumes", listOf(t.resumes)},
          {"rollback", t.rollback ? toJson(*t.rollback) : json()}, {"recorded", t.recorded ? toJson(*t.recorded) : json()}};
}

}  // namespace

json toJson(const Trajectory& run) {
  json j = common(run);
  j["parameters"] = listOf(run.parameters);
  return j;
}

Trajectory trajectoryFromJson(const json& j) {
  Trajectory run;
  run.name = j.at("name");
  run.autocast = j.at("autocast");
  run.scaling = j.at("scaling");
  run.fp32 = j.at("fp32").get<std::vector<std::string>>();
  for (const json& line : j.at("ledger")) run.ledger.push_back(ledgerLineFromJson(line));
  for (const json& parameter : j.at("parameters")) run.parameters.push_back(parameterFrom(parameter));
  for (const json& site : j.at("gradient_sites")) run.gradientSites.push_back(gradientFrom(site));
  for (const json& v : j.at("violations")) run.violations.push_back({v.at("step"), v.at("event"), v.at("rule"), v.at("optimizer"), v.at("text")});
  for (const json& a : j.at("alarms")) run.alarms.push_back({a.at("id"), a.at("step"), a.at("text")});
  run.poisonedBuffers = j.at("poisoned_buffers").get<std::vector<std::string>>();
  run.firstNonfinite = firstNonfiniteFromJson(j.at("first_nonfinite"));
  run.finalScale = j.at("final_scale").is_null() ? std::numeric_limits<double>::quiet_NaN() : numberFromJson(j.at("final_scale"));
  run.steps = j.at("steps");
  run.appliedUpdates = j.at("applied_updates");
  run.schedulerSteps = j.at("scheduler_steps");
  if (!j.at("accuracy").is_null()) run.accuracy = numberFromJson(j.at("accuracy"));
  run.error = j.at("error");
  run.failed = j.value("failed", false);
  run.elapsedSeconds = j.value("elapsed_seconds", 0.0);
  return run;
}

double ParameterGradients::zeroFraction() const {
  double sum = 0;
  std::size_t steps = 0;
  for (const float share : zero)
    if (!std::isnan(share)) {
      sum += share;
      ++steps;
    }
  return steps == 0 ? 1 : sum / static_cast<double>(steps);
}

std::map<std::string, std::vector<std::int64_t>> Trajectory::skipped() const {
  std::map<std::string, std::vector<std::int64_t>> byOptimizer;
  for (const LedgerLine& line : ledger) {
    auto& list = byOptimizer[line.optimizer];
    if (line.skipped) list.push_back(line.step);
  }
  return byOptimizer;
}

std::size_t Trajectory::mostSkipped() const {
  std::size_t most = 0;
  for (const auto& [optimizer, list] : skipped()) most = std::max(most, list.size());
  return most;
}

std::int64_t Trajectory::fewestUpdates() const {
  std::map<std::string, std::int64_t> byOptimizer;
  for (const LedgerLine& line : ledger) byOptimizer[line.optimizer] += line.applied ? 1 : 0;
  std::int64_t fewest = byOptimizer.empty() ? 0 : byOptimizer.begin()->second;
  for (const auto& [optimizer, count] : byOptimizer) fewest = std::min(fewest, count);
  return fewest;
}

std::int64_t Trajectory::countedSteps() const { return ledger.empty() ? 0 : ledger.back().step + 1; }

double Trajectory::finalLoss() const {
  double sum = 0;
  std::size_t lines = 0;
  for (auto line = ledger.rbegin(); line != ledger.rend() && line->step == ledger.back().step; ++line, ++lines) sum += line->loss;
  return lines == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(lines);
}

bool Trajectory::recordsAny(const std::string& key) const {
  return std::any_of(ledger.begin(), ledger.end(), [&](const LedgerLine& line) { return line.has(key); });
}

bool Trajectory::recordsLast(const std::string& key) const {
  return std::all_of(ledger.begin(), ledger.end(), [&](const LedgerLine& line) { return line.step != ledger.back().step || line.has(key); });
}

const Trajectory* Training::run(const std::string& name) const {
  for (const Trajectory& trajectory : runs)
    if (trajectory.name == name) return &trajectory;
  return nullptr;
}

json trainingDocument(const Training& training) {
  json document = training.runs.empty() ? json::object() : common(training.runs.front());
  document.update(common(training));
  document["schema"] = 1;
  document["runs"] = json::array();
  for (const Trajectory& run : training.runs) document["runs"].push_back(common(run));
  return document;
}

json toJson(const Training& training) {
  json j = common(training);
  j["recipe"] = training.recipe;
  j["runs"] = json::array();
  for (const Trajectory& run : training.runs) j["runs"].push_back(toJson(run));
  return j;
}

Training trainingFromJson(const json& j) {
  Training t;
  t.number = j.at("number");
  t.createdUtc = j.at("created");
  t.libtorchVersion = j.at("libtorch");
  t.policyTable = j.at("policy_table");
  t.recipe = j.at("recipe");
  t.cancelled = j.at("cancelled");
  t.elapsedSeconds = j.at("elapsed_seconds");
  for (const json& run : j.at("runs")) t.runs.push_back(trajectoryFromJson(run));
  t.warnings = j.at("warnings").get<std::vector<std::string>>();
  t.verdict = verdictFromJson(j.at("verdict"));
  // A record of before there were checkpoints has none of these.
  for (const json& entry : j.value("checkpoints", json::array())) t.checkpoints.push_back(checkpointEntryFromJson(entry));
  for (const json& record : j.value("resumes", json::array())) t.resumes.push_back(resumeRecordFromJson(record));
  if (const auto rollback = j.find("rollback"); rollback != j.end() && !rollback->is_null()) t.rollback = rollbackRecordFromJson(*rollback);
  if (const auto recorded = j.find("recorded"); recorded != j.end() && !recorded->is_null()) t.recorded = recordedLoopFromJson(*recorded);
  return t;
}

}  // namespace ulpscope::session
