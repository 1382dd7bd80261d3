// A slice of a tensor in both runs and their difference, as cells and as pixels.
#pragma once

#include "core/analysis/element_pairs.h"
#include "core/render/heatmap_levels.h"
#include "core/render/tensor_slice.h"

#include <array>

namespace ulpscope::render {

enum class MapSide { reference, candidate, difference };

// rows and samples of the cells are rows and columns of the slice, each `block` x `block` elements of it in one: the worst of them
// (heatmap_data.h). "not run": nothing stands there. Of the difference exact zero is a class of its own (the same value in both, the
// same infinity, NaN in both); elsewhere 0 is a value.
struct TensorMaps {
  std::int64_t block = 1;
  std::array<HeatmapLevels, 3> levels;  // by MapSide
  const HeatmapLevels& operator[](MapSide side) const { return levels[static_cast<std::size_t>(side)]; }
};
// At most mostCells cells each. Preconditions: both contiguous, of the slice's shape.
TensorMaps tensorMaps(const TensorSlice& slice, const analysis::ReferenceView& reference, const analysis::CandidateView& candidate,
                      std::int64_t mostCells = std::int64_t{1} << 20);

// The element that a cell shows on that side, -1: none. The same choice as tensorMaps makes.
struct BlockCell {
  MapSide side = MapSide::reference;
  std::int64_t block = 1;
  CellIndex cell;
};
std::int64_t elementOfCell(const TensorSlice& slice, const analysis::ReferenceView& reference, const analysis::CandidateView& candidate, const BlockCell& at);
analysis::ElementPair pairAt(const analysis::ReferenceView& reference, const analysis::CandidateView& candidate, std::int64_t element);

// Of values: from the smallest to the largest finite one of both runs; of a difference symmetric about 0. Linear where `linear` is 0,
// else linear within +-linear and logarithmic beyond: so that an outlier does not make all others alike.
struct ValueScale {
  double low = 0, high = 1;
  double linear = 0;
  double position(double value) const;  // 0..1, clamped
};
// NaN (nothing finite): 0..1; one value only: it and a little around it. Logarithmic where a magnitude is over 256 times the typical one.
ValueScale valueScale(double smallest, double largest, double typical);
ValueScale differenceScale(double largestMagnitude);      // NaN or 0: -1..1

struct PixelSize {
  int width = 1, height = 1;
  int pixelRatio = 1;  // device pixels to one that people see
};
struct TensorColors {
  ValueScale scale;
  ColorMap map = ColorMap::viridis;
  Theme theme = Theme::light;
};
// RGBA, row-major. All of the cells in the picture, pooled as pooled() of heatmap_pixels.h does it. NaN is hatched, a non-finite cell
// takes at least 3 px either way; where nothing stands alpha is 0.
std::vector<std::uint8_t> tensorPixels(const HeatmapLevels& levels, const PixelSize& size, const TensorColors& look);

}  // namespace ulpscope::render
