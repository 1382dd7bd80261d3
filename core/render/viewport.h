// Where cells stand on the screen, and how zooming and panning move the window over them.
#pragma once

#include "core/render/heatmap_pixels.h"

#include <optional>

namespace ulpscope::render {

struct CellIndex {
  std::int64_t row = 0;
  std::int64_t column = 0;
  friend bool operator==(const CellIndex&, const CellIndex&) = default;
};

// In pixels of the viewport.
struct PixelRect {
  double x = 0, y = 0, width = 0, height = 0;
};

// All of rows x columns in width x height pixels.
Viewport wholeMap(std::int64_t rows, std::int64_t columns, int width, int height);
// nullopt outside the map.
std::optional<CellIndex> cellAt(const Viewport& viewport, double x, double y, std::int64_t rows, std::int64_t columns);
PixelRect cellRect(const Viewport& viewport, CellIndex cell);
// factor > 1 shows fewer cells. The point (x, y) stays where it is; never less than 2 cells nor more than the whole map.
Viewport zoomed(const Viewport& viewport, double factor, double x, double y, std::int64_t rows, std::int64_t columns);
// Moved by pixels, kept inside the map.
Viewport panned(const Viewport& viewport, double dx, double dy, std::int64_t rows, std::int64_t columns);
// Moved by the least that shows the cell.
Viewport showing(const Viewport& viewport, CellIndex cell, std::int64_t rows, std::int64_t columns);

// Where an axis or colour bar has its ticks, rising: decades, with +- and 0 for vik; or steps of 1, 2 or 5 x 10^n.
std::vector<double> rangeTicks(const ColorRange& range, ColorMap map);
// Decades from low to high for axes: 1e-6, 1e-5, ...
std::vector<double> decadeTicks(const ColorRange& range);
// Linear within +-linear (where it is +-1), decades beyond: 1 + log10(|v| / linear), with v's sign.
double symlog(double value, double linear);
// Step of 1, 2, 5 x 10^n that gives at most `most` ticks over `span` cells, at least 1.
std::int64_t indexTickStep(double span, int most);

}  // namespace ulpscope::render
