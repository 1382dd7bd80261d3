// The heatmap's cells under each pixel, and the pixels' colours: two steps, so that another colour map costs the second alone.
#pragma once

#include "core/render/colors.h"
#include "core/render/heatmap_levels.h"

#include <cstdint>
#include <vector>

namespace ulpscope::render {

struct Viewport {
  double firstRow = 0, lastRow = 1;        // in rows, lastRow exclusive
  double firstColumn = 0, lastColumn = 1;  // in columns
  int width = 1, height = 1;               // pixels
  int pixelRatio = 1;                      // device pixels to one that people see: scales hatching and marks
  friend bool operator==(const Viewport&, const Viewport&) = default;
};

// The worst cell under each pixel. Non-finite wins, and covers at least 3 px as people see them either way, however far zoomed out.
// Where cells are smaller than such a pixel, finer device pixels would cost much and show nothing: stepX (stepY) of them share a cell.
struct PooledCells {
  Viewport viewport;
  int stepX = 1, stepY = 1;
  int width = 0, height = 0;             // of cells: the viewport's by the steps, rounded up
  std::vector<PackedCell> cells;         // row-major; kPackedOutside beside the map
  std::vector<std::uint8_t> wholeBatch;  // 1: hatched; empty: none, or cells are too small for hatching
  bool hasOutside = false;               // there are pixels beside the map
  bool hatchesQuiet = false;             // cells are large enough (6 px) for the hatching of what is not a finding
};
PooledCells pooled(const HeatmapLevels& levels, const Viewport& viewport);
// The same into what a frame before left: fresh memory for millions of cells costs as much as filling it.
void pool(PooledCells& into, const HeatmapLevels& levels, const Viewport& viewport);

enum class PixelOrder { rgba, bgra };  // of the four bytes
struct PixelLook {
  ColorRange range;
  ColorMap map = ColorMap::viridis;
  Theme theme = Theme::light;
  PixelOrder order = PixelOrder::rgba;
};

// Four bytes a pixel, row-major: NaN is hatched black and white, "not run", "finite again" and whole-batch cells are hatched from
// 6 px; beside the map pixels are transparent. Precondition: out holds 4 * width * height bytes.
void paintPixels(const PooledCells& cells, const PixelLook& look, std::uint8_t* out);
// Both steps.
std::vector<std::uint8_t> heatmapPixels(const HeatmapLevels& levels, const Viewport& viewport, const PixelLook& look);
// As the map is painted: a value counts to 9 bits here (0.2 %, less than a step of the colours).
Rgb cellColor(const Cell& cell, const PixelLook& look);

}  // namespace ulpscope::render
