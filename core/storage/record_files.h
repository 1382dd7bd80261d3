// Private: records of a session that are JSON files of their own beside it: trainings and scans.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

struct RecordKind {
  const char* noun;  // "training"
  std::string (*fileName)(int number);
  std::optional<int> (*numberOfFile)(const std::string& name);
  std::vector<session::RecordEntry> session::Session::*entries;
  // Number, time and title of a record; throws nlohmann::json::exception on anything else. The SHA-256 is the file's.
  session::RecordEntry (*describe)(const nlohmann::json& record);
};
const RecordKind& trainingRecords();
const RecordKind& scanRecords();
std::array<const RecordKind*, 2> recordKinds();

std::string recordPath(const RecordKind& kind, const std::string& master, int number);

// The text of a record's file, with the key "session_id": whose it is.
std::string recordText(nlohmann::json record, const std::string& sessionId);

struct StoredRecord {
  nlohmann::json json;
  session::RecordEntry entry;  // as it describes itself
  std::string sessionId;       // empty: written before files said so
};
// Error kind input: missing, no plain file, not to its end, no record of that kind and number.
base::Result<StoredRecord> readRecord(const RecordKind& kind, const std::string& master, int number);

// Error kind input: missing, no plain file, or not the one that the session names.
base::Status checkRecord(const RecordKind& kind, const std::string& master, const session::RecordEntry& entry);

// The same of the session's, then read. Error kind usage for a number that it does not have.
base::Result<StoredRecord> readNamedRecord(const RecordKind& kind, const std::string& masterPath, const session::Session& session, int number);

// Puts it in its place among the others, in order of the numbers.
void addEntry(std::vector<session::RecordEntry>& entries, session::RecordEntry entry);

}  // namespace ulpscope::storage
