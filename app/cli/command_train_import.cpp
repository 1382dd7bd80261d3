#include "core/analysis/recorded_training.h"
#include "core/storage/session_store.h"
#include "core/storage/training_store.h"
#include "train_import.h"

#include <filesystem>

namespace ulpscope::cli {
namespace {

namespace fs = std::filesystem;
using base::Result;
using session::Training;

Result<Training> recordOf(const std::string& path) {
  analysis::LoopRecord record;
  record.logName = fs::path(path).filename().string();
  auto log = session::readEventLog(path);
  if (!log) return log.error();
  record.log = std::move(log.value());
  if (const fs::path beside = fs::path(path).replace_extension(".ledger.jsonl"); fs::exists(beside)) {
    auto ledger = session::readLedger(beside.string());
    if (!ledger) return ledger.error();
    record.ledger = std::move(ledger.value());
  }
  return analysis::recordedTraining(record);
}

// Of a model nothing is known but what the loop called it.
session::Session sessionFor(const std::string& path, const Training& training) {
  const std::string model = training.recorded->setting("model");
  session::Session made = storage::newSession(fs::path(path).stem().string());
  made.model.path = model.empty() ? made.title : model;
  made.model.modules.push_back({"", model, {}, 0});
  return made;
}

void warnOfAnotherModel(const session::Session& session, Training& training) {
  const std::string loops = training.recorded->setting("model"), own = session.model.modules.empty() ? "" : session.model.modules.front().typeName;
  if (!loops.empty() && !own.empty() && loops != own) training.warnings.push_back("the loop's model is of type " + loops + ", the session's of type " + own);
}

}  // namespace

Result<ImportedTraining> importTraining(const std::string& log, std::string sessionPath, bool append) {
  auto training = recordOf(log);
  if (!training) return training.error();
  if (sessionPath.empty()) sessionPath = fs::path(log).stem().string() + ".ulps";
  const auto mode = append ? storage::WriteMode::share : storage::WriteMode::create;
  if (const auto writable = storage::checkTrainingWritable(sessionPath, mode); !writable) return writable.error();
  session::Session session = sessionFor(log, training.value());
  if (append && fs::exists(sessionPath)) {
    auto there = storage::openSession(sessionPath);
    if (!there) return there.error();
    session = std::move(there.value());
    warnOfAnotherModel(session, training.value());
  }
  auto added = storage::addTraining(sessionPath, session, training.value(), mode);
  if (!added) return added.error();
  const int number = added->trainings.back().number;
  auto stored = storage::readTraining(sessionPath, added.value(), number);
  if (!stored) return stored.error();
  return ImportedTraining{sessionPath, std::move(stored.value())};
}

}  // namespace ulpscope::cli
