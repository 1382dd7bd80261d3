#include "core/storage/training_file.h"

#include "core/base/hashing.h"
#include "core/storage/adoption.h"
#include "core/storage/atomic_file.h"
#include "core/storage/session_paths.h"
#include "core/storage/training_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

base::Status checkThere(const std::string& path, int number) {
  if (!exists(path)) return Error{ErrorKind::input, "is missing; it holds training " + std::to_string(number), path, "put it back beside the session (the .d folder moves with the .ulps file)"};
  return checkPlainFileNoLink(path);
}

}  // namespace

std::string trainingFileText(const session::Training& training, const std::string& sessionId) {
  json record = session::toJson(training);
  record["session_id"] = sessionId;
  return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<StoredTraining> readTrainingFile(const std::string& master, int number) {
  const std::string path = trainingFilePath(master, number);
  if (auto there = checkThere(path, number); !there) return there.error();
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"};
  try {
    const json record = json::parse(text);
    StoredTraining stored{session::trainingFromJson(record), record.value("session_id", ""), base::sha256(text)};
    if (stored.training.number != number) return Error{ErrorKind::input, "says that it is training " + std::to_string(stored.training.number), path, "restore it from a copy"};
    return stored;
  } catch (const json::exception& e) {
    return Error{ErrorKind::input, std::string("cannot be read: ") + e.what(), path, "it was written by another version, or damaged"};
  }
}

base::Status checkTrainingFile(const std::string& master, const session::TrainingEntry& entry) {
  const std::string path = trainingFilePath(master, entry.number);
  if (auto there = checkThere(path, entry.number); !there) return there;
  const auto sum = base::sha256OfFile(path);
  if (!sum) return sum.error();
  if (sum.value() == entry.sha256) return base::success();
  return Error{ErrorKind::input, "is damaged: its SHA-256 is not the one that the session names", path, "restore it from a copy"};
}

session::TrainingEntry entryOf(const StoredTraining& stored) { return {stored.training.number, stored.training.createdUtc, trainingTitle(stored.training), stored.sha256}; }

void adoptTrainings(const std::string& master, session::Session& session, Adoption& adoption) {
  for (const int number : unnamedTrainings(folderOfSession(master), session)) {
    const auto stored = readTrainingFile(master, number);
    const std::string name = trainingFileName(number);
    if (!stored) {
      adoption.trainingLeftovers.push_back({number, name + ": " + stored.error().what, false});
    } else if (!stored->sessionId.empty() && stored->sessionId != session.id) {
      adoption.trainingLeftovers.push_back({number, name + ": belongs to another session", true});
    } else {
      session.trainings.push_back(entryOf(stored.value()));
      adoption.trainings.push_back(number);
    }
  }
  std::sort(session.trainings.begin(), session.trainings.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
}

}  // namespace ulpscope::storage
