#include "core/storage/training_store.h"

#include "core/base/clock.h"
#include "core/base/hashing.h"
#include "core/base/number_text.h"
#include "core/storage/atomic_file.h"
#include "core/storage/record_files.h"
#include "core/storage/session_target.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using session::Session;
using session::Training;
using session::TrainingEntry;

constexpr mode_t kFileMode = 0444;

Status checkSame(const Session& there, const Session& ours, const std::string& master) {
  if (there.model.fingerprint != ours.model.fingerprint) return Error{ErrorKind::run, "is a session of another model", master, "name a session of its own with --session"};
  if (there.samples.sha256 != ours.samples.sha256) return Error{ErrorKind::run, "is a session of other inputs", master, "name a session of its own with --session"};
  return base::success();
}

WriteMode modeNow(const std::string& master, WriteMode mode) { return mode == WriteMode::share && exists(master) ? WriteMode::append : mode; }

Result<Session> present(const std::string& master, const Session& session, WriteMode mode) {
  if (!exists(master)) return session;
  if (mode == WriteMode::create) return Error{ErrorKind::usage, "exists already", master, "use --append to add a training to it, or choose another name"};
  auto view = viewSession(master, Viewer::writer);
  if (!view) return view.error();
  if (auto same = checkSame(view->session, session, master); !same) return same.error();
  if (auto cleared = clearLeftovers(master, view->adoption); !cleared) return cleared.error();
  return std::move(view.value().session);
}

Result<int> nextNumber(const std::string& master, const Session& session) {
  int last = 0;
  for (const TrainingEntry& entry : session.trainings) last = std::max(last, entry.number);
  const int number = nextTrainingNumber(folderOfSession(master), last);
  if (number > kLargestRunNumber) return Error{ErrorKind::input, "holds as many trainings as a session can", master, "name a session of its own"};
  return number;
}

Error numberTaken(const std::string& master, int reserved) { return {ErrorKind::run, "stands already, though its number was kept for this training", trainingFilePath(master, reserved), "train again"}; }

Result<int> numberFor(const std::string& master, const Session& session, int reserved) {
  if (reserved == 0) return nextNumber(master, session);
  ULPSCOPE_CHECK(reserved > 0 && reserved <= kLargestRunNumber);
  const bool isNamed = std::any_of(session.trainings.begin(), session.trainings.end(), [&](const TrainingEntry& entry) { return entry.number == reserved; });
  return isNamed ? Result<int>(numberTaken(master, reserved)) : Result<int>(reserved);
}

// Precondition: the lock is held.
Result<int> reserveLocked(const std::string& master) {
  Session session;
  if (exists(master)) {
    auto view = viewSession(master, Viewer::writer);
    if (!view) return view.error();
    session = std::move(view.value().session);
  }
  const auto number = nextNumber(master, session);
  if (!number) return number;
  if (auto made = createFolder(checkpointFolderPath(master, number.value())); !made) return made.error();
  return number;
}

std::string skippedTitle(const session::Trajectory& run) { return std::to_string(run.mostSkipped()) + " of " + base::counted(run.steps, "step") + " skipped"; }

std::string recordedTitle(const session::RecordedLoop& loop, const session::Trajectory& run) {
  const std::string autocast = loop.setting("autocast");
  const std::string dtype = !run.autocast ? "FP32" : autocast == "float16" ? "FP16" : autocast == "bfloat16" ? "BF16" : "autocast";
  return "recorded, " + dtype + (run.scaling ? ", scaler, " : ", no scaler, ") + (run.recordsAny("skipped") ? skippedTitle(run) : base::counted(run.steps, "step"));
}

// What was judged by criteria that are not the session's is no verdict on this session.
void settleCriteria(const std::string& master, const Session& ours, Session& result, Training& training) {
  std::vector<session::CriteriaRevision> locked = lockedTrainingCriteria(master, result);
  const bool agreed = session::continues(locked, ours.trainingCriteria);
  result.trainingCriteria = agreed ? ours.trainingCriteria : std::move(locked);
  if (agreed || !training.verdict) return;
  training.verdict->status = session::JudgedAs::notEvaluated;
  training.verdict->reason = "the session's criteria were locked or revised by another training meanwhile";
}

Result<Session> addLocked(const std::string& master, const Session& session, Training training, WriteMode mode) {
  // Before what somebody else wrote there is adopted, or set aside.
  if (training.number > 0 && exists(trainingFilePath(master, training.number))) return numberTaken(master, training.number);
  auto now = present(master, session, mode);
  if (!now) return now;
  Session& result = now.value();
  const auto number = numberFor(master, result, training.number);
  if (!number) return number.error();
  training.number = number.value();
  settleCriteria(master, session, result, training);
  const std::string text = recordText(session::toJson(training), result.id);
  const std::string path = trainingFilePath(master, training.number);
  if (auto written = writeWhole(path, text, kFileMode); !written) return written.error();
  addEntry(result.trainings, {training.number, training.createdUtc, trainingTitle(training), base::sha256(text)});
  ++result.generation;
  if (auto written = writeMaster(master, result); !written) {
    ::unlink(path.c_str());
    return written.error();
  }
  return now;
}

}  // namespace

