#include "core/storage/session_pack.h"

#include "core/base/hashing.h"
#include "core/storage/adoption.h"
#include "core/storage/atomic_file.h"
#include "core/storage/checkpoint_folders.h"
#include "core/storage/h5_guard.h"
#include "core/storage/pack_archive.h"
#include "core/storage/run_files.h"
#include "core/storage/session_care.h"
#include "core/storage/session_paths.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ulpscope::storage {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

struct Contents {
  std::vector<PackEntry> entries;
  std::string sums;
  PackSummary summary;
};

Result<std::string> bytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  if (!file) return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"};
  return bytes.str();
}

void addSum(Contents& contents, const std::string& sum, const std::string& name, std::uint64_t sizeBytes) {
  contents.sums += sum + "  " + name + "\n";
  ++contents.summary.files;
  contents.summary.sizeBytes += sizeBytes;
}

Status addRunFile(Contents& contents, const std::string& master, const session::RunRecord& run, RunFileKind kind, Tensors tensors) {
  const std::string path = runFilePath(master, run.number, kind);
  const std::string name = fs::path(folderOfSession(master)).filename().string() + "/" + runFileName(run.number, kind);
  if (kind == RunFileKind::tensors && wasInterrupted(run) && !exists(path)) return base::success();
  if (kind == RunFileKind::tensors && tensors == Tensors::leftOut) {
    contents.summary.notes.push_back(name + ": left out, as asked for");
    return base::success();
  }
  if (!exists(path)) {
    contents.summary.notes.push_back(name + ": is missing, so it is not packed");
    return base::success();
  }
  if (auto plain = checkPlainFileNoLink(path); !plain) return plain;
  const auto whole = h5::checkFile(path);
  if (!whole) return whole.error();
  if (auto intact = checkExtents(path, whole->extents); !intact) return intact;
  // A file that lost its digest with its end is found by opening it.
  if (const auto opens = h5::guardedRead(path, [&] { return sessionIdOfRunFile(path); }); !opens) return opens.error();
  const auto sum = base::sha256OfFile(path);
  if (!sum) return sum.error();
  addSum(contents, sum.value(), name, fs::file_size(path));
  contents.entries.push_back({name, path, "", true});
  return base::success();
}

Status addRecordFile(Contents& contents, const std::string& master, const RecordKind& kind, const session::RecordEntry& entry) {
  const std::string path = recordPath(kind, master, entry.number);
  const std::string name = fs::path(folderOfSession(master)).filename().string() + "/" + kind.fileName(entry.number);
  if (!exists(path)) {
    contents.summary.notes.push_back(name + ": is missing, so it is not packed");
    return base::success();
  }
  if (auto whole = checkRecord(kind, master, entry); !whole) return whole;
  addSum(contents, entry.sha256, name, fs::file_size(path));
  contents.entries.push_back({name, path, "", true});
  return base::success();
}

// Without tensors a run that the master does not name would arrive as half a run; a checkpoint has no name of its own yet.
bool isPacked(const SessionView& view, const session::RunRecord& run, Tensors tensors) {
  const auto& adopted = view.adoption.runIds;
  const auto& checkpoints = view.adoption.checkpoints;
  if (std::find(checkpoints.begin(), checkpoints.end(), run.number) != checkpoints.end()) return false;
  return tensors == Tensors::included || std::find(adopted.begin(), adopted.end(), run.id()) == adopted.end();
}

// The master's bytes are read before it is looked at: a run added in between is then packed without being named, which
// the next opening adopts, never named without being packed.
Result<Contents> contentsOf(const std::string& master, Tensors tensors) {
  if (auto plain = checkPlainFile(master); !plain) return plain.error();
  auto bytes = bytesOf(master);
  if (!bytes) return bytes.error();
  const auto view = viewSession(master, Viewer::reader);
  if (!view) return view.error();
  const std::string name = fs::path(master).filename().string();
  Contents contents;
  contents.summary.sessionTitle = view->session.title;
  contents.summary.runs = static_cast<std::int64_t>(view->session.runs.size());
  addSum(contents, base::sha256(bytes.value()), name, bytes->size());
  contents.entries.push_back({name, "", std::move(bytes).value(), false});
  for (const session::RunRecord& run : view->session.runs) {
    if (!isPacked(view.value(), run, tensors)) {
      contents.summary.notes.push_back(run.id() + ": is left out, since the session does not name it yet; `ulpscope repair` adopts it");
      continue;
    }
    for (const RunFileKind kind : {RunFileKind::metrics, RunFileKind::tensors})
      if (auto added = addRunFile(contents, master, run, kind, tensors); !added) return added.error();
  }
  for (const RecordKind* kind : recordKinds())
    for (const session::RecordEntry& entry : view->session.*kind->entries)
      if (auto added = addRecordFile(contents, master, *kind, entry); !added) return added.error();
  for (const CheckpointFolder& folder : checkpointFolders(master))
    contents.summary.notes.push_back(fs::path(folderOfSession(master)).filename().string() + "/" + checkpointFolderName(folder.number) + ": left out (" + folder.text() + "); copy it by itself to go on training elsewhere");
  for (const session::DeletedRun& deleted : view->session.deleted)
    contents.summary.notes.push_back(deleted.run.id() + ": was deleted, so its files are left out; it still counts as tried");
  contents.entries.push_back({fs::path(folderOfSession(master)).filename().string() + "/" + kSumsName, "", contents.sums, true});
  return contents;
}

