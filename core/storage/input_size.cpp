#include "core/storage/input_size.h"

#include "core/base/size_text.h"
#include "core/storage/input_samples.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::storage {

base::Status checkFits(const std::string& path, double memoryBytes) {
  const auto shapes = inputShapes(path);
  if (!shapes) return base::success();
  double bytes = 0;
  for (const InputShape& input : shapes.value()) {
    double size = static_cast<double>(base::sizeBytes(input.dtype));
    for (const std::int64_t count : input.shape) size *= static_cast<double>(count);
    bytes += size;
  }
  if (bytes <= memoryBytes) return base::success();
  const auto text = [](double size) { return base::sizeText(static_cast<std::uint64_t>(std::min(size, std::ldexp(1.0, 62)))); };
  return base::Error{base::ErrorKind::input, "holds inputs of " + text(bytes) + "; this machine has " + text(memoryBytes) + " of memory", path, "store fewer samples in it"};
}

base::Status checkFitsMemory(const std::string& path) {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? checkFits(path, static_cast<double>(pages) * static_cast<double>(page)) : base::success();
}

}  // namespace ulpscope::storage
