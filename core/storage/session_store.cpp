#include "core/storage/session_store.h"

#include "core/base/clock.h"
#include "core/storage/atomic_file.h"
#include "core/storage/format_header.h"
#include "core/storage/h5_guard.h"
#include "core/storage/run_files.h"
#include "core/storage/run_writer.h"
#include "core/storage/session_target.h"

namespace ulpscope::storage {

using base::Result;
using base::Status;
using session::RunRecord;
using session::Session;

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
  auto writer = RunWriter::begin(masterPath, std::move(session), mode);
  return writer ? writer.value().finish(std::move(run), metrics, outputs) : Result<Session>(writer.error());
}

Result<RunMetrics> readMetrics(const std::string& masterPath, const Session& session, const std::string& runId) {
  const auto path = fileOfRun(masterPath, session, runId, RunFileKind::metrics);
  if (!path) return path.error();
  return h5::guardedRead(path.value(), [&] { return readMetricsFile(path.value(), session, *session.run(runId)); });
}

Result<std::vector<OutputTensors>> readOutputs(const std::string& masterPath, const Session& session, const std::string& runId) {
  const auto path = fileOfRun(masterPath, session, runId, RunFileKind::tensors);
  if (!path) return path.error();
  return h5::guardedRead(path.value(), [&] { return readTensorsFile(path.value(), session, *session.run(runId)); });
}

std::string hdf5Version() {
  const std::scoped_lock alone(h5::libraryMutex());
  return linkedHdf5();
}

}  // namespace ulpscope::storage
