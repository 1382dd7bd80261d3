#include "core/session/scan_request.h"

#include "core/base/number_text.h"
#include "core/session/settings.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using nlohmann::json;

Error usage(const std::string& which, const std::string& what, const std::string& remedy) { return {ErrorKind::usage, what, which, remedy}; }

std::optional<ScanKind> kindFromName(const std::string& text) {
  for (const ScanKind kind : {ScanKind::segment, ScanKind::near, ScanKind::plane})
    if (text == name(kind)) return kind;
  return std::nullopt;
}

Status checkSamples(const ScanRequest& request) {
  const std::string which = request.kind == ScanKind::segment ? "--from, --to" : request.kind == ScanKind::plane ? "--plane" : "--near";
  const std::size_t needed = request.kind == ScanKind::segment ? 2 : request.kind == ScanKind::plane ? 3 : request.samples.size();
  if (request.samples.size() != needed)
    return usage(which, fmt::format("needs {} sample ids, not {}", needed, request.samples.size()), "name samples of the session");
  const std::set<std::string> different(request.samples.begin(), request.samples.end());
  if (different.size() == request.samples.size()) return base::success();
  const auto twice = std::find_if(request.samples.begin(), request.samples.end(), [&](const std::string& id) { return std::count(request.samples.begin(), request.samples.end(), id) > 1; });
  return usage(which, "sample '" + *twice + "' stands twice", request.kind == ScanKind::near ? "name each once" : "name different samples: there is nothing between a sample and itself");
}

Status checkWhole(const std::string& option, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return base::success();
  return usage(option + " " + std::to_string(value), fmt::format("must be from {} to {}", base::groupedInteger(least), base::groupedInteger(most)), "");
}

Status checkNumbers(const ScanRequest& r) {
  if (auto steps = checkWhole("--steps", r.steps, 2, kMostSteps); !steps) return steps;
  if (auto grid = checkWhole("--grid", r.grid, 2, kMostGrid); !grid) return grid;
  if (r.batchSize != 0)
    if (auto batch = checkWhole("--batch-size", r.batchSize, 1, 1'000'000); !batch) return batch;
  if (!(r.margin >= 0 && r.margin <= kMostMargin)) return usage("--margin " + base::shortNumber(r.margin), fmt::format("must be from 0 to {}", kMostMargin), "");
  if (!(r.limit > 0 && r.limit <= kMostLimit)) return usage("--limit " + base::shortNumber(r.limit), fmt::format("must be above 0, and {} at most", kMostLimit), "");
  return base::success();
}

Status checkRules(const ScanRequest& r) {
  if (!r.tie.empty() && !tieRuleFromName(r.tie)) return usage("--tie " + r.tie, "is no tie rule", "use first, flag or refuse");
  if (r.decision.empty()) return base::success();
  const auto rule = parseDecisionRule(r.decision);
  if (!rule) return rule.error();
  return rule->decides() ? base::success() : Status(usage("--decision " + r.decision, "decides nothing, so there is no boundary", "use argmax, topk:K or threshold:T"));
}

}  // namespace

std::string name(ScanKind kind) {
  switch (kind) {
    case ScanKind::segment: return "segment";
    case ScanKind::near: return "near";
    case ScanKind::plane: return "plane";
  }
  return "segment";
}

json toJson(const ScanRequest& r) {
  return {{"session", r.sessionPath}, {"kind", name(r.kind)}, {"samples", r.samples}, {"run", r.runId}, {"model", r.modelPath}, {"inputs", r.inputsPath},
          {"fp32", r.fp32}, {"disable", r.disable}, {"decision", r.decision}, {"decision_output", r.decisionOutput}, {"tie", r.tie}, {"batch_size", r.batchSize},
          {"noise_floor", r.noiseFloor}, {"steps", r.steps}, {"grid", r.grid}, {"margin", r.margin}, {"limit", r.limit}, {"store", r.store}};
}

Result<ScanRequest> scanRequestFromJson(const json& j) try {
  ScanRequest r;
  r.sessionPath = j.at("session");
  const auto kind = kindFromName(j.at("kind"));
  if (!kind) return usage("kind " + j.at("kind").dump(), "must be segment, near or plane", "");
  r.kind = *kind;
  r.samples = j.at("samples").get<std::vector<std::string>>();
  r.runId = j.value("run", "");
  r.modelPath = j.value("model", "");
  r.inputsPath = j.value("inputs", "");
  r.fp32 = j.value("fp32", std::vector<std::string>());
  r.disable = j.value("disable", std::vector<std::string>());
  r.decision = j.value("decision", "");
  r.decisionOutput = j.value("decision_output", "");
  r.tie = j.value("tie", "");
  r.batchSize = j.value("batch_size", r.batchSize);
  r.noiseFloor = j.value("noise_floor", r.noiseFloor);
  r.steps = j.value("steps", r.steps);
  r.grid = j.value("grid", r.grid);
  r.margin = j.value("margin", r.margin);
  r.limit = j.value("limit", r.limit);
  r.store = j.value("store", r.store);
  return r;
} catch (const json::exception& e) {
  return Error{ErrorKind::input, std::string("scan request is damaged: ") + e.what(), "", ""};
}

Status checkScanRequest(const ScanRequest& request) {
  for (const auto& check : {checkSamples, checkNumbers, checkRules})
    if (auto good = check(request); !good) return good;
  return base::success();
}

}  // namespace ulpscope::session
