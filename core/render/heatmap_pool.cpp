#include "core/render/heatmap_pixels.h"
#include "core/render/wide_loops.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::render {
namespace {

constexpr int kSmallestMark = 3;  // px that a non-finite cell covers at least
constexpr double kHatchFrom = 6;  // px a side from which quiet cells are hatched too

struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;  // exclusive
  bool isEmpty() const { return first >= last; }
  friend bool operator==(const Span&, const Span&) = default;
};

// One side of the map in blocks of a level.
struct Axis {
  int level;
  double first, perPixel;  // blocks
  std::int64_t count;

  // The blocks that a pixel shows: the one under its centre when blocks are larger than pixels, otherwise all that it touches,
  // so that every cell is part of some pixel.
  Span under(int at) const {
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
};

Axis axisOf(int level, double first, double perPixel, std::int64_t count) {
  const auto size = static_cast<double>(blockSize(level));
  return {level, first / size, perPixel / size, count};
}

double rowsAPixel(const PooledCells& p) { return (p.viewport.lastRow - p.viewport.firstRow) * p.stepY / p.viewport.height; }
double columnsAPixel(const PooledCells& p) { return (p.viewport.lastColumn - p.viewport.firstColumn) * p.stepX / p.viewport.width; }

// Makes one line of pixels after the other.
class Pooler {
 public:
  Pooler(const HeatmapLevels& levels, const PooledCells& p) : m_levels(levels) {
    const int rowLevel = levels.rowLevelFor(rowsAPixel(p)), columnLevel = levels.columnLevelFor(columnsAPixel(p));
    m_rows = axisOf(rowLevel, p.viewport.firstRow, rowsAPixel(p), levels.rowsOf(rowLevel));
    const Axis columns = axisOf(columnLevel, p.viewport.firstColumn, columnsAPixel(p), levels.columnsOf(columnLevel));
    m_columnLevel = columnLevel;
    m_shown = {columns.count, 0};
    for (int x = 0; x < p.width; ++x) {
      const Span span = columns.under(x);
      m_spans.push_back(span);
      if (span.isEmpty()) continue;
      m_shown.first = std::min(m_shown.first, span.first);
      m_shown.last = std::max(m_shown.last, span.last);
    }
    if (m_shown.isEmpty()) m_shown = {};
    // Where each pixel has a cell, and one alone: where in m_line.
    if (std::all_of(m_spans.begin(), m_spans.end(), [](const Span& span) { return span.last - span.first == 1; }))
      for (const Span& span : m_spans) m_single.push_back(static_cast<std::int32_t>(span.first - m_shown.first));
    m_line.resize(static_cast<std::size_t>(m_shown.last - m_shown.first));
    m_samples.resize(static_cast<std::size_t>(levels.data().samples()));
  }

  Span rowsUnder(int y) const { return m_rows.under(y); }
  const std::vector<Span>& spans() const { return m_spans; }
  bool hasGaps() const { return std::any_of(m_spans.begin(), m_spans.end(), [](const Span& span) { return span.isEmpty(); }); }

  void makeLine(Span rows, PackedCell* out) {
    poolRows(rows);
    if (!m_single.empty()) return spread(out, m_line.data(), m_single.data(), static_cast<std::int64_t>(m_single.size()));
    for (std::size_t x = 0; x < m_spans.size(); ++x) {
      const Span span = m_spans[x];
      if (span.isEmpty()) {
        out[x] = kPackedOutside;
        continue;
      }
      const PackedCell* cells = m_line.data() - m_shown.first;
      PackedCell cell = cells[span.first];
      for (std::int64_t c = span.first + 1; c < span.last; ++c) cell = std::max(cell, cells[c]);
      out[x] = cell;
    }
  }

 private:
  // m_line: the worst of the rows for each column shown.
  void poolRows(Span rows) {
    const auto count = static_cast<std::int64_t>(m_line.size());
    const auto cells = [&](std::int64_t row) { return m_levels.row(m_rows.level, m_columnLevel, row); };
    std::fill(m_line.begin(), m_line.end(), kPackedNotRun);
    if (m_columnLevel > 0 || m_levels.columnsAreAsGiven()) {
      for (std::int64_t row = rows.first; row < rows.last; ++row) takeWorst(m_line.data(), cells(row) + m_shown.first, count);
      return;
    }
    const std::int64_t* columns = m_levels.columns().data() + m_shown.first;
    const auto samples = static_cast<std::int64_t>(m_samples.size());
    if (count * 8 < samples || rows.last - rows.first == 1) {
      for (std::int64_t row = rows.first; row < rows.last; ++row) {
        const PackedCell* from = cells(row);
        for (std::int64_t i = 0; i < count; ++i) m_line[static_cast<std::size_t>(i)] = std::max(m_line[static_cast<std::size_t>(i)], from[columns[i]]);
      }
      return;
    }
    // Whole rows one after the other in memory, then once into the order of the columns.
    std::fill(m_samples.begin(), m_samples.end(), kPackedNotRun);
    for (std::int64_t row = rows.first; row < rows.last; ++row) takeWorst(m_samples.data(), cells(row), samples);
    spread(m_line.data(), m_samples.data(), columns, count);
  }

