#include "core/session/training_case.h"

#include "core/session/json_section.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

Error notOurs(const std::string& path, const std::string& what, const std::exception& e) {
  return {ErrorKind::input, "is no " + what + ": " + e.what(), path, "name a file that ulpscope train wrote beside its checkpoints"};
}

}  // namespace

json toJson(const TrainingCase& c) {
  json batches = json::array(), lines = json::array();
  for (const CaseBatch& batch : c.batches) batches.push_back({{"rows", batch.rows}, {"ids", batch.ids}, {"seed", batch.seed}});
  for (const LedgerLine& line : c.lines) lines.push_back(toJson(line));
  return {{"ulpscope_case", 1}, {"checkpoint", c.checkpoint}, {"checkpoint_sha256", c.checkpointSha256}, {"from_step", c.fromStep}, {"step", c.step}, {"rule", c.rule},
          {"text", c.text}, {"batches", batches}, {"finding", toJson(c.finding)}, {"ledger", lines}};
}

Result<TrainingCase> readCase(const std::string& path) {
  const auto document = readJsonFile(path, "name a case file beside the checkpoints: SESSION.ulps.d/train-0001.checkpoints/case-....json");
  if (!document) return document.error();
  try {
    const json& j = document.value();
    if (j.at("ulpscope_case") != 1) return Error{ErrorKind::input, "is of another version than this program reads", path, "use a newer Ulpscope"};
    TrainingCase c{j.at("checkpoint"), j.at("checkpoint_sha256"), j.at("from_step"), j.at("step"), j.at("rule"), j.at("text"), {}, firstNonfiniteFromJson(j.at("finding")), {}};
    for (const json& b : j.at("batches")) c.batches.push_back({b.at("rows"), b.at("ids"), b.at("seed")});
    for (const json& line : j.at("ledger")) c.lines.push_back(ledgerLineFromJson(line));
    if (c.checkpoint.find('/') != std::string::npos || c.checkpoint.empty()) return Error{ErrorKind::input, "names a checkpoint outside its folder", path, "take the case as it was written"};
    if (c.fromStep < 0 || c.step < c.fromStep) return Error{ErrorKind::input, "names steps that cannot be", path, "take the case as it was written"};
    return c;
  } catch (const json::exception& e) {
    return notOurs(path, "case of a training", e);
  }
}

std::string firstDifference(const std::vector<LedgerLine>& before, const std::vector<LedgerLine>& now) {
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
    const json a = toJson(before[i]), b = toJson(now[i]);
    for (const auto& [key, value] : a.items())
      if (b.at(key) != value) return fmt::format("step {}, {}: {} {}, before {}", before[i].step, before[i].optimizer, key, b.at(key).dump(), value.dump());
  }
  return before.size() == now.size() ? "" : fmt::format("{} lines of the ledger, before {}", now.size(), before.size());
}

json toJson(const ComparisonRecord& r) {
  return {{"ulpscope_comparison", 1}, {"checkpoint", r.checkpoint}, {"checkpoint_sha256", r.checkpointSha256}, {"session", r.session}, {"run", r.runId}, {"summary", r.summary}};
}

Result<ComparisonRecord> readComparison(const std::string& path) {
  const auto document = readJsonFile(path, "compare again with ulpscope train --compare CHECKPOINT");
  if (!document) return document.error();
  try {
    const json& j = document.value();
    return ComparisonRecord{j.at("checkpoint"), j.at("checkpoint_sha256"), j.at("session"), j.at("run"), j.at("summary")};
  } catch (const json::exception& e) {
    return notOurs(path, "comparison of a checkpoint", e);
  }
}

}  // namespace ulpscope::session
