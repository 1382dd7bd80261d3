// Private: files that are either there whole or not at all, and the lock that writers take.
#pragma once

#include "core/base/error.h"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
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

// "cannot be written: No space left on device", with what to do about it.
base::Error systemError(const std::string& what, const std::string& path, int errorNumber);

// An exclusive lock (flock) on folder + "/lock", both made when missing. Waits up to `patience`, then says who holds it.
class WriteLock {
 public:
  static base::Result<WriteLock> take(const std::string& folder, std::chrono::milliseconds patience = std::chrono::minutes(2));
  WriteLock(WriteLock&& other) noexcept;
  WriteLock& operator=(WriteLock&&) = delete;
  ~WriteLock();
  // Undoes what take() made; for a session that did not come to be. Keeps a folder that holds anything else.
  void removeIfMade();

 private:
  WriteLock(int fd, std::string folder, bool madeFolder) : m_fd(fd), m_folder(std::move(folder)), m_madeFolder(madeFolder) {}
  int m_fd = -1;
  std::string m_folder;
  bool m_madeFolder = false;
};

}  // namespace ulpscope::storage
