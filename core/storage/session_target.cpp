#include "core/storage/session_target.h"

#include "core/storage/atomic_file.h"
#include "core/storage/h5_guard.h"
#include "core/storage/master_file.h"
#include "core/storage/session_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using session::RunRecord;
using session::Session;

constexpr mode_t kMasterMode = 0666;

// A run added beside a missing folder would make a second, half folder that the first could never join.
Status checkFolder(const std::string& master) {
  if (exists(folderOfSession(master))) return base::success();
  const auto view = viewSession(master, Viewer::writer);
  if (!view) return view.error();
  return !view->session.hasResults() && view->session.trainings.empty() && view->session.scans.empty() ? base::success() : Status(missingFolder(master, view->session, view->linkedFolder));
}

}  // namespace

Status checkTarget(const std::string& master, WriteMode mode) {
  struct stat info {};
  if (::stat(master.c_str(), &info) != 0) {
    if (mode == WriteMode::append) return Error{ErrorKind::input, "does not exist, so no run can be added to it", master, "leave out --append to make it"};
    const auto folder = std::filesystem::path(master).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
      return Error{ErrorKind::input, "does not exist, so no session can be written there", folder.string(), "make the folder first"};
    return base::success();
  }
  if (S_ISDIR(info.st_mode)) return Error{ErrorKind::input, "is a folder, not a session", master, "name the session file, for instance model-fp16.ulps"};
  if (mode != WriteMode::append) return Error{ErrorKind::usage, "exists already", master, "use --append to add a run to it, or choose another name"};
  if (auto folder = checkFolder(master); !folder) return folder;
  // rename() would replace a read-only file all the same; whoever made it read-only meant it.
  if ((info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0 || ::access(master.c_str(), W_OK) != 0)
    return Error{ErrorKind::input, "is read-only, no run can be added to it", master, "make it writable (chmod u+w), or copy the session and its .d folder"};
  return base::success();
}

Result<Session> merged(const SessionView& view, const std::string& master, const Session& session) {
  const Session* disk = &view.session;
  if (disk->id != session.id)
    return Error{ErrorKind::input, "is another session than the one that was opened", master, "open it again"};
  const bool unchanged = disk->generation == session.generation;
  if (disk->samples.ids != session.samples.ids || disk->model.fingerprint != session.model.fingerprint)
    return Error{ErrorKind::input, "holds another model or other samples than this run", master, "write this run to a session of its own"};
  if (!unchanged) return *disk;
  Session own = session;
  own.runs = disk->runs;
  own.deleted = disk->deleted;
  own.purged = disk->purged;
  own.runNames = disk->runNames;
  own.baselineNumber = disk->baselineNumber;
  own.trainings = disk->trainings;
  own.scans = disk->scans;
  own.trainingCriteria = disk->trainingCriteria;
  own.benchmarks = disk->benchmarks;
  return own;
}

Status writeMaster(const std::string& master, const Session& session) {
  const std::string folderName = std::filesystem::path(folderOfSession(master)).filename().string();
  const auto image = h5::guarded(master, [&] { return masterImage(session, folderName); });
  return image ? writeWhole(master, image.value(), kMasterMode) : Status(image.error());
}

// Finds the run and its file; says in the user's words what is wrong with either.
Result<std::string> fileOfRun(const std::string& master, const Session& session, const std::string& runId, RunFileKind kind) {
  const RunRecord* run = session.run(runId);
  if (!run) return Error{ErrorKind::usage, "has no run of that id", master + ", " + runId, "see the session's runs"};
  const std::string real = resolvedMaster(master);
  const std::string path = kind == RunFileKind::metrics ? metricsFileOf(folderOfSession(real), run->number) : runFilePath(real, run->number, kind);
  if (!exists(path) && kind == RunFileKind::tensors && wasInterrupted(*run))
    return Error{ErrorKind::input, "was interrupted before its outputs were written", master + ", " + runId, "run it again"};
  if (!exists(path))
    return Error{ErrorKind::input, std::string("is missing; it holds the run's ") + (kind == RunFileKind::metrics ? "heatmap" : "outputs"), path,
                 "put it back beside the session (the .d folder moves with the .ulps file)"};
  if (auto plain = checkPlainFileNoLink(path); !plain) return plain.error();
  struct stat folder {};
  const std::string folderPath = folderOfSession(real);
  if (::lstat(folderPath.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode))
    return Error{ErrorKind::input, "is a symbolic link, which a session's own folder never is", folderPath, "put the folder itself there"};
  return path;
}

}  // namespace ulpscope::storage
