// A disk of a few pages, for the process that asks for it: a child that a test forked.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <cstddef>
#include <string>

namespace ulpscope::tests {

// Where a small tmpfs cannot be mounted (no user namespaces), a limit on file size stands in for the full disk.
inline void enterSmallDisk(const std::string& folder, std::size_t sizeBytes) {
  if (::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("none", folder.c_str(), "tmpfs", 0, ("size=" + std::to_string(sizeBytes)).c_str()) == 0) return;
  }
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit size{sizeBytes, sizeBytes};
  ::setrlimit(RLIMIT_FSIZE, &size);
}

}  // namespace ulpscope::tests
