#include "core/render/heatmap_pixels.h"

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
  int pixels;
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

Axis axisOf(int level, double first, double last, int pixels, std::int64_t count) {
  const auto size = static_cast<double>(blockSize(level));
  return {level, pixels, first / size, (last - first) / size / pixels, count};
}

void takeWorst(PackedCell* into, const PackedCell* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) into[i] = std::max(into[i], from[i]);
}

// Makes one line of pixels after the other.
class Pooler {
 public:
  Pooler(const HeatmapLevels& levels, const Viewport& v) : m_levels(levels) {
    const double rowsAPixel = (v.lastRow - v.firstRow) / v.height, columnsAPixel = (v.lastColumn - v.firstColumn) / v.width;
    const int rowLevel = levels.rowLevelFor(rowsAPixel), columnLevel = levels.columnLevelFor(columnsAPixel);
    m_rows = axisOf(rowLevel, v.firstRow, v.lastRow, v.height, levels.rowsOf(rowLevel));
    const Axis columns = axisOf(columnLevel, v.firstColumn, v.lastColumn, v.width, levels.columnsOf(columnLevel));
    m_columnLevel = columnLevel;
    m_shown = {columns.count, 0};
    for (int x = 0; x < v.width; ++x) {
      const Span span = columns.under(x);
      m_spans.push_back(span);
      if (span.isEmpty()) continue;
      m_shown.first = std::min(m_shown.first, span.first);
      m_shown.last = std::max(m_shown.last, span.last);
    }
    if (m_shown.isEmpty()) m_shown = {};
    m_line.resize(static_cast<std::size_t>(m_shown.last - m_shown.first));
    m_samples.resize(static_cast<std::size_t>(levels.data().samples()));
  }

  Span rowsUnder(int y) const { return m_rows.under(y); }
  const std::vector<Span>& spans() const { return m_spans; }

  void makeLine(Span rows, PackedCell* out) {
    poolRows(rows);
    for (std::size_t x = 0; x < m_spans.size(); ++x) {
      const Span span = m_spans[x];
      if (span.isEmpty()) continue;
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
    for (std::int64_t i = 0; i < count; ++i) m_line[static_cast<std::size_t>(i)] = m_samples[static_cast<std::size_t>(columns[i])];
  }

  const HeatmapLevels& m_levels;
  Axis m_rows{};
  int m_columnLevel = 0;
  std::vector<Span> m_spans;  // blocks of columns under each pixel
  Span m_shown;               // all of them
  std::vector<PackedCell> m_line, m_samples;
};

// How far a non-finite pixel reaches to either side, so that it is kSmallestMark wide.
int reach(double cell, int wanted) { return cell >= wanted ? 0 : (wanted - std::max(1, static_cast<int>(cell)) + 1) / 2; }

// Non-finite pixels of one line, widened to either side; false: there are none.
bool widenLine(const PackedCell* line, int width, int reach, std::vector<PackedCell>& bad, std::vector<PackedCell>& out) {
  bool any = false;
  for (int x = 0; x < width; ++x) {
    bad[static_cast<std::size_t>(x)] = isPackedNonfinite(line[x]) ? line[x] : kPackedNotRun;
    any = any || isPackedNonfinite(line[x]);
  }
  if (!any) return false;
  out = bad;
  for (int by = 1; by <= std::min(reach, width - 1); ++by) {
    takeWorst(out.data() + by, bad.data(), width - by);
    takeWorst(out.data(), bad.data() + by, width - by);
  }
  return true;
}

void widenNonfinite(PooledCells& pooled) {
  const Viewport& v = pooled.viewport;
  const int wanted = kSmallestMark * std::max(1, v.pixelRatio);
  const int dx = reach(v.width / (v.lastColumn - v.firstColumn), wanted);
  const int dy = reach(v.height / (v.lastRow - v.firstRow), wanted);
  if (dx == 0 && dy == 0) return;
  const auto width = static_cast<std::size_t>(v.width);
  std::vector<PackedCell> bad(width);
  std::vector<std::vector<PackedCell>> lines(static_cast<std::size_t>(v.height));  // widened; empty: nothing bad in it
  for (int y = 0; y < v.height; ++y) {
    std::vector<PackedCell> line(width);
    if (widenLine(&pooled.cells[static_cast<std::size_t>(y) * width], v.width, dx, bad, line)) lines[static_cast<std::size_t>(y)] = std::move(line);
  }
  for (int y = 0; y < v.height; ++y)
    for (int from = std::max(0, y - dy); from <= std::min(v.height - 1, y + dy); ++from) {
      const std::vector<PackedCell>& line = lines[static_cast<std::size_t>(from)];
      // kPackedOutside is above all: pixels beside the map stay.
      if (!line.empty()) takeWorst(&pooled.cells[static_cast<std::size_t>(y) * width], line.data(), v.width);
    }
}

}  // namespace

PooledCells pooled(const HeatmapLevels& levels, const Viewport& v) {
  const auto width = static_cast<std::size_t>(v.width);
  PooledCells result{v, std::vector<PackedCell>(width * static_cast<std::size_t>(v.height), kPackedOutside), {}, false};
  if (levels.isEmpty()) return result;
  const double side = std::min(v.height / (v.lastRow - v.firstRow), v.width / (v.lastColumn - v.firstColumn));
  result.hatchesQuiet = side >= kHatchFrom * std::max(1, v.pixelRatio);
  const bool marksWholeBatch = result.hatchesQuiet && levels.data().hasWholeBatch();
  if (marksWholeBatch) result.wholeBatch.resize(result.cells.size());
  Pooler pooler(levels, v);
  Span before;
  for (int y = 0; y < v.height; ++y) {
    const Span rows = pooler.rowsUnder(y);
    if (rows.isEmpty()) continue;
    const std::size_t at = static_cast<std::size_t>(y) * width;
    if (y > 0 && rows == before) {
      std::copy_n(&result.cells[at - width], width, &result.cells[at]);
    } else {
      pooler.makeLine(rows, &result.cells[at]);
    }
    before = rows;
    for (std::size_t x = 0; marksWholeBatch && x < width; ++x)
      result.wholeBatch[at + x] = !pooler.spans()[x].isEmpty() && levels.data().isWholeBatch(rows.first, levels.columns()[static_cast<std::size_t>(pooler.spans()[x].first)]);
  }
  widenNonfinite(result);
  return result;
}

}  // namespace ulpscope::render
