#include "core/report/audit_text.h"
#include "core/storage/session_store.h"
#include "core/storage/training_store.h"
#include "json_output.h"
#include "train_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace ulpscope::cli {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using session::RecordedTraining;

constexpr const char* kWanted = "let it hold two records, named uninterrupted and resumed, each one .ulps, .json or .jsonl";

Result<RecordedTraining> ofSession(const std::string& path) {
  const auto session = storage::openSession(path);
  if (!session) return session.error();
  if (session->trainings.empty()) return Error{ErrorKind::input, "holds no training", path, "make one by ulpscope train RECIPE --session"};
  const auto training = storage::readTraining(path, session.value(), session->trainings.back().number);
  if (!training) return training.error();
  auto record = session::ledgerOf(training.value());
  if (!record) return record.error().within(path);
  record.value().settings["model, weights"] = session->model.fingerprint.weightsSha256;
  record.value().settings["model, code"] = session->model.fingerprint.codeSha256;
  record.value().settings["inputs"] = session->samples.sha256;
  return record;
}

Result<RecordedTraining> readRecord(const fs::path& path) {
  if (path.extension() == ".ulps") return ofSession(path.string());
  return path.extension() == ".json" ? session::readTrainingDocument(path.string()) : session::readLedger(path.string());
}

// The names in the folder but hidden ones and the folders of sessions, sorted.
Result<std::vector<fs::path>> entriesOf(const std::string& folder) {
  std::error_code fault;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault))
    if (const std::string name = at->path().filename().string(); name.front() != '.' && at->path().extension() != ".d") entries.push_back(at->path());
  if (fault) return Error{ErrorKind::input, "cannot be listed: " + fault.message(), folder, kWanted};
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool isRecord(const fs::path& path) {
  const std::string stem = path.stem().string(), kind = path.extension().string();
  return (stem == "uninterrupted" || stem == "resumed") && (kind == ".ulps" || kind == ".json" || kind == ".jsonl");
}

struct RecordPaths {
  fs::path uninterrupted, resumed;
};

Result<RecordPaths> recordsIn(const std::string& folder) {
  const auto entries = entriesOf(folder);
  if (!entries) return entries.error();
  RecordPaths paths;
  for (const fs::path& entry : entries.value()) {
    if (!isRecord(entry)) return Error{ErrorKind::input, "holds " + entry.filename().string() + ", which is no record", folder, kWanted};
    fs::path& to = entry.stem() == "resumed" ? paths.resumed : paths.uninterrupted;
    if (!to.empty()) return Error{ErrorKind::input, "holds both " + to.filename().string() + " and " + entry.filename().string(), folder, "take one of the two out"};
    to = entry;
  }
  for (const auto& [path, name] : {std::pair(&paths.uninterrupted, "uninterrupted"), std::pair(&paths.resumed, "resumed")})
    if (path->empty()) return Error{ErrorKind::input, std::string("holds no record named ") + name, folder, kWanted};
  return paths;
}

}  // namespace

Outcome auditTrainings(const std::string& folder, const std::string& json) {
  const auto paths = recordsIn(folder);
  if (!paths) return paths.error();
  const auto uninterrupted = readRecord(paths->uninterrupted);
  if (!uninterrupted) return uninterrupted.error();
  const auto resumed = readRecord(paths->resumed);
  if (!resumed) return resumed.error();
  const auto audit = analysis::auditLedgers({uninterrupted.value(), resumed.value()});
  if (!audit) return audit.error().within(folder);
  const auto written = writeJson(json, report::auditDocument(audit.value()));
  if (json != "-") fmt::print("{}: {} against {}\n{}", folder, paths->resumed.filename().string(), paths->uninterrupted.filename().string(), report::auditText(audit.value()));
  if (!written) return written.error();
  return 0;
}

}  // namespace ulpscope::cli
