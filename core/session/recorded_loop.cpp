#include "core/session/recorded_loop.h"

#include <nlohmann/json.hpp>

namespace ulpscope::session {

using nlohmann::json;

std::string RecordedLoop::setting(const std::string& key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? "" : found->second;
}

std::string cannotTrainAgain(const RecordedLoop& loop) {
  const std::string device = loop.setting("device");
  return "recorded from a loop in Python" + (device.empty() ? "" : " on " + device) + "; no engine can train it again";
}

json toJson(const RecordedLoop& loop) { return {{"log", loop.log}, {"has_ledger", loop.hasLedger}, {"settings", loop.settings}}; }

RecordedLoop recordedLoopFromJson(const json& j) { return {j.at("log"), j.at("has_ledger"), j.at("settings").get<std::map<std::string, std::string>>()}; }

}  // namespace ulpscope::session
