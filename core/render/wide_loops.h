// Loops over many cells. The least that x86-64 promises has neither a maximum of 32-bit numbers nor a gathering load: where the processor
// has AVX2 they run four times as fast, with the same results.
#pragma once

#include "core/render/heatmap_data.h"

#include <cstdint>

namespace ulpscope::render {

void takeWorst(PackedCell* into, const PackedCell* from, std::int64_t count);
// What of `from` is non-finite, else "not run"; false: nothing is.
bool takeNonfinite(PackedCell* into, const PackedCell* from, std::int64_t count);
// out[i] = cells[at[i]]
void spread(PackedCell* out, const PackedCell* cells, const std::int32_t* at, std::int64_t count);
// As spread, of columns that are given as the map holds them.
void spread(PackedCell* out, const PackedCell* cells, const std::int64_t* at, std::int64_t count);

// Where a cell's colour stands in a table of kColorSlots: a value's by its first bits and its sign, every other kind's alone.
inline constexpr std::size_t kColorSlots = std::size_t{1} << 17;
inline constexpr int kColorDroppedBits = 15;  // of a float's 23: 8 stay, and the one before the point
constexpr std::uint32_t colorSlot(PackedCell cell) {
  const std::uint32_t bits = cell - kPackedFirstValue;  // "not run" and zero go round to the table's end
  return ((bits >> kColorDroppedBits) & ~1U) | (bits & 1U);
}
// out[i] = colors[colorSlot(cells[i])]; false: one of them is 0, not known yet.
bool lookUp(std::uint32_t* out, const PackedCell* cells, const std::uint32_t* colors, std::int64_t count);
bool hasNan(const PackedCell* cells, std::int64_t count);
// White where the cell is NaN and the mask is set.
void whitenNan(std::uint32_t* out, const PackedCell* cells, const std::uint32_t* mask, std::int64_t count);

}  // namespace ulpscope::render
