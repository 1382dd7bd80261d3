#include "core/storage/atomic_file.h"

#include "core/base/file_kind.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

class Descriptor {
 public:
  explicit Descriptor(int fd) : m_fd(fd) {}
  ~Descriptor() {
    if (m_fd >= 0) ::close(m_fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return m_fd; }
  bool open() const { return m_fd >= 0; }
  bool close() { return ::close(std::exchange(m_fd, -1)) == 0; }
  int release() { return std::exchange(m_fd, -1); }

 private:
  int m_fd;
};

std::string folderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

Status checkKind(const std::string& path, const struct stat& info) {
  if (auto kind = base::checkFileKind(path); !kind) return kind;
  if (info.st_size == 0) return Error{ErrorKind::input, "is empty", path, "copy or write it again"};
  if (::access(path.c_str(), R_OK) != 0) return systemError("cannot be read", path, errno);
  return base::success();
}

bool writeAll(int fd, const void* data, std::size_t size) {
  constexpr std::size_t kPiece = std::size_t{1} << 26;
  for (std::size_t done = 0; done < size;) {
    const ssize_t wrote = ::write(fd, static_cast<const char*>(data) + done, std::min(kPiece, size - done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

Status writePart(const std::string& path, const std::string& part, const std::vector<std::byte>& bytes, mode_t mode) {
  struct stat old {};
  const bool replaces = ::stat(path.c_str(), &old) == 0;
  ::unlink(part.c_str());  // left by a writer that was killed
  Descriptor fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd.open()) return systemError("cannot be created", part, errno);
  afterStep("part created");
  if (replaces && ::fchmod(fd.get(), old.st_mode & 07777) != 0) return systemError("cannot be given its permissions", part, errno);
  if (!writeAll(fd.get(), bytes.data(), bytes.size())) return systemError("cannot be written", part, errno);
  afterStep("part written");
  if (::fsync(fd.get()) != 0 || !fd.close()) return systemError("cannot be written", part, errno);
  afterStep("part synced");
  return base::success();
}

// Another writer may have removed the file between our open and our lock.
bool isStillAt(int fd, const std::string& path) {
  struct stat held {}, there {};
  return ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &there) == 0 && held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

std::string holderOf(int fd) {
  std::array<char, 200> text{};
  const ssize_t length = ::pread(fd, text.data(), text.size() - 1, 0);
  std::string holder(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  holder.erase(std::remove_if(holder.begin(), holder.end(), [](unsigned char c) { return c < ' ' || c > '~'; }), holder.end());
  return holder.empty() ? "another program" : holder;
}

void signLock(int fd) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string text = "process " + std::to_string(::getpid()) + " on " + host.data() + "\n";
  // Only a courtesy for the message of whoever waits: a full disk must not hinder the lock.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) return;
}

Result<bool> makeFolder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) return true;
  if (errno != EEXIST) return systemError("cannot be created", folder, errno);
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return Error{ErrorKind::input, "stands where the session's folder belongs and is none", folder, "move it away or choose another session name"};
  return false;
}

void ignoreStep(const char*) {}

}  // namespace

void (*afterStep)(const char* step) = ignoreStep;

Error systemError(const std::string& what, const std::string& path, int errorNumber) {
  std::string remedy = "check the path";
  if (errorNumber == ENOSPC || errorNumber == EDQUOT || errorNumber == EFBIG)
    remedy = "free some space, or write the session to another disk";
  else if (errorNumber == EACCES || errorNumber == EPERM || errorNumber == EROFS)
    remedy = "check its permissions, or write to a folder of your own";
  // A full or failing disk is no fault of what was given: the run failed.
  const bool isDisk = errorNumber == ENOSPC || errorNumber == EDQUOT || errorNumber == EFBIG || errorNumber == EIO;
  return Error{isDisk ? ErrorKind::run : ErrorKind::input, what + ": " + std::strerror(errorNumber), path, remedy};
}

// The file already stands; where a folder cannot be synced (some network disks, folders without read permission) only
// a power cut within seconds could still undo the rename, to the whole old file.
void syncFolder(const std::string& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.open()) ::fsync(fd.get());
}

Status createFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) return systemError("cannot be created", path, errno);
  afterStep("folder made");
  syncFolder(folderOf(path));
  return base::success();
}

Status checkPlainFile(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return Error{ErrorKind::input, "does not exist", path, "check the path"};
    return systemError("cannot be looked at", path, errno);
  }
  return checkKind(path, info);
}

