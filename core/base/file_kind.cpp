#include "core/base/file_kind.h"

#include <sys/stat.h>

namespace ulpscope::base {

Status checkFileKind(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return success();
  if (S_ISDIR(info.st_mode)) return Error{ErrorKind::input, "is a folder, not a file", path, "name the file itself"};
  return Error{ErrorKind::input, S_ISFIFO(info.st_mode) ? "is a pipe, no plain file" : "is no plain file", path, "name a file on a disk"};
}

}  // namespace ulpscope::base
