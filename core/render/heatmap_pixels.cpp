#include "core/render/heatmap.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::render {
namespace {

constexpr int kHatchPeriod = 6;    // px, as people see them
constexpr int kSmallestMark = 3;   // px that a non-finite cell covers at least
constexpr double kHatchFrom = 6;   // px a side from which quiet cells are hatched too

struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;  // exclusive
};

// The cells that pixel `at` of `pixels` shows: the one under its centre when cells are larger than pixels, otherwise
// all that it touches, so that every cell is part of some pixel.
Span cellsUnder(int at, int pixels, double first, double last, std::int64_t count) {
  const double perPixel = (last - first) / pixels;
  const double from = first + at * perPixel;
  Span span;
  if (perPixel <= 1) {
    span.first = static_cast<std::int64_t>(std::floor(from + perPixel / 2));
    span.last = span.first + 1;
  } else {
    span.first = static_cast<std::int64_t>(std::floor(from));
    span.last = static_cast<std::int64_t>(std::ceil(from + perPixel));
  }
  span.first = std::clamp<std::int64_t>(span.first, 0, count);
  span.last = std::clamp<std::int64_t>(span.last, span.first, count);
  return span;
}

class Painter {
 public:
  Painter(const Viewport& viewport, const ColorRange& range, ColorMap map, Theme theme)
      : m_viewport(viewport), m_range(range), m_map(map), m_theme(theme),
        m_period(kHatchPeriod * std::max(1, viewport.pixelRatio)),
        m_pixels(static_cast<std::size_t>(viewport.width) * static_cast<std::size_t>(viewport.height) * 4, 0) {
    const double cell = std::min(viewport.height / (viewport.lastRow - viewport.firstRow),
                                 viewport.width / (viewport.lastColumn - viewport.firstColumn));
    m_hatchQuiet = cell >= kHatchFrom * std::max(1, viewport.pixelRatio);
  }

  void set(int x, int y, const Cell& cell) {
    Rgb color = cellColor(cell, m_range, m_map, m_theme);
    const bool onLine = (x + y) % m_period < m_period / 2;
    if (cell.kind == CellKind::nan && onLine) color = {255, 255, 255};
    if (m_hatchQuiet && isQuietHatch(cell) && (x + y) % m_period < std::max(1, m_period / 6)) color = quietLine(color);
    std::uint8_t* p = &m_pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(m_viewport.width) + static_cast<std::size_t>(x)) * 4];
    p[0] = color.r;
    p[1] = color.g;
    p[2] = color.b;
    p[3] = 255;
  }

  std::vector<std::uint8_t> take() { return std::move(m_pixels); }

 private:
  static bool isQuietHatch(const Cell& cell) {
    return cell.kind == CellKind::notRun || cell.kind == CellKind::cured || (cell.wholeBatch && !isNonfinite(cell.kind));
  }
  static Rgb quietLine(Rgb under) {
    const bool bright = under.r * 2 + under.g * 5 + under.b > 4 * 255;
    const auto shift = [bright](std::uint8_t v) { return static_cast<std::uint8_t>(bright ? v * 6 / 10 : v + (255 - v) * 4 / 10); };
    return {shift(under.r), shift(under.g), shift(under.b)};
  }

  const Viewport& m_viewport;
  const ColorRange& m_range;
  ColorMap m_map;
  Theme m_theme;
  int m_period;
  bool m_hatchQuiet = false;
  std::vector<std::uint8_t> m_pixels;
};

struct Mark {
  int x, y;
  Cell cell;
};

// Widens non-finite pixels to kSmallestMark where cells are smaller than that.
void paintMarks(Painter& painter, const std::vector<Mark>& marks, const Viewport& viewport) {
  const int wanted = kSmallestMark * std::max(1, viewport.pixelRatio);
  const auto reach = [wanted](double cell) { return cell >= wanted ? 0 : (wanted - std::max(1, static_cast<int>(cell)) + 1) / 2; };
  const int dx = reach(viewport.width / (viewport.lastColumn - viewport.firstColumn));
  const int dy = reach(viewport.height / (viewport.lastRow - viewport.firstRow));
  if (dx == 0 && dy == 0) return;
  std::vector<Mark> ordered = marks;
  std::stable_sort(ordered.begin(), ordered.end(), [](const Mark& a, const Mark& b) {
    return a.cell.kind != b.cell.kind && worse(a.cell, b.cell).kind == b.cell.kind;
  });
  for (const Mark& mark : ordered)
    for (int y = std::max(0, mark.y - dy); y <= std::min(viewport.height - 1, mark.y + dy); ++y)
      for (int x = std::max(0, mark.x - dx); x <= std::min(viewport.width - 1, mark.x + dx); ++x) painter.set(x, y, mark.cell);
}

}  // namespace

Rgb cellColor(const Cell& cell, const ColorRange& range, ColorMap map, Theme theme) {
  const SpecialColors special = specialColors(theme);
  switch (cell.kind) {
    case CellKind::nan: return special.nan;
    case CellKind::plusInf: return special.plusInf;
    case CellKind::minusInf: return special.minusInf;
    case CellKind::exactZero: return special.exactZero;
    case CellKind::notRun: return special.notRun;
    case CellKind::cured: return colorAt(ColorMap::vik, 0);
    case CellKind::value: break;
  }
  return colorAt(map, colorPosition(cell.value, range, map));
}

std::vector<std::uint8_t> heatmapPixels(const HeatmapData& data, const std::vector<std::int64_t>& columns,
                                        const Viewport& viewport, const ColorRange& range, ColorMap map, Theme theme) {
  Painter painter(viewport, range, map, theme);
  const auto columnCount = static_cast<std::int64_t>(columns.size());
  std::vector<Span> spans;
  for (int x = 0; x < viewport.width; ++x)
    spans.push_back(cellsUnder(x, viewport.width, viewport.firstColumn, viewport.lastColumn, columnCount));
  std::vector<Cell> line(columns.size());
  std::vector<Mark> marks;
  for (int y = 0; y < viewport.height; ++y) {
    const Span rows = cellsUnder(y, viewport.height, viewport.firstRow, viewport.lastRow, data.rows);
    if (rows.first == rows.last) continue;
    for (std::size_t column = 0; column < columns.size(); ++column) {
      line[column] = data.at(rows.first, columns[column]);
      for (std::int64_t row = rows.first + 1; row < rows.last; ++row) line[column] = worse(line[column], data.at(row, columns[column]));
    }
    for (int x = 0; x < viewport.width; ++x) {
      const Span span = spans[static_cast<std::size_t>(x)];
      if (span.first == span.last) continue;
      Cell cell = line[static_cast<std::size_t>(span.first)];
      for (std::int64_t c = span.first + 1; c < span.last; ++c) cell = worse(cell, line[static_cast<std::size_t>(c)]);
      painter.set(x, y, cell);
      if (isNonfinite(cell.kind)) marks.push_back({x, y, cell});
    }
  }
  paintMarks(painter, marks, viewport);
  return painter.take();
}

}  // namespace ulpscope::render
