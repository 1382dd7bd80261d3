#include "core/storage/record_files.h"

#include "core/base/hashing.h"
#include "core/base/json_text.h"
#include "core/session/scan.h"
#include "core/storage/adoption.h"
#include "core/storage/atomic_file.h"
#include "core/storage/session_paths.h"
#include "core/storage/training_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;
using session::RecordEntry;

base::Status checkThere(const RecordKind& kind, const std::string& path, int number) {
  if (!exists(path))
    return Error{ErrorKind::input, std::string("is missing; it holds ") + kind.noun + " " + std::to_string(number), path, "put it back beside the session (the .d folder moves with the .ulps file)"};
  return checkPlainFileNoLink(path);
}

RecordEntry describeTraining(const json& record) {
  const session::Training training = session::trainingFromJson(record);
  return {training.number, training.createdUtc, trainingTitle(training), ""};
}

RecordEntry describeScan(const json& record) {
  const session::Scan scan = session::scanFromJson(record);
  return {scan.number, scan.createdUtc, session::scanTitle(scan), ""};
}

}  // namespace

const RecordKind& trainingRecords() {
  static const RecordKind kind{"training", trainingFileName, trainingNumberOfFile, &session::Session::trainings, describeTraining};
  return kind;
}

const RecordKind& scanRecords() {
  static const RecordKind kind{"scan", scanFileName, scanNumberOfFile, &session::Session::scans, describeScan};
  return kind;
}

std::array<const RecordKind*, 2> recordKinds() { return {&trainingRecords(), &scanRecords()}; }

std::string recordPath(const RecordKind& kind, const std::string& master, int number) { return folderOfSession(master) + "/" + kind.fileName(number); }

std::string recordText(json record, const std::string& sessionId) {
  record["session_id"] = sessionId;
  return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<StoredRecord> readRecord(const RecordKind& kind, const std::string& master, int number) {
  const std::string path = recordPath(kind, master, number);
  if (auto there = checkThere(kind, path, number); !there) return there.error();
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"};
  if (base::isTooDeep(text)) return Error{ErrorKind::input, std::string("cannot be read: is no ") + kind.noun + ", it is nested too deep", path, "restore it from a copy"};
  try {
    json record = json::parse(text);
    RecordEntry entry = kind.describe(record);
    entry.sha256 = base::sha256(text);
    if (entry.number != number) return Error{ErrorKind::input, std::string("says that it is ") + kind.noun + " " + std::to_string(entry.number), path, "restore it from a copy"};
    std::string sessionId = record.value("session_id", "");
    return StoredRecord{std::move(record), std::move(entry), std::move(sessionId)};
  } catch (const json::exception& e) {
    return Error{ErrorKind::input, std::string("cannot be read: ") + e.what(), path, "it was written by another version, or damaged"};
  }
}

base::Status checkRecord(const RecordKind& kind, const std::string& master, const RecordEntry& entry) {
  const std::string path = recordPath(kind, master, entry.number);
  if (auto there = checkThere(kind, path, entry.number); !there) return there;
  const auto sum = base::sha256OfFile(path);
  if (!sum) return sum.error();
  if (sum.value() == entry.sha256) return base::success();
  return Error{ErrorKind::input, "is damaged: its SHA-256 is not the one that the session names", path, "restore it from a copy"};
}

Result<StoredRecord> readNamedRecord(const RecordKind& kind, const std::string& masterPath, const session::Session& session, int number) {
  const auto& entries = session.*kind.entries;
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const RecordEntry& e) { return e.number == number; });
  if (entry == entries.end()) {
    const std::string held = entries.empty() ? std::string("it has none yet") : fmt::format("it has {} of them, the latest is {}", entries.size(), entries.back().number);
    return Error{ErrorKind::usage, std::string("has no ") + kind.noun + " " + std::to_string(number), masterPath, held};
  }
  const std::string master = resolvedMaster(masterPath);
  if (auto whole = checkRecord(kind, master, *entry); !whole) return whole.error();
  return readRecord(kind, master, number);
}

void addEntry(std::vector<RecordEntry>& entries, RecordEntry entry) {
  const auto after = std::upper_bound(entries.begin(), entries.end(), entry.number, [](int number, const RecordEntry& other) { return number < other.number; });
  entries.insert(after, std::move(entry));
}

void adoptRecords(const std::string& master, session::Session& session, Adoption& adoption) {
  for (const RecordKind* kind : recordKinds())
    for (const int number : unnamedRecords(*kind, folderOfSession(master), session)) {
      auto stored = readRecord(*kind, master, number);
      const std::string name = kind->fileName(number);
      if (!stored) {
        adoption.recordLeftovers.push_back({name, name + ": " + stored.error().what, false});
      } else if (!stored->sessionId.empty() && stored->sessionId != session.id) {
        adoption.recordLeftovers.push_back({name, name + ": belongs to another session", true});
      } else {
        addEntry(session.*kind->entries, std::move(stored.value().entry));
        adoption.records.push_back({kind, number});
      }
    }
}

}  // namespace ulpscope::storage