Status checkTrainingWritable(const std::string& masterPath, WriteMode mode) { return checkWritable(masterPath, modeNow(resolvedMaster(masterPath), mode)); }

Result<int> reserveTraining(const std::string& masterPath, WriteMode mode) {
  const std::string master = resolvedMaster(masterPath), folder = folderOfSession(master);
  if (auto target = checkTarget(master, modeNow(master, mode)); !target) return target.error();
  auto lock = WriteLock::take(folder);
  if (!lock) return lock.error();
  // What became of the target while another wrote.
  const Status target = checkTarget(master, modeNow(master, mode));
  auto number = target ? reserveLocked(master) : Result<int>(target.error());
  if (!number && !exists(master)) lock.value().removeIfMade();
  if (number && lock.value().madeFolder()) syncFolder(std::filesystem::path(folder).has_parent_path() ? std::filesystem::path(folder).parent_path().string() : ".");
  return number;
}

void releaseTraining(const std::string& masterPath, int number) {
  constexpr auto kPatience = std::chrono::seconds(3);
  const std::string master = resolvedMaster(masterPath), folder = folderOfSession(master);
  ::rmdir(checkpointFolderPath(master, number).c_str());  // does nothing where something is in it
  if (exists(master) || !isFolder(folder)) return;
  if (auto lock = WriteLock::take(folder, kPatience); lock && !exists(master)) lock.value().removeFolderIfBare();
}

Status checkTrainingFits(const std::string& masterPath, const Session& session) {
  const std::string master = resolvedMaster(masterPath);
  if (!exists(master)) return base::success();
  const auto there = openSession(masterPath);
  return there ? checkSame(there.value(), session, masterPath) : Status(there.error());
}

std::vector<session::CriteriaRevision> lockedTrainingCriteria(const std::string& masterPath, const Session& session) {
  if (!session.trainingCriteria.empty()) return session.trainingCriteria;
  for (const TrainingEntry& entry : session.trainings) {
    const auto training = readTraining(masterPath, session, entry.number);
    if (!training) continue;
    const auto recipe = session::recipeFromJson(nlohmann::json::parse(training->recipe, nullptr, /*allow_exceptions=*/false));
    if (!recipe || !recipe->criteria.any()) continue;
    const bool isFirst = &entry == &session.trainings.front();
    auto revisions = session::agreedCriteria({}, {session::canonicalText(recipe->criteria), ""}, !isFirst).value();
    revisions.front().lockedUtc = training->createdUtc;
    return revisions;
  }
  return {};
}

Result<std::vector<session::CriteriaRevision>> criteriaForTraining(const std::string& masterPath, const session::TrainingTerms& terms) {
  std::vector<session::CriteriaRevision> locked;
  bool trainingsKnown = false;
  if (exists(resolvedMaster(masterPath))) {
    const auto session = openSession(masterPath);
    if (!session) return session.error();
    locked = lockedTrainingCriteria(masterPath, session.value());
    trainingsKnown = !session->trainings.empty();
  }
  for (const session::CriteriaRevision& revision : locked)
    if (auto untouched = session::checkUntouched(revision); !untouched) return untouched.error().within(masterPath);
  auto agreed = session::agreedCriteria(std::move(locked), terms, trainingsKnown);
  if (agreed || !agreed.error().which.empty()) return agreed;
  Error refused = agreed.error();
  refused.which = masterPath;
  return refused;
}

Result<Session> addTraining(const std::string& masterPath, const Session& session, Training training, WriteMode mode) {
  const std::string master = resolvedMaster(masterPath);
  if (auto target = checkTarget(master, modeNow(master, mode)); !target) return target.error();
  auto lock = WriteLock::take(folderOfSession(master));
  if (!lock) return lock.error();
  if (training.createdUtc.empty()) training.createdUtc = base::utcNow();
  auto added = addLocked(master, session, std::move(training), mode);
  if (!added && !exists(master)) lock.value().removeIfMade();
  return added;
}

Result<Training> readTraining(const std::string& masterPath, const Session& session, int number) {
  const auto stored = readNamedRecord(trainingRecords(), masterPath, session, number);
  if (!stored) return stored.error();
  return session::trainingFromJson(stored->json);
}

std::string trainingTitle(const Training& training) {
  if (training.runs.empty()) return "nothing trained";
  const session::Trajectory& run = training.runs.front();
  if (training.recorded) return recordedTitle(*training.recorded, run);
  const auto recipe = session::recipeFromJson(nlohmann::json::parse(training.recipe, nullptr, /*allow_exceptions=*/false));
  const bool isBfloat16 = recipe.ok() && recipe->autocast && recipe->autocast->dtype == base::DType::bfloat16;
  const std::string dtype = !run.autocast ? "FP32" : isBfloat16 ? "BF16" : "FP16";
  const std::string text = dtype + (run.scaling ? ", scaler, " : ", no scaler, ");
  return text + skippedTitle(run);
}

}  // namespace ulpscope::storage
