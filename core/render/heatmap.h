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
std::string label(ColorMap map);  // "viridis"

enum class Theme { light, dark };
// Fill colours of the special values; told apart by people who do not see red or green, glyphs and hatching are
// drawn on top from 6 px.
struct SpecialColors {
  Rgb nan, plusInf, minusInf, exactZero, notRun;
};
SpecialColors specialColors(Theme theme);

// cured: only in a difference of two runs: A had NaN or infinity there, B has a number.
enum class CellKind : std::uint8_t { value, exactZero, nan, plusInf, minusInf, notRun, cured };
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

using session::Metric;
// Those of which larger is worse: a map pools by maximum.
std::vector<Metric> heatmapMetrics();

// One row a module that has op sites of its own, in execution order.
struct ModuleRow {
  std::string path;
  std::string typeName;
  std::vector<std::int64_t> sites;  // indices into RunRecord::sites
};
std::vector<ModuleRow> moduleRows(const session::Session& session, const session::RunRecord& run);
// One row a module that returned what an op made, containers too, in the order in which they first returned; its sites are those
// that made its outputs. Empty for a run that recorded none.
std::vector<ModuleRow> outputRows(const session::Session& session, const session::RunRecord& run);
// The worst of a row's sites, cell by cell. A metric that the run did not compute is "not run" everywhere.
HeatmapData moduleHeatmap(const std::vector<ModuleRow>& rows, const storage::RunMetrics& metrics, Metric metric);

// B - A cell by cell, over the rows of B; a row that A does not have is "not run". Where B is non-finite its kind stands.
HeatmapData differenceHeatmap(const std::vector<ModuleRow>& rowsA, const HeatmapData& a,
                              const std::vector<ModuleRow>& rowsB, const HeatmapData& b);
bool isNonfinite(CellKind kind);
// The worse of two cells: -inf/+inf/NaN over values (NaN first), larger magnitude, then zero, then not run.
Cell worse(const Cell& a, const Cell& b);
std::vector<Cell> rowMaxima(const HeatmapData& data);  // the worst cell of each row
std::string cellText(const Cell& cell);                // "0.0132", "NaN", "+inf", "0 (exact)", "not run"

// Samples as the heatmap's x axis orders them: columns[i] is the sample shown at column i.
enum class SampleOrder { asGiven, byReferenceMargin };
std::vector<std::int64_t> sampleColumns(const session::RunRecord& run, std::int64_t samples, SampleOrder order);

// Logarithmic colour range. For vik: signed values, symmetric about 0, linear within +-low, logarithmic up to +-high.
struct ColorRange {
  double low = 1e-6;
  double high = 1e-1;
};
// Decades that hold the finite non-zero values, 1e-6..1e-1 when there are none.
ColorRange automaticRange(const HeatmapData& data);
// One range that holds both.
ColorRange commonRange(const ColorRange& a, const ColorRange& b);
double colorPosition(double value, const ColorRange& range, ColorMap map);  // 0..1 along the map

struct Viewport {
  double firstRow = 0, lastRow = 1;        // in rows, lastRow exclusive
  double firstColumn = 0, lastColumn = 1;  // in columns
  int width = 1, height = 1;               // pixels
  int pixelRatio = 1;                      // device pixels to one that people see: scales hatching and marks
};

// RGBA, row-major, width * height * 4 bytes. NaN is hatched black and white, "not run" and whole-batch cells are
// hatched from 6 px; a non-finite cell covers at least 3 px either way, however far zoomed out.
std::vector<std::uint8_t> heatmapPixels(const HeatmapData& data, const std::vector<std::int64_t>& columns,
                                        const Viewport& viewport, const ColorRange& range, ColorMap map, Theme theme);
Rgb cellColor(const Cell& cell, const ColorRange& range, ColorMap map, Theme theme);

}  // namespace ulpscope::render
