#include "core/report/run_document.h"

#include "core/base/number_text.h"
#include "core/report/verdict_text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using nlohmann::json;
using session::RunRecord;
using session::Session;
using session::SiteSummary;

constexpr int kSchema = 1;

json textOrNull(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json dtypeJson(const std::optional<base::DType>& dtype) { return dtype ? json(base::name(*dtype)) : json(nullptr); }

json operandJson(const session::SiteOperand& operand) {
  using From = session::SiteOperand::From;
  json from = nullptr;
  if (operand.from == From::site) from = {{"site", operand.site}};
  if (operand.from == From::parameter) from = {{"parameter", operand.origin}};
  if (operand.from == From::input) from = {{"input", operand.origin}};
  return {{"name", operand.name}, {"dtype", dtypeJson(operand.candidateDtype)}, {"reference_dtype", dtypeJson(operand.referenceDtype)}, {"cast_to", dtypeJson(operand.castTo)}, {"from", from}};
}

void addOperands(json& site, const std::optional<session::SiteOperands>& operands) {
  site["operands"] = site["operand_count"] = nullptr;
  if (!operands) return;
  site["operand_count"] = operands->count;
  site["operands"] = json::array();
  for (const session::SiteOperand& operand : operands->listed) site["operands"].push_back(operandJson(operand));
}

json siteJson(const SiteSummary& site) {
  const json all = toJson(site);
  json shown;
  for (const char* key : {"module", "op", "overload", "source", "occurrence", "output", "dtype", "reference_dtype", "policy", "shape", "sample_axis",
                          "view_of", "elements", "elements_over_tolerance", "differing_elements", "nonfinite", "candidate_nonfinite",
                          "reference_nonfinite", "role", "noise_floor_rel_l2", "reference_error_to_fp64", "candidate_error_to_fp64"})
    shown[key] = all.at(key);
  for (const session::Metric metric : session::allMetrics()) {
    const std::string name = session::key(metric);
    shown[name] = site.viewOf.empty() ? all.at(name) : json(nullptr);
  }
  addOperands(shown, site.operands);
  return shown;
}

// Indices into our own lists mean nothing to a reader of the document.
json withoutIndex(json items, const char* key) {
  for (json& item : items) item.erase(key);
  return items;
}

json flipsJson(const RunRecord& run, json flips) {
  for (json& flip : flips) {
    flip.erase("sample");
    if (run.settings.decision.errorsToFlip() == 0) flip["reference_margin"] = flip["candidate_margin"] = nullptr;
    json& first = flip["first_site_over_tolerance"];
    if (first.is_null()) continue;
    const auto index = first.get<std::size_t>();
    if (index >= run.sites.size()) {
      first = nullptr;
      continue;
    }
    const SiteSummary& site = run.sites[index];
    first = {{"module", site.modulePath}, {"op", site.op}, {"occurrence", site.occurrence}};
  }
  return flips;
}

// Where the candidate first has such a value that the reference has not, whoever made it.
json firstValueJson(const RunRecord& run, const std::optional<session::FirstValue>& first) {
  if (!first || first->site < 0 || static_cast<std::size_t>(first->site) >= run.sites.size()) return nullptr;
  const SiteSummary& site = run.sites[static_cast<std::size_t>(first->site)];
  return {{"op", site.op},           {"overload", site.overload},     {"module", site.modulePath}, {"source", site.source},
          {"occurrence", site.occurrence}, {"role", session::name(site.role)}, {"sample_ids", first->sampleIds}};
}

// Every key that stands, empty.
json emptyDocument() {
  json document = {{"schema", kSchema},
                   {"status", "ok"},
                   {"exploratory", true},
                   {"candidates_tried", 0},
                   {"engine", {{"libtorch", nullptr}, {"policy_table", nullptr}, {"mode", nullptr}}},
                   {"model", {{"path", nullptr}, {"code_sha256", nullptr}, {"weights_sha256", nullptr}}},
                   {"policy", {{"autocast", nullptr}, {"fp32", json::array()}, {"disable", json::array()}}}};
  for (const char* key : {"error", "session", "run_id", "probe_check", "first_nonfinite", "candidate_error", "verdict", "noise_floor", "accumulation", "capture", "decision", "first_nan", "first_inf"})
    document[key] = nullptr;
  for (const char* key : {"warnings", "outputs", "nonfinite_origins", "reference_nonfinite", "control_flow",
                          "unresolved_calls", "flips", "no_decision", "nonfinite_samples", "only_samples", "sites", "module_outputs"})
    document[key] = json::array();
  return document;
}

// What was decided how, and what the errors allow.
json decisionJson(const RunRecord& run) {
  const session::DecisionRule& rule = run.settings.decision;
  if (rule.kind == session::DecisionRule::Kind::none) return nullptr;
  const auto evaluated = std::count_if(run.decisions.begin(), run.decisions.end(), [](const auto& d) { return !std::isnan(d.referenceMargin); });
  const auto possible = std::count_if(run.decisions.begin(), run.decisions.end(), [&](const auto& d) { return !std::isnan(d.referenceMargin) && d.mayFlip(rule); });
  const bool margins = rule.errorsToFlip() > 0;
  return {{"rule", rule.text()},
          {"output", textOrNull(run.settings.decisionOutput)},
          {"tie", session::name(run.settings.tie)},
          {"samples", evaluated},
          {"flip_possible", margins ? json(possible) : json(nullptr)},
          {"quality", toJson(run.quality)},
          {"regression", toJson(run.regression)}};
}

void fillProvenance(json& document, const Session& session, const RunRecord& run) {
  document["engine"] = {{"libtorch", textOrNull(run.libtorchVersion)},
                        {"policy_table", textOrNull(run.policyTable)},
                        {"mode", session::name(run.settings.mode)}};
  document["model"] = {{"path", session.model.path},
                       {"code_sha256", textOrNull(session.model.fingerprint.codeSha256)},
                       {"weights_sha256", textOrNull(session.model.fingerprint.weightsSha256)}};
  document["policy"] = {{"autocast", run.settings.autocast == base::DType::bfloat16 ? "bf16" : "fp16"},
                        {"fp32", run.settings.fp32},
                        {"disable", run.settings.disable}};
}

}  // namespace

