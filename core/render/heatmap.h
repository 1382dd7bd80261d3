// A module x sample (or site x sample) matrix to pixels. Zoomed out it pools by maximum and non-finite wins, so a
// single bad cell never disappears.
#pragma once

#include "core/session/session.h"
#include "core/storage/session_store.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::render {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

enum class ColorMap { viridis, cividis, vik };
// t in [0, 1], clamped; NaN gives t = 0.
Rgb colorAt(ColorMap map, double t);

enum class Theme { light, dark };
// Fill colours of the special values; told apart by people who do not see red or green, glyphs and hatching are
// drawn on top from 6 px.
struct SpecialColors {
  Rgb nan, plusInf, minusInf, exactZero, notRun;
};
SpecialColors specialColors(Theme theme);

enum class CellKind : std::uint8_t { value, exactZero, nan, plusInf, minusInf, notRun };
struct Cell {
  CellKind kind = CellKind::notRun;
  bool wholeBatch = false;
  float value = 0;  // kind value only
};

// Rows x samples.
struct HeatmapData {
  std::int64_t rows = 0;
  std::int64_t samples = 0;
  std::vector<Cell> cells;
  const Cell& at(std::int64_t row, std::int64_t sample) const { return cells[static_cast<std::size_t>(row * samples + sample)]; }
};

enum class Metric { relL2, maxAbs };
std::string label(Metric metric);  // "relative L2 error", "max abs error": the same words in every place

// One row a module that has op sites of its own, in execution order.
struct ModuleRow {
  std::string path;
  std::string typeName;
  std::vector<std::int64_t> sites;  // indices into RunRecord::sites
};
std::vector<ModuleRow> moduleRows(const session::Session& session, const session::RunRecord& run);
HeatmapData moduleHeatmap(const std::vector<ModuleRow>& rows, const storage::RunMetrics& metrics, Metric metric);

// The worse of two cells: -inf/+inf/NaN over values (NaN first), larger value, then zero, then not run.
Cell worse(const Cell& a, const Cell& b);

// Samples as the heatmap's x axis orders them: columns[i] is the sample shown at column i.
enum class SampleOrder { asGiven, byReferenceMargin };
std::vector<std::int64_t> sampleColumns(const session::RunRecord& run, std::int64_t samples, SampleOrder order);

// Logarithmic colour range.
struct ColorRange {
  double low = 1e-6;
  double high = 1e-1;
};
// Decades that hold the finite non-zero values, 1e-6..1e-1 when there are none.
ColorRange automaticRange(const HeatmapData& data);

struct Viewport {
  double firstRow = 0, lastRow = 1;        // in rows, lastRow exclusive
  double firstColumn = 0, lastColumn = 1;  // in columns
  int width = 1, height = 1;               // pixels
};

// RGBA, row-major, width * height * 4 bytes.
std::vector<std::uint8_t> heatmapPixels(const HeatmapData& data, const std::vector<std::int64_t>& columns,
                                        const Viewport& viewport, const ColorRange& range, ColorMap map, Theme theme);
Rgb cellColor(const Cell& cell, const ColorRange& range, ColorMap map, Theme theme);

}  // namespace ulpscope::render
