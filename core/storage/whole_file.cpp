#include "core/storage/whole_file.h"

#include "core/storage/atomic_file.h"

namespace ulpscope::storage {

base::Status writeWholeFile(const std::string& path, std::string_view bytes) {
  auto written = writeWhole(path, bytes, 0666);
  if (written) return written;
  base::Error error = written.error();
  error.remedy = error.kind == base::ErrorKind::run ? "free some space, or name a folder on another disk" : "check the folder and its permissions";
  return error;
}

}  // namespace ulpscope::storage