  const HeatmapLevels& m_levels;
  Axis m_rows{};
  int m_columnLevel = 0;
  std::vector<Span> m_spans;  // blocks of columns under each pixel
  std::vector<std::int32_t> m_single;
  Span m_shown;               // all of them
  std::vector<PackedCell> m_line, m_samples;
};

// How far a non-finite pixel reaches to either side, so that it is kSmallestMark wide.
int reach(double cell, int wanted) { return cell >= wanted ? 0 : (wanted - std::max(1, static_cast<int>(cell)) + 1) / 2; }

// Line by line: the non-finite pixels of the last few lines, each already widened to either side.
class Widener {
 public:
  Widener(PooledCells& pooled, int dx, int dy)
      : m_pooled(pooled), m_width(pooled.width), m_dx(std::min(dx, m_width - 1)), m_dy(dy), m_bad(static_cast<std::size_t>(m_width)),
        m_lines(static_cast<std::size_t>(2 * dy + 1), Line{std::vector<PackedCell>(static_cast<std::size_t>(m_width)), false}) {}

  void run() {
    const int height = m_pooled.height;
    // A line is read as it was: it is read m_dy lines before it is written.
    for (int y = 0; y < std::min(m_dy, height); ++y) read(y);
    for (int y = 0; y < height; ++y) {
      if (y + m_dy < height) read(y + m_dy);
      for (int from = std::max(0, y - m_dy); from <= std::min(height - 1, y + m_dy); ++from)
        // kPackedOutside is above all: pixels beside the map stay.
        if (lineOf(from).isBad) takeWorst(pixels(y), lineOf(from).cells.data(), m_width);
    }
  }

 private:
  struct Line {
    std::vector<PackedCell> cells;
    bool isBad;
  };
  Line& lineOf(int y) { return m_lines[static_cast<std::size_t>(y) % m_lines.size()]; }
  PackedCell* pixels(int y) { return &m_pooled.cells[static_cast<std::size_t>(y) * static_cast<std::size_t>(m_width)]; }

  void read(int y) {
    Line& line = lineOf(y);
    line.isBad = takeNonfinite(m_bad.data(), pixels(y), m_width);
    if (!line.isBad) return;
    line.cells = m_bad;
    for (int by = 1; by <= m_dx; ++by) {
      takeWorst(line.cells.data() + by, m_bad.data(), m_width - by);
      takeWorst(line.cells.data(), m_bad.data() + by, m_width - by);
    }
  }

  PooledCells& m_pooled;
  int m_width, m_dx, m_dy;
  std::vector<PackedCell> m_bad;
  std::vector<Line> m_lines;  // a ring
};

void widenNonfinite(PooledCells& pooled) {
  const int wanted = kSmallestMark * std::max(1, pooled.viewport.pixelRatio);
  const int dx = reach(1 / columnsAPixel(pooled), wanted / pooled.stepX);
  const int dy = reach(1 / rowsAPixel(pooled), wanted / pooled.stepY);
  if (dx > 0 || dy > 0) Widener(pooled, dx, dy).run();
}

// Size, steps and flags for a viewport; the cells are those of before, of another size.
void layOut(PooledCells& result, const Viewport& v) {
  const int ratio = std::max(1, v.pixelRatio);
  const double cellWidth = v.width / (v.lastColumn - v.firstColumn), cellHeight = v.height / (v.lastRow - v.firstRow);
  result.viewport = v;
  result.stepX = cellWidth < ratio ? ratio : 1;
  result.stepY = cellHeight < ratio ? ratio : 1;
  result.width = (v.width + result.stepX - 1) / result.stepX;
  result.height = (v.height + result.stepY - 1) / result.stepY;
  result.hatchesQuiet = std::min(cellWidth, cellHeight) >= kHatchFrom * ratio;
  result.cells.resize(static_cast<std::size_t>(result.width) * static_cast<std::size_t>(result.height));
  result.wholeBatch.clear();
}

void markWholeBatch(PooledCells& result, const HeatmapLevels& levels, const Pooler& pooler) {
  result.wholeBatch.resize(result.cells.size());
  for (int y = 0; y < result.height; ++y) {
    const Span rows = pooler.rowsUnder(y);
    std::uint8_t* line = &result.wholeBatch[static_cast<std::size_t>(y) * static_cast<std::size_t>(result.width)];
    for (std::size_t x = 0; !rows.isEmpty() && x < pooler.spans().size(); ++x)
      line[x] = !pooler.spans()[x].isEmpty() && levels.data().isWholeBatch(rows.first, levels.columns()[static_cast<std::size_t>(pooler.spans()[x].first)]);
  }
}

}  // namespace

PooledCells pooled(const HeatmapLevels& levels, const Viewport& viewport) {
  PooledCells result;
  pool(result, levels, viewport);
  return result;
}

void pool(PooledCells& result, const HeatmapLevels& levels, const Viewport& viewport) {
  layOut(result, viewport);
  const auto width = static_cast<std::size_t>(result.width);
  result.hasOutside = levels.isEmpty();
  if (levels.isEmpty()) return std::fill(result.cells.begin(), result.cells.end(), kPackedOutside);
  Pooler pooler(levels, result);
  Span before;
  for (int y = 0; y < result.height; ++y) {
    const Span rows = pooler.rowsUnder(y);
    PackedCell* line = &result.cells[static_cast<std::size_t>(y) * width];
    if (rows.isEmpty())
      std::fill_n(line, width, kPackedOutside);
    else if (y > 0 && rows == before)
      std::copy_n(line - width, width, line);
    else
      pooler.makeLine(rows, line);
    result.hasOutside = result.hasOutside || rows.isEmpty();
    before = rows;
  }
  result.hasOutside = result.hasOutside || pooler.hasGaps();
  if (result.hatchesQuiet && levels.data().hasWholeBatch()) markWholeBatch(result, levels, pooler);
  widenNonfinite(result);
}

}  // namespace ulpscope::render
