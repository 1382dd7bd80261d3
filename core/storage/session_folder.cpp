#include "core/storage/session_folder.h"

#include "core/base/number_text.h"
#include "core/storage/atomic_file.h"
#include "core/storage/session_paths.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string_view>

namespace ulpscope::storage {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

std::vector<std::string> plainFilesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.symlink_status(none).type() == fs::file_type::regular) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool isLocked(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

}  // namespace

std::vector<std::string> UnnamedRun::names() const {
  std::vector<std::string> names;
  if (metrics || checkpoint) names.push_back(runFileName(number, RunFileKind::metrics) + (metrics ? "" : kPart));
  if (tensors) names.push_back(runFileName(number, RunFileKind::tensors));
  return names;
}

bool isFolder(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool writerIsActive(const std::string& folder) { return isLocked(folder + "/lock"); }

// In this order: the part becomes the file, never the other way.
bool runIsBeingWritten(const std::string& folder, int number) {
  const std::string tensors = folder + "/" + runFileName(number, RunFileKind::tensors);
  return isLocked(tensors + kPart) || isLocked(tensors);
}

bool someRunIsBeingWritten(const std::string& folder) {
  if (!isFolder(folder)) return false;
  const auto names = plainFilesIn(folder);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name.find(".tensors.h5") != std::string::npos && isLocked(folder + "/" + name); });
}

std::vector<UnnamedRun> unnamedRuns(const std::string& folder, const session::Session& session) {
  std::map<int, UnnamedRun> found;
  if (!isFolder(folder)) return {};
  for (const std::string& name : plainFilesIn(folder)) {
    const bool isPart = name.ends_with(kPart);
    const auto number = runNumberOfFile(isPart ? name.substr(0, name.size() - std::string_view(kPart).size()) : name);
    if (!number) continue;
    const bool isMetrics = name.starts_with(runFileName(*number, RunFileKind::metrics));
    if (isPart && !isMetrics) continue;
    UnnamedRun& run = found[*number];
    run.number = *number;
    (isPart ? run.checkpoint : isMetrics ? run.metrics : run.tensors) = true;
  }
  for (const session::RunRecord& run : session.runs) found.erase(run.number);
  for (const session::DeletedRun& deleted : session.deleted) found.erase(deleted.run.number);
  for (const session::PurgedRun& purged : session.purged) found.erase(purged.number);
  std::vector<UnnamedRun> runs;
  for (const auto& [number, run] : found)
    if (!runIsBeingWritten(folder, number)) runs.push_back(run);
  return runs;
}

std::vector<int> unnamedRecords(const RecordKind& kind, const std::string& folder, const session::Session& session) {
  const auto& entries = session.*kind.entries;
  std::vector<int> numbers;
  if (!isFolder(folder)) return numbers;
  for (const std::string& name : plainFilesIn(folder)) {
    const auto number = kind.numberOfFile(name);
    const bool named = number && std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.number == *number; });
    if (number && !named) numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::string> partFiles(const std::string& master) {
  std::vector<std::string> parts;
  struct stat info {};
  if (::lstat((master + kPart).c_str(), &info) == 0 && S_ISREG(info.st_mode)) parts.push_back(master + kPart);
  const std::string folder = folderOfSession(master);
  if (!isFolder(folder)) return parts;
  for (const std::string& name : plainFilesIn(folder)) {
    for (const RecordKind* kind : recordKinds())
      if (kind->numberOfFile(nameOfPart(name))) parts.push_back(folder + "/" + name);
    const auto number = runNumberOfPart(name);
    if (!number || runIsBeingWritten(folder, *number)) continue;
    if (metricsFileOf(folder, *number) != folder + "/" + name) parts.push_back(folder + "/" + name);
  }
  return parts;
}

base::Result<std::vector<std::string>> removeParts(const std::string& master) {
  std::vector<std::string> lines;
  for (const std::string& part : partFiles(master)) {
    if (::unlink(part.c_str()) != 0) return systemError("cannot be removed", part, errno);
    afterStep("part removed");
    lines.push_back("removed " + part + ", left by an interrupted write");
  }
  return lines;
}

base::Result<std::string> setAside(const std::string& folder, const std::string& name) {
  const std::string aside = folder + "/" + kSetAside;
  if (::mkdir(aside.c_str(), 0777) != 0 && errno != EEXIST) return systemError("cannot be created", aside, errno);
  if (!isFolder(aside)) return Error{ErrorKind::input, "stands where files are set aside and is no folder", aside, "move it away"};
  std::string free = aside + "/" + name;
  for (int i = 2; exists(free); ++i) free = aside + "/" + name + "." + std::to_string(i);
  if (std::rename((folder + "/" + name).c_str(), free.c_str()) != 0) return systemError("cannot be set aside", folder + "/" + name, errno);
  afterStep("set aside");
  return free;
}

Error missingFolder(const std::string& master, const session::Session& session, const std::string& linkedFolder) {
  const std::string folder = folderOfSession(master);
  const std::string was = (fs::path(master).parent_path() / linkedFolder).string();
  const auto runs = static_cast<std::int64_t>(session.runs.size());
  std::string records;
  for (const RecordKind* kind : recordKinds())
    if (const auto count = static_cast<std::int64_t>((session.*kind->entries).size()); count > 0) records += (records.empty() ? "the records of " : " and ") + base::counted(count, kind->noun);
  const std::string ofRuns = runs == 0 && !records.empty() ? "" : "the heatmaps and outputs of " + base::counted(runs, "run");
  const std::string what = "is missing; it holds " + ofRuns + (ofRuns.empty() || records.empty() ? "" : " and ") + records;
  const bool stands = !linkedFolder.empty() && was != folder && isFolder(was);
  return Error{ErrorKind::input, what, folder,
               stands ? "the session was renamed without its folder: rename " + was + " to it" : "put it back beside the session (it moves with the .ulps file)"};
}

}  // namespace ulpscope::storage
