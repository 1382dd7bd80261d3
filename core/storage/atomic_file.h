// Private: files that are either there whole or not at all, and the lock that writers take.
#pragma once

#include "core/base/error.h"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ulpscope::storage {

// Error (kind input) unless path is a readable, non-empty plain file (or a symbolic link to one).
base::Status checkPlainFile(const std::string& path);
// The same for a file that must not be a symbolic link.
base::Status checkPlainFileNoLink(const std::string& path);

bool exists(const std::string& path);  // of any kind, dangling links included

// Writes path + ".part", syncs it, renames it to `path`, syncs the folder. A new file gets `mode` less the umask, a
// replaced one keeps its own. After an error neither the part nor a changed `path` is left.
base::Status writeWhole(const std::string& path, const std::vector<std::byte>& bytes, mode_t mode);
base::Status writeWhole(const std::string& path, std::string_view text, mode_t mode);

// Called after each step that a crash could follow ("part created", "renamed"). Does nothing; tests put a killer there.
extern void (*afterStep)(const char* step);

// "cannot be written: No space left on device", with what to do about it.
base::Error systemError(const std::string& what, const std::string& path, int errorNumber);

// Renames the synced file `part` to `path`, where nothing may stand (kind usage), and syncs the folder.
base::Status placeNew(const std::string& part, const std::string& path);

// Makes a folder whose parent stands and syncs that parent. Error (systemError's) where anything stands there.
base::Status createFolder(const std::string& path);
// As far as the file system can: some network disks cannot.
void syncFolder(const std::string& folder);

// A file written piece by piece to path + ".part", which goes away unless finish() puts it in place (as placeNew).
class NewFile {
 public:
  NewFile(std::string path, mode_t mode) : m_path(std::move(path)), m_mode(mode) {}
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  base::Status create();
  base::Status write(const char* data, std::size_t size);
  base::Status finish();

 private:
  std::string part() const { return m_path + ".part"; }

  std::string m_path;
  mode_t m_mode;
  int m_fd = -1;
  bool m_made = false;
};

// An exclusive lock (flock) on folder + "/lock", both made when missing. Waits up to `patience`, then says who holds it.
class WriteLock {
 public:
  static base::Result<WriteLock> take(const std::string& folder, std::chrono::milliseconds patience = std::chrono::minutes(2));
  WriteLock(WriteLock&& other) noexcept;
  WriteLock& operator=(WriteLock&&) = delete;
  ~WriteLock();
  // Who holds it now, or last signed it while somebody holds it ("process 12 on host"); empty: nobody.
  static std::string holder(const std::string& folder);
  bool madeFolder() const { return m_madeFolder; }
  // Undoes what take() made; for a session that did not come to be. Keeps a folder that holds anything else.
  void removeIfMade();
  // Removes the folder where it holds nothing but the lock, whoever made it.
  void removeFolderIfBare();

 private:
  WriteLock(int fd, std::string folder, bool madeFolder) : m_fd(fd), m_folder(std::move(folder)), m_madeFolder(madeFolder) {}
  int m_fd = -1;
  std::string m_folder;
  bool m_madeFolder = false;
};

}  // namespace ulpscope::storage