Status checkPlainFileNoLink(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
    return Error{ErrorKind::input, "is a symbolic link, which a session's own files never are", path, "put the file itself there"};
  return checkPlainFile(path);
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

Status writeWhole(const std::string& path, const std::vector<std::byte>& bytes, mode_t mode) {
  const std::string part = path + ".part";
  if (auto written = writePart(path, part, bytes, mode); !written) {
    ::unlink(part.c_str());
    return written;
  }
  if (::rename(part.c_str(), path.c_str()) != 0) {
    const Error error = systemError("cannot be put in place", path, errno);
    ::unlink(part.c_str());
    return error;
  }
  afterStep("renamed");
  syncFolder(folderOf(path));
  afterStep("folder synced");
  return base::success();
}

Status writeWhole(const std::string& path, std::string_view text, mode_t mode) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return writeWhole(path, std::vector<std::byte>(first, first + text.size()), mode);
}

Status placeNew(const std::string& part, const std::string& path) {
  const Error taken{ErrorKind::usage, "exists already", path, "choose another name, or remove it"};
  if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) return taken;
    if (errno != EINVAL && errno != ENOSYS) return systemError("cannot be put in place", path, errno);
    // A file system without that flag: looking first is the best there is.
    if (exists(path)) return taken;
    if (::rename(part.c_str(), path.c_str()) != 0) return systemError("cannot be put in place", path, errno);
  }
  afterStep("renamed");
  syncFolder(folderOf(path));
  afterStep("folder synced");
  return base::success();
}

NewFile::~NewFile() {
  if (m_fd >= 0) ::close(m_fd);
  if (m_made) ::unlink(part().c_str());
}

Status NewFile::create() {
  ::unlink(part().c_str());  // left by a writer that was killed
  m_fd = ::open(part().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, m_mode);
  m_made = m_fd >= 0;
  if (!m_made) return systemError("cannot be created", part(), errno);
  afterStep("part created");
  return base::success();
}

Status NewFile::write(const char* data, std::size_t size) {
  return writeAll(m_fd, data, size) ? base::success() : Status(systemError("cannot be written", part(), errno));
}

Status NewFile::finish() {
  afterStep("part written");
  if (::fsync(m_fd) != 0 || ::close(std::exchange(m_fd, -1)) != 0) return systemError("cannot be written", part(), errno);
  afterStep("part synced");
  Status placed = placeNew(part(), m_path);
  m_made = !placed.ok();
  return placed;
}

Result<WriteLock> WriteLock::take(const std::string& folder, std::chrono::milliseconds patience) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  const auto giveUp = std::chrono::steady_clock::now() + patience;
  bool made = false;
  for (;;) {
    const auto madeNow = makeFolder(folder);
    if (!madeNow) return madeNow.error();
    if (madeNow.value()) afterStep("folder made");
    made = made || madeNow.value();
    const std::string path = folder + "/lock";
    Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!fd.open() && errno == ENOENT) continue;  // another writer took the folder away again
    if (!fd.open()) {
      const Error error = systemError("cannot be opened for writing", path, errno);
      if (made) ::rmdir(folder.c_str());
      return error;
    }
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      if (!isStillAt(fd.get(), path)) continue;
      signLock(fd.get());
      afterStep("locked");
      return WriteLock(fd.release(), folder, made);
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return systemError("cannot be locked", path, errno);
    if (std::chrono::steady_clock::now() > giveUp)
      return Error{ErrorKind::input, "is being written by " + holderOf(fd.get()), path, "wait for it to finish, then run again"};
    std::this_thread::sleep_for(kPause);
  }
}

std::string WriteLock::holder(const std::string& folder) {
  const Descriptor fd(::open((folder + "/lock").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool isHeld = fd.open() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return isHeld ? holderOf(fd.get()) : std::string();
}

WriteLock::WriteLock(WriteLock&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)), m_folder(std::move(other.m_folder)), m_madeFolder(other.m_madeFolder) {}

WriteLock::~WriteLock() {
  if (m_fd >= 0) ::close(m_fd);
}

void WriteLock::removeIfMade() {
  if (m_madeFolder) removeFolderIfBare();
}

void WriteLock::removeFolderIfBare() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(m_folder, none))
    if (entry.path().filename() != "lock") return;
  ::unlink((m_folder + "/lock").c_str());
  ::rmdir(m_folder.c_str());
}

}  // namespace ulpscope::storage