Status refuseExisting(const std::string& path) {
  if (exists(path)) return Error{ErrorKind::usage, "exists already", path, "choose another name with -o, or remove it"};
  const auto folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder)) return Error{ErrorKind::input, "does not exist", folder.string(), "make the folder first"};
  return base::success();
}

Status sync(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const int fault = errno;
  if (fd >= 0) ::close(fd);
  return synced ? base::success() : Status(systemError("cannot be written", path, fault));
}

// One file of an archive, written to path + ".part", checked, and put in place.
Status extract(const PackReader& pack, const std::string& name, const std::string& sum, const std::string& path, mode_t mode) {
  NewFile file(path, mode);
  base::Sha256 hash;
  Status status = file.create();
  if (status)
    status = pack.read(name, [&](const char* data, std::size_t size) {
      hash.update(data, size);
      return file.write(data, size);
    });
  if (status && hash.hexDigest() != sum) status = Error{ErrorKind::input, "does not match its checksum", name, "copy the archive again"};
  return status ? file.finish() : status;
}

struct Target {
  std::string master;
  std::vector<std::string> made;
  void removeAll() const {
    for (const std::string& path : made) ::unlink(path.c_str());
  }
};

Status extractAll(const PackReader& pack, Target& target) {
  const auto sums = pack.sums();
  if (!sums) return sums.error();
  for (const auto& [file, size] : pack.runFiles()) {
    const std::string name = pack.folderEntry(file), path = folderOfSession(target.master) + "/" + file;
    if (auto written = extract(pack, name, sums->at(name), path, 0444); !written) return written;
    target.made.push_back(path);
    afterStep("run file unpacked");
  }
  auto written = extract(pack, pack.masterName(), sums->at(pack.masterName()), target.master, 0666);
  if (written) target.made.push_back(target.master);
  return written;
}

Result<PackSummary> summaryOf(const PackReader& pack, const std::string& master) {
  const auto opened = openWithNotes(master);
  if (!opened) return opened.error().within("the session in it");
  PackSummary summary{master, opened->session.title, static_cast<std::int64_t>(opened->session.runs.size()),
                      static_cast<std::int64_t>(pack.runFiles().size()) + 1, pack.masterSize(), opened->notes};
  for (const auto& [file, size] : pack.runFiles()) summary.sizeBytes += size;
  return summary;
}

}  // namespace

Result<PackSummary> packSession(const std::string& masterPath, const std::string& packPath, Tensors tensors) {
  const std::string path = packPath.empty() ? masterPath + ".zip" : packPath, part = path + ".part";
  if (auto free = refuseExisting(path); !free) return free.error();
  auto contents = contentsOf(resolvedMaster(masterPath), tensors);
  if (!contents) return contents.error();
  ::unlink(part.c_str());  // left by a writer that was killed
  Status status = writePack(part, contents->entries);
  if (status) status = sync(part);
  if (status) status = placeNew(part, path);
  if (!status) {
    ::unlink(part.c_str());
    return status.error();
  }
  contents.value().summary.path = path;
  return std::move(contents.value().summary);
}

Result<PackSummary> unpackSession(const std::string& packPath, const std::string& masterPath) {
  const auto pack = PackReader::open(packPath);
  if (!pack) return pack.error();
  Target target{masterPath.empty() ? pack->masterName() : masterPath, {}};
  for (const std::string& path : {target.master, folderOfSession(target.master)})
    if (auto free = refuseExisting(path); !free) return free.error();
  auto lock = WriteLock::take(folderOfSession(target.master));
  if (!lock) return lock.error();
  if (!lock.value().madeFolder())
    return Error{ErrorKind::usage, "was made by another program meanwhile", folderOfSession(target.master), "choose another name with -o"};
  Status status = extractAll(pack.value(), target);
  auto summary = status ? summaryOf(pack.value(), target.master) : Result<PackSummary>(status.error());
  if (!summary) {
    target.removeAll();
    lock.value().removeIfMade();
  }
  return summary;
}

}  // namespace ulpscope::storage
