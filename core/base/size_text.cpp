#include "core/base/size_text.h"

#include <fmt/format.h>

namespace ulpscope::base {

std::string sizeText(std::uint64_t bytes) {
  constexpr double kStep = 1024;
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  double size = static_cast<double>(bytes) / kStep;
  const char* unit = "KiB";
  for (const char* larger : {"MiB", "GiB", "TiB"}) {
    if (size < kStep) break;
    size /= kStep;
    unit = larger;
  }
  const bool whole = size == static_cast<double>(static_cast<std::uint64_t>(size));
  return fmt::format("{:.{}f} {}", size, whole ? 0 : 1, unit);
}

}  // namespace ulpscope::base
