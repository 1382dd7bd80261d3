#include "core/storage/run_edit.h"

#include "core/base/clock.h"
#include "core/base/number_text.h"
#include "core/storage/atomic_file.h"
#include "core/storage/session_change.h"
#include "core/storage/session_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using session::DeletedRun;
using session::RunRecord;
using session::Session;

template <typename Runs, typename NumberOf>
auto placeOf(Runs& runs, int number, NumberOf numberOf) {
  return std::lower_bound(runs.begin(), runs.end(), number, [&](const auto& run, int n) { return numberOf(run) < n; });
}

auto placeAmongRuns(std::vector<RunRecord>& runs, int number) {
  return placeOf(runs, number, [](const RunRecord& run) { return run.number; });
}
auto placeAmongDeleted(std::vector<DeletedRun>& runs, int number) {
  return placeOf(runs, number, [](const DeletedRun& deleted) { return deleted.run.number; });
}

Error noSuchRun(const Session& session, const std::string& runId) {
  if (session.deletedRun(runId)) return Error{ErrorKind::usage, "is deleted", runId, "restore it first"};
  const int number = runNumberOfId(runId).value_or(0);
  const bool purged = std::any_of(session.purged.begin(), session.purged.end(), [&](const auto& p) { return p.number == number; });
  return Error{ErrorKind::usage, purged ? "was deleted, and its files were removed for good" : "is no run of this session", runId, "see the session's runs"};
}

Result<Change> rename(Session& session, const RunEdit& edit) {
  const RunRecord* run = session.run(edit.runId);
  if (!run) return noSuchRun(session, edit.runId);
  const std::string name = session::cleanRunName(edit.name);
  if (session.runName(run->number) == name) return Change::none;
  if (name.empty())
    session.runNames.erase(run->number);
  else
    session.runNames[run->number] = name;
  return Change::made;
}

Result<Change> chooseBaseline(Session& session, const RunEdit& edit) {
  const RunRecord* run = session.run(edit.runId);
  if (!edit.runId.empty() && !run) return noSuchRun(session, edit.runId);
  const int number = run ? run->number : 0;
  return std::exchange(session.baselineNumber, number) == number ? Change::none : Change::made;
}

Result<Change> remove(Session& session, const RunEdit& edit) {
  if (session.deletedRun(edit.runId)) return Change::none;
  const RunRecord* run = session.run(edit.runId);
  if (!run) return noSuchRun(session, edit.runId);
  const auto at = session.runs.begin() + (run - session.runs.data());
  const int number = run->number;
  session.deleted.insert(placeAmongDeleted(session.deleted, number), {std::move(*at), base::utcNow()});
  session.runs.erase(at);
  return Change::made;
}

Result<Change> restore(Session& session, const RunEdit& edit) {
  if (session.run(edit.runId)) return Change::none;
  if (!session.deletedRun(edit.runId)) return noSuchRun(session, edit.runId);
  const int number = runNumberOfId(edit.runId).value_or(0);
  const auto at = placeAmongDeleted(session.deleted, number);
  session.runs.insert(placeAmongRuns(session.runs, number), std::move(at->run));
  session.deleted.erase(at);
  return Change::made;
}

Result<Change> applied(Session& session, const RunEdit& edit) {
  switch (edit.kind) {
    case RunEdit::Kind::rename: return rename(session, edit);
    case RunEdit::Kind::baseline: return chooseBaseline(session, edit);
    case RunEdit::Kind::remove: return remove(session, edit);
    case RunEdit::Kind::restore: return restore(session, edit);
  }
  return Change::none;
}

Status removeFiles(const std::string& master, int number, std::vector<std::string>& lines) {
  bool any = false;
  for (const RunFileKind kind : {RunFileKind::metrics, RunFileKind::tensors}) {
    const std::string path = runFilePath(master, number, kind);
    if (::unlink(path.c_str()) == 0) any = true;
    else if (errno != ENOENT) return systemError("cannot be removed", path, errno);
    afterStep("run file removed");
  }
  if (any) lines.push_back("removed the files of " + runIdOf(number) + " for good");
  return base::success();
}

// A symbolic link's own rights say nothing: what it leads to counts, with the rights of the effective user.
bool mayWrite(const std::string& path) { return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }

}  // namespace

Result<Session> editRun(const std::string& masterPath, const std::string& sessionId, const RunEdit& edit, std::chrono::milliseconds patience) {
  return changed(masterPath, patience, [&](Session& session) -> Result<Change> {
    if (session.id != sessionId) return Error{ErrorKind::input, "is another session than the one that was opened", masterPath, "open it again"};
    return applied(session, edit);
  });
}

// The master first: until it says that the files are gone, they are there.
Result<std::vector<std::string>> purgeDeleted(const std::string& masterPath) {
  constexpr auto kPatience = std::chrono::seconds(3);
  const auto purged = changed(masterPath, kPatience, [](Session& session) -> Result<Change> {
    if (session.deleted.empty()) return Change::none;
    for (const DeletedRun& d : session.deleted) {
      session.purged.push_back({d.run.number, d.run.settings.onlySamples.empty()});
      session.runNames.erase(d.run.number);
      if (session.baselineNumber == d.run.number) session.baselineNumber = 0;
    }
    session.deleted.clear();
    return Change::made;
  });
  if (!purged) return purged.error();
  std::vector<std::string> lines;
  for (const session::PurgedRun& run : purged->purged)
    if (auto removed = removeFiles(resolvedMaster(masterPath), run.number, lines); !removed) return removed.error();
  return lines;
}

std::string lockHolder(const std::string& masterPath) { return WriteLock::holder(folderOfSession(resolvedMaster(masterPath))); }

std::string whyReadOnly(const std::string& masterPath) {
  const std::string master = resolvedMaster(masterPath), folder = folderOfSession(master);
  if (auto target = checkTarget(master, WriteMode::append); !target) return target.error().message();
  const auto parent = std::filesystem::path(master).parent_path();
  for (const std::string& path : {parent.empty() ? std::string(".") : parent.string(), folder})
    if (exists(path) && !mayWrite(path)) return systemError("is a folder that this user may not write to", path, errno).message();
  return {};
}

}  // namespace ulpscope::storage
