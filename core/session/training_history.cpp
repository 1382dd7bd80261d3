#include "core/session/training_history.h"

#include <nlohmann/json.hpp>

namespace ulpscope::session {

using nlohmann::json;

std::string RecipeDifference::text() const {
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("not there") : value; };
  return key + ": " + shown(before) + " -> " + shown(after);
}

json toJson(const CheckpointEntry& e) { return {{"step", e.step}, {"file", e.file}, {"sha256", e.sha256}, {"good", e.good}}; }

json toJson(const ResumeRecord& r) {
  json differences = json::array();
  for (const RecipeDifference& d : r.differences) differences.push_back({{"key", d.key}, {"before", d.before}, {"after", d.after}});
  return {{"step", r.step}, {"checkpoint", r.checkpoint}, {"sha256", r.sha256}, {"change", r.change}, {"differences", differences}};
}

json toJson(const RollbackRecord& r) {
  return {{"step", r.step}, {"to_step", r.toStep}, {"rule", r.rule}, {"text", r.text}, {"checkpoint", r.checkpoint}, {"case", r.caseFile}};
}

CheckpointEntry checkpointEntryFromJson(const json& j) { return {j.at("step"), j.at("file"), j.at("sha256"), j.at("good")}; }

ResumeRecord resumeRecordFromJson(const json& j) {
  ResumeRecord record{j.at("step"), j.at("checkpoint"), j.at("sha256"), j.at("change"), {}};
  for (const json& d : j.at("differences")) record.differences.push_back({d.at("key"), d.at("before"), d.at("after")});
  return record;
}

RollbackRecord rollbackRecordFromJson(const json& j) {
  return {j.at("step"), j.at("to_step"), j.at("rule"), j.at("text"), j.at("checkpoint"), j.at("case")};
}

}  // namespace ulpscope::session
