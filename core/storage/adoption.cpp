#include "core/storage/adoption.h"

#include "core/base/number_text.h"
#include "core/storage/atomic_file.h"
#include "core/storage/checkpoint_folders.h"
#include "core/storage/h5_guard.h"
#include "core/storage/master_file.h"
#include "core/storage/run_files.h"
#include "core/storage/session_paths.h"

#include <algorithm>

namespace ulpscope::storage {
namespace {

using base::Result;
using session::RunRecord;
using session::Session;

constexpr const char* kAdoptedWarning =
    "this run was found complete beside the session, which did not name it yet: its writer was interrupted just before the end";

constexpr const char* kInterrupted = "this run was interrupted: it holds ";

std::string halfText(const UnnamedRun& run) {
  const std::string other = runFileName(run.number, run.metrics || run.checkpoint ? RunFileKind::tensors : RunFileKind::metrics);
  return run.names().front() + ": its other half, " + other + ", is missing (a writer was interrupted)";
}

// The session a run file says it belongs to. The tensors may be large, so they are not read to their end.
Result<std::string> sessionIdOf(const std::string& path) {
  return h5::guardedGlance(path, [&] { return sessionIdOfRunFile(path); });
}

Result<RunRecord> readUnnamed(const std::string& master, const Session& session, const UnnamedRun& unnamed) {
  const int number = unnamed.number;
  const std::string metrics = metricsFileOf(folderOfSession(master), number), tensors = runFilePath(master, number, RunFileKind::tensors);
  auto run = h5::guardedRead(metrics, [&] { return readRecordOfMetricsFile(metrics, session, number); });
  if (!run || (!unnamed.tensors && wasInterrupted(run.value()))) return run;
  if (!unnamed.tensors) return base::Error{base::ErrorKind::input, halfText(unnamed), "", ""};
  const auto belongs = h5::guardedGlance(tensors, [&] {
    checkTensorsFile(tensors, session, run.value());
    return base::Done{};
  });
  if (!belongs) return belongs.error();
  return run;
}

bool isOfOtherSession(const std::string& master, const Session& session, const UnnamedRun& run) {
  const auto names = run.names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto id = sessionIdOf(folderOfSession(master) + "/" + name);
    return id && id.value() != session.id;
  });
}

// The writer that left these is still at work.
void forgetInterruptions(SessionView& view) {
  view.adoption.leftovers.clear();
  const auto& ids = view.adoption.runIds;
  for (RunRecord& run : view.session.runs)
    if (std::find(ids.begin(), ids.end(), run.id()) != ids.end()) std::erase(run.warnings, kAdoptedWarning);
}

}  // namespace

std::string interruptedWarning(std::int64_t samplesComplete, std::int64_t samples) {
  return kInterrupted + base::groupedInteger(samplesComplete) + " of " + base::counted(samples, "sample") + ", no outputs and no verdict";
}

bool wasInterrupted(const RunRecord& run) {
  return run.status == session::RunStatus::partial &&
         std::any_of(run.warnings.begin(), run.warnings.end(), [](const std::string& warning) { return warning.starts_with(kInterrupted); });
}

Adoption adoptRuns(const std::string& master, Session& session) {
  Adoption adoption;
  for (const UnnamedRun& unnamed : unnamedRuns(folderOfSession(master), session)) {
    if (isOfOtherSession(master, session, unnamed)) {
      adoption.leftovers.push_back({unnamed, unnamed.names().front() + ": belongs to another session", true});
      continue;
    }
    if (!unnamed.metrics && !unnamed.checkpoint) {
      adoption.leftovers.push_back({unnamed, halfText(unnamed), false});
      continue;
    }
    auto run = readUnnamed(master, session, unnamed);
    if (!run) {
      adoption.leftovers.push_back({unnamed, run.error().message(), false});
      continue;
    }
    adoption.runIds.push_back(run->id());
    if (!unnamed.metrics) adoption.checkpoints.push_back(unnamed.number);
    if (!wasInterrupted(run.value())) run.value().warnings.push_back(kAdoptedWarning);
    session.runs.push_back(std::move(run).value());
  }
  std::sort(session.runs.begin(), session.runs.end(), [](const RunRecord& a, const RunRecord& b) { return a.number < b.number; });
  return adoption;
}

Result<SessionView> viewSession(const std::string& masterPath, Viewer viewer) {
  const std::string path = resolvedMaster(masterPath);
  const std::string folder = folderOfSession(path);
  const bool before = viewer == Viewer::reader && writerIsActive(folder);
  if (!exists(path))
    if (const auto left = unnamedCheckpoints(path, {}); !left.empty()) return base::Error{base::ErrorKind::input, "does not exist", masterPath, left.front()};
  auto master = h5::guardedRead(masterPath, [&] { return readMaster(path); });
  if (!master) return master.error();
  SessionView view{std::move(master.value().session), {}, master.value().linkedFolder};
  view.adoption = adoptRuns(path, view.session);
  adoptRecords(path, view.session, view.adoption);
  view.writerActive = before || (viewer == Viewer::reader && writerIsActive(folder));
  if (view.writerActive) forgetInterruptions(view);
  return view;
}

Result<std::vector<std::string>> clearLeftovers(const std::string& master, const Adoption& adoption) {
  std::vector<std::string> lines;
  for (const int number : adoption.checkpoints)
    if (auto placed = placeNew(metricsFileOf(folderOfSession(master), number), runFilePath(master, number, RunFileKind::metrics)); !placed)
      return placed.error();
  for (const Leftover& leftover : adoption.leftovers) {
    if (leftover.ofOtherSession) {
      lines.push_back(leftover.fault + "; left as it is");
      continue;
    }
    for (const std::string& name : leftover.run.names())
      if (auto moved = setAside(folderOfSession(master), name); !moved) return moved.error();
    lines.push_back(leftover.fault + "; set aside in " + folderOfSession(master) + "/" + kSetAside);
  }
  for (const RecordLeftover& leftover : adoption.recordLeftovers) {
    if (leftover.ofOtherSession) {
      lines.push_back(leftover.fault + "; left as it is");
      continue;
    }
    if (auto moved = setAside(folderOfSession(master), leftover.file); !moved) return moved.error();
    lines.push_back(leftover.fault + "; set aside in " + folderOfSession(master) + "/" + kSetAside);
  }
  return lines;
}

}  // namespace ulpscope::storage
