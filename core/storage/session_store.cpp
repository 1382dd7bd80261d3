#include "core/storage/session_store.h"

#include "core/base/clock.h"
#include "core/storage/adoption.h"
#include "core/storage/atomic_file.h"
#include "core/storage/format_header.h"
#include "core/storage/h5_guard.h"
#include "core/storage/master_file.h"
#include "core/storage/run_files.h"
#include "core/storage/session_paths.h"

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
constexpr mode_t kRunFileMode = 0444;

// A run added beside a missing folder would make a second, half folder that the first could never join.
Status checkFolder(const std::string& master) {
  if (exists(folderOfSession(master))) return base::success();
  const auto view = viewSession(master, Viewer::writer);
  if (!view) return view.error();
  return view->session.runs.empty() ? base::success() : Status(missingFolder(master, view->session, view->linkedFolder));
}

// Everything about the target that can be known before the lock is taken.
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
  if (mode == WriteMode::create) return Error{ErrorKind::usage, "exists already", master, "use --append to add a run to it, or choose another name"};
  if (auto folder = checkFolder(master); !folder) return folder;
  // rename() would replace a read-only file all the same; whoever made it read-only meant it.
  if ((info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0 || ::access(master.c_str(), W_OK) != 0)
    return Error{ErrorKind::input, "is read-only, no run can be added to it", master, "make it writable (chmod u+w), or copy the session and its .d folder"};
  return base::success();
}

// What stands on disk now, with `session`'s own words where nobody else wrote since it was read.
Result<Session> merged(const Result<SessionView>& view, const std::string& master, const Session& session) {
  if (!view) return view.error();
  const Session* disk = &view->session;
  if (disk->id != session.id)
    return Error{ErrorKind::input, "is another session than the one that was opened", master, "open it again"};
  const bool unchanged = disk->generation == session.generation;
  if (disk->samples.ids != session.samples.ids || disk->model.fingerprint != session.model.fingerprint)
    return Error{ErrorKind::input, "holds another model or other samples than this run", master, "write this run to a session of its own"};
  if (!unchanged) return *disk;
  Session own = session;
  own.runs = disk->runs;
  return own;
}

struct RunImages {
  std::vector<std::byte> metrics;
  std::vector<std::byte> tensors;
  std::vector<std::byte> master;
};

void removeRunFiles(const std::string& master, int number) {
  for (const RunFileKind kind : {RunFileKind::metrics, RunFileKind::tensors}) ::unlink(runFilePath(master, number, kind).c_str());
}

// The master comes last: until its rename nothing names the run, and a reader sees the session as it was.
Status writeAll(const std::string& master, int number, const RunImages& images) {
  Status status = writeWhole(runFilePath(master, number, RunFileKind::metrics), images.metrics, kRunFileMode);
  if (status) status = writeWhole(runFilePath(master, number, RunFileKind::tensors), images.tensors, kRunFileMode);
  if (status) status = writeWhole(master, images.master, kMasterMode);
  if (!status) removeRunFiles(master, number);
  return status;
}

Result<Session> addRunLocked(const std::string& master, Session session, RunRecord run, const RunMetrics& metrics,
                             const std::vector<OutputTensors>& outputs) {
  if (exists(master)) {
    const auto view = viewSession(master, Viewer::writer);
    auto now = merged(view, master, session);
    if (!now) return now;
    const auto aside = clearLeftovers(master, view->adoption);
    if (!aside) return aside.error();
    run.warnings.insert(run.warnings.end(), aside->begin(), aside->end());
    session = std::move(now).value();
  }
  const std::string folder = folderOfSession(master);
  run.number = nextRunNumber(folder, session.runs.empty() ? 0 : session.runs.back().number);
  if (run.number > kLargestRunNumber)
    return Error{ErrorKind::input, "holds as many runs as a session can (9,999)", master, "write the run to a new session"};
  session.runs.push_back(std::move(run));
  ++session.generation;
  const RunRecord& added = session.runs.back();
  auto images = h5::guarded(master, [&] {
    return RunImages{metricsImage(session, added, metrics), tensorsImage(session, added, outputs),
                     masterImage(session, std::filesystem::path(folder).filename().string())};
  });
  if (!images) return images.error();
  if (auto status = writeAll(master, added.number, images.value()); !status) return status.error();
  return session;
}

// Finds the run and its file; says in the user's words what is wrong with either.
Result<std::string> runFile(const std::string& master, const Session& session, const std::string& runId, RunFileKind kind) {
  const RunRecord* run = session.run(runId);
  if (!run) return Error{ErrorKind::usage, "has no run of that id", master + ", " + runId, "see the session's runs"};
  const std::string path = runFilePath(resolvedMaster(master), run->number, kind);
  if (!exists(path))
    return Error{ErrorKind::input, std::string("is missing; it holds the run's ") + (kind == RunFileKind::metrics ? "heatmap" : "outputs"), path,
                 "put it back beside the session (the .d folder moves with the .ulps file)"};
  if (auto plain = checkPlainFileNoLink(path); !plain) return plain.error();
  struct stat folder {};
  const std::string folderPath = folderOfSession(resolvedMaster(master));
  if (::lstat(folderPath.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode))
    return Error{ErrorKind::input, "is a symbolic link, which a session's own folder never is", folderPath, "put the folder itself there"};
  return path;
}

}  // namespace

Session newSession(const std::string& title) {
  Session session;
  session.id = base::randomId();
  session.createdUtc = base::utcNow();
  session.creatorVersion = ulpscopeVersion();
  session.title = title;
  return session;
}

Result<Session> openSession(const std::string& masterPath) {
  auto view = viewSession(masterPath, Viewer::reader);
  if (!view) return view.error();
  return std::move(view.value().session);
}

Status checkWritable(const std::string& masterPath, WriteMode mode, std::chrono::milliseconds patience) {
  const std::string master = resolvedMaster(masterPath);
  if (auto target = checkTarget(master, mode); !target) return target;
  auto lock = WriteLock::take(folderOfSession(master), patience);
  if (!lock) return lock.error();
  lock.value().removeIfMade();
  return base::success();
}

Result<Session> addRun(const std::string& masterPath, Session session, RunRecord run, const RunMetrics& metrics,
                       const std::vector<OutputTensors>& outputs, WriteMode mode) {
  const std::string master = resolvedMaster(masterPath);
  if (auto target = checkTarget(master, mode); !target) return target.error();
  auto lock = WriteLock::take(folderOfSession(master));
  if (!lock) return lock.error();
  // Another writer may have made or moved it while we waited.
  if (auto target = checkTarget(master, mode); !target) return target.error();
  auto written = addRunLocked(master, std::move(session), std::move(run), metrics, outputs);
  if (!written && !exists(master)) lock.value().removeIfMade();
  return written;
}

Result<RunMetrics> readMetrics(const std::string& masterPath, const Session& session, const std::string& runId) {
  const auto path = runFile(masterPath, session, runId, RunFileKind::metrics);
  if (!path) return path.error();
  return h5::guardedRead(path.value(), [&] { return readMetricsFile(path.value(), session, *session.run(runId)); });
}

Result<std::vector<OutputTensors>> readOutputs(const std::string& masterPath, const Session& session, const std::string& runId) {
  const auto path = runFile(masterPath, session, runId, RunFileKind::tensors);
  if (!path) return path.error();
  return h5::guardedRead(path.value(), [&] { return readTensorsFile(path.value(), session, *session.run(runId)); });
}

std::string hdf5Version() {
  const std::scoped_lock alone(h5::libraryMutex());
  return linkedHdf5();
}

}  // namespace ulpscope::storage
