// A training that was not Ulpscope's: a loop of somebody's own Python, as ulpscope_recorder.py or another writer logged it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

namespace ulpscope::session {

struct RecordedLoop {
  std::string log;                              // the event log's file name
  bool hasLedger = false;                       // else only its calls are known
  std::map<std::string, std::string> settings;  // as its ledger says: "torch", "device", "autocast", "model", ...
  std::string setting(const std::string& key) const;  // empty: not said
};

// Why nothing of it can be trained again: "recorded from a loop in Python; no engine can train it again".
std::string cannotTrainAgain(const RecordedLoop& loop);

nlohmann::json toJson(const RecordedLoop& loop);
RecordedLoop recordedLoopFromJson(const nlohmann::json& json);  // throws nlohmann::json::exception

}  // namespace ulpscope::session