json runDocument(const Session& session, const RunRecord& run, const std::string& sessionPath) {
  const json record = toJson(run);
  json document = emptyDocument();
  document["status"] = session::name(run.status);
  document["session"] = sessionPath;
  document["run_id"] = run.id();
  document["candidates_tried"] = session.candidatesTried();
  document["exploratory"] = session.exploratory();
  document["verdict"] = verdictJson(session, run.verdict);
  fillProvenance(document, session, run);
  for (const char* key : {"warnings", "outputs", "candidate_error", "control_flow", "unresolved_calls", "no_decision", "nonfinite_samples", "module_outputs",
                          "noise_floor", "accumulation", "capture"})
    document[key] = record.at(key);
  document["only_samples"] = run.settings.onlySamples;
  document["probe_check"] = textOrNull(run.probeCheck);
  document["nonfinite_origins"] = withoutIndex(record.at("nonfinite_origins"), "site");
  document["reference_nonfinite"] = withoutIndex(record.at("reference_nonfinite"), "site");
  if (!run.nonfiniteOrigins.empty()) document["first_nonfinite"] = document["nonfinite_origins"].front();
  document["first_nan"] = firstValueJson(run, run.firstNan);
  document["first_inf"] = firstValueJson(run, run.firstInf);
  document["flips"] = flipsJson(run, record.at("flips"));
  document["decision"] = decisionJson(run);
  for (const SiteSummary& site : run.sites) document["sites"].push_back(siteJson(site));
  return document;
}

json errorDocument(const base::Error& error) {
  json document = emptyDocument();
  document["status"] = error.kind == base::ErrorKind::cancelled ? "cancelled" : "error";
  document["error"] = base::toJson(error);
  return document;
}

json noRunDocument(const std::string& sessionPath, const std::string& why) {
  json document = emptyDocument();
  document["session"] = sessionPath;
  document["warnings"] = json::array({why});
  return document;
}

}  // namespace ulpscope::report
