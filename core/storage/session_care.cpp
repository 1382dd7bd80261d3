#include "core/storage/session_care.h"

#include "core/storage/adoption.h"
#include "core/storage/atomic_file.h"
#include "core/storage/checkpoint_folders.h"
#include "core/storage/session_paths.h"
#include "core/storage/session_store.h"
#include "core/storage/session_target.h"

#include <chrono>
#include <filesystem>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

using Lines = std::vector<std::string>;

std::string nameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }

bool linksAreStale(const std::string& master, const SessionView& view) {
  return !view.linkedFolder.empty() && view.linkedFolder != nameOf(folderOfSession(master));
}

// A checkpoint has no tensors, and before it is in its place no metrics file under that name.
Lines missingFiles(const std::string& master, const SessionView& view) {
  if (view.session.runs.empty() && view.session.trainings.empty() && view.session.scans.empty()) return {};
  if (!isFolder(folderOfSession(master))) return {missingFolder(master, view.session, view.linkedFolder).message()};
  Lines lines;
  for (const session::RunRecord& run : view.session.runs)
    for (const RunFileKind kind : {RunFileKind::metrics, RunFileKind::tensors})
      if (const std::string path = runFilePath(master, run.number, kind); !exists(path) && !wasInterrupted(run))
        lines.push_back(path + ": is missing; it holds the run's " + (kind == RunFileKind::metrics ? "heatmap" : "outputs"));
  for (const RecordKind* kind : recordKinds())
    for (const session::RecordEntry& entry : view.session.*kind->entries)
      if (auto whole = checkRecord(*kind, master, entry); !whole) lines.push_back(whole.error().message());
  return lines;
}

Lines notesOf(const std::string& master, const SessionView& view) {
  Lines notes = missingFiles(master, view);
  const std::string unnamed = ": is complete, but " + nameOf(master) + " does not name it yet ";
  for (const std::string& id : view.adoption.runIds)
    if (wasInterrupted(*view.session.run(id)))
      notes.push_back(id + ": was interrupted, and " + nameOf(master) + " does not name it yet; the next run or `ulpscope repair` does that");
    else
      notes.push_back(id + unnamed + (view.writerActive ? "(a writer is at work)" : "(its writer was interrupted); the next run or `ulpscope repair` adopts it"));
  for (const AdoptedRecord& record : view.writerActive ? std::vector<AdoptedRecord>{} : view.adoption.records)
    notes.push_back(record.kind->fileName(record.number) + ": is complete, but " + nameOf(master) + " does not name it yet; the next run or training or `ulpscope repair` adopts it");
  for (const std::string& line : unnamedCheckpoints(master, view.session)) notes.push_back(line);
  for (const Leftover& leftover : view.adoption.leftovers) notes.push_back(leftover.fault);
  for (const RecordLeftover& leftover : view.adoption.recordLeftovers) notes.push_back(leftover.fault);
  if (linksAreStale(master, view) && isFolder(folderOfSession(master)))
    notes.push_back(nameOf(master) + ": was renamed, its links for h5py and silx still name " + view.linkedFolder + "; `ulpscope repair` refreshes them");
  return notes;
}

Status writeMasterAgain(const std::string& master, SessionView& view, Lines& lines) {
  ++view.session.generation;
  if (auto written = writeMaster(master, view.session); !written) return written;
  for (const std::string& id : view.adoption.runIds)
    lines.push_back("adopted " + id + (wasInterrupted(*view.session.run(id)) ? ", which was interrupted" : ", which was complete but not named"));
  for (const AdoptedRecord& record : view.adoption.records) lines.push_back(std::string("adopted ") + record.kind->noun + " " + std::to_string(record.number) + ", which was complete but not named");
  if (linksAreStale(master, view))
    lines.push_back("links for h5py and silx now name " + nameOf(folderOfSession(master)) + ", before " + view.linkedFolder);
  return base::success();
}

Result<Lines> repairLocked(const std::string& master) {
  auto view = viewSession(master, Viewer::writer);
  if (!view) return view.error();
  Lines lines;
  const auto removed = removeParts(master);
  if (!removed) return removed.error();
  lines = removed.value();
  const auto cleared = clearLeftovers(master, view->adoption);
  if (!cleared) return cleared.error();
  lines.insert(lines.end(), cleared->begin(), cleared->end());
  if (view->adoption.any() || linksAreStale(master, view.value()))
    if (auto written = writeMasterAgain(master, view.value(), lines); !written) return written.error();
  for (const std::string& line : missingFiles(master, view.value())) lines.push_back(line);
  return lines;
}

// Reads every checkpoint, so it holds no lock.
Result<Lines> withCheckpoints(const std::string& master, Lines lines) {
  const auto view = viewSession(master, Viewer::reader);
  if (!view) return view.error();
  for (const auto& more : {unnamedCheckpoints(master, view->session), checkpointFaults(master, view->session)}) lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

// What the first run or training of a session left that never came to be.
Lines repairWithoutMaster(const std::string& masterPath) {
  Lines lines;
  if (auto removed = removeDeadParts(masterPath)) lines = std::move(removed).value();
  for (const std::string& line : unnamedCheckpoints(masterPath, {})) lines.push_back(line);
  return lines;
}

}  // namespace

Result<OpenedSession> openWithNotes(const std::string& masterPath) {
  auto view = viewSession(masterPath, Viewer::reader);
  if (!view) return view.error();
  Lines notes = notesOf(resolvedMaster(masterPath), view.value());
  return OpenedSession{std::move(view.value().session), std::move(notes)};
}

Result<Lines> removeDeadParts(const std::string& masterPath) {
  const std::string master = resolvedMaster(masterPath), folder = folderOfSession(master);
  if (!isFolder(folder)) return Lines{};
  auto lock = WriteLock::take(folder, std::chrono::seconds(1));
  if (!lock) return lock.error();
  auto removed = removeParts(master);
  if (removed && !exists(master)) lock.value().removeFolderIfBare();
  return removed;
}

Result<Lines> repairSession(const std::string& masterPath) {
  constexpr auto kPatience = std::chrono::seconds(3);
  if (!exists(resolvedMaster(masterPath)))
    if (Lines lines = repairWithoutMaster(masterPath); !lines.empty()) return lines;
  if (auto plain = checkPlainFile(masterPath); !plain) return plain.error();
  // Also answers for a missing folder and a read-only master, before the lock makes a folder.
  if (auto writable = checkWritable(masterPath, WriteMode::append, kPatience); !writable) return writable.error();
  const std::string master = resolvedMaster(masterPath);
  Result<Lines> lines = Lines{};
  {
    auto lock = WriteLock::take(folderOfSession(master), kPatience);
    if (!lock) return lock.error();
    lines = repairLocked(master);
  }
  return lines ? withCheckpoints(master, std::move(lines).value()) : lines;
}

}  // namespace ulpscope::storage
