#include "core/render/wide_loops.h"

#include <algorithm>

// Chosen when the program starts, by what the processor can do.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define ULPSCOPE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define ULPSCOPE_WIDE
#endif

namespace ulpscope::render {

ULPSCOPE_WIDE void takeWorst(PackedCell* into, const PackedCell* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) into[i] = std::max(into[i], from[i]);
}

ULPSCOPE_WIDE bool takeNonfinite(PackedCell* into, const PackedCell* from, std::int64_t count) {
  PackedCell any = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const PackedCell bad = isPackedNonfinite(from[i]) ? from[i] : kPackedNotRun;
    into[i] = bad;
    any |= bad;
  }
  return any != 0;
}

ULPSCOPE_WIDE void spread(PackedCell* out, const PackedCell* cells, const std::int32_t* at, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = cells[at[i]];
}

ULPSCOPE_WIDE void spread(PackedCell* out, const PackedCell* cells, const std::int64_t* at, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = cells[at[i]];
}

ULPSCOPE_WIDE bool lookUp(std::uint32_t* out, const PackedCell* cells, const std::uint32_t* colors, std::int64_t count) {
  std::uint32_t unknown = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = colors[colorSlot(cells[i])];
    unknown |= out[i] == 0 ? 1U : 0U;
  }
  return unknown == 0;
}

ULPSCOPE_WIDE bool hasNan(const PackedCell* cells, std::int64_t count) {
  std::uint32_t any = 0;
  for (std::int64_t i = 0; i < count; ++i) any |= cells[i] == kPackedNan ? 1U : 0U;
  return any != 0;
}

ULPSCOPE_WIDE void whitenNan(std::uint32_t* out, const PackedCell* cells, const std::uint32_t* mask, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] |= cells[i] == kPackedNan ? mask[i] : 0;
}

}  // namespace ulpscope::render
