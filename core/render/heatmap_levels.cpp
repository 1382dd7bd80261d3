#include "core/render/heatmap_levels.h"

#include <algorithm>

namespace ulpscope::render {
namespace {

constexpr std::int64_t kFactor = 4;
// No plot is smaller: a level is made where at this size two of its blocks still go into a pixel.
constexpr std::int64_t kFewestPixels = 128;

using Level = HeatmapLevels::Level;
using LevelPointer = std::shared_ptr<const Level>;

std::int64_t blocks(std::int64_t count) { return (count + kFactor - 1) / kFactor; }
bool isWorthPooling(std::int64_t count) { return count >= 2 * kFactor * kFewestPixels; }

LevelPointer pooledRows(const PackedCell* cells, std::int64_t rows, std::int64_t columns) {
  auto level = std::make_shared<Level>();
  level->rows = blocks(rows);
  level->columns = columns;
  level->cells.resize(static_cast<std::size_t>(level->rows * columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    PackedCell* out = level->cells.data() + row / kFactor * columns;
    const PackedCell* in = cells + row * columns;
    for (std::int64_t i = 0; i < columns; ++i) out[i] = std::max(out[i], in[i]);
  }
  return level;
}

// order: of the columns in `cells`; empty: as they stand.
LevelPointer pooledColumns(const PackedCell* cells, std::int64_t rows, const std::vector<std::int64_t>& order, std::int64_t columns) {
  auto level = std::make_shared<Level>();
  const auto count = order.empty() ? columns : static_cast<std::int64_t>(order.size());
  level->rows = rows;
  level->columns = blocks(count);
  level->cells.resize(static_cast<std::size_t>(rows * level->columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    PackedCell* out = level->cells.data() + row * level->columns;
    const PackedCell* in = cells + row * columns;
    for (std::int64_t i = 0; i < count; ++i) out[i / kFactor] = std::max(out[i / kFactor], in[order.empty() ? i : order[static_cast<std::size_t>(i)]]);
  }
  return level;
}

bool isIdentity(const std::vector<std::int64_t>& columns, std::int64_t samples) {
  if (static_cast<std::int64_t>(columns.size()) != samples) return false;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

}  // namespace

HeatmapLevels::HeatmapLevels(std::shared_ptr<const HeatmapData> data, std::vector<std::int64_t> columns)
    : m_data(std::move(data)), m_columns(std::move(columns)) {
  m_levels.push_back({nullptr});
  for (std::int64_t rows = m_data->rows(); isWorthPooling(rows); rows = blocks(rows)) {
    const int above = static_cast<int>(m_levels.size()) - 1;
    m_levels.push_back({pooledRows(row(above, 0, 0), rows, m_data->samples())});
  }
  poolColumns();
}

HeatmapLevels HeatmapLevels::reordered(std::vector<std::int64_t> columns) const {
  HeatmapLevels other = *this;
  other.m_columns = std::move(columns);
  other.poolColumns();
  return other;
}

void HeatmapLevels::poolColumns() {
  m_columnsAreAsGiven = isIdentity(m_columns, m_data->samples());
  const std::vector<std::int64_t> none;
  for (std::size_t i = 0; i < m_levels.size(); ++i) {
    m_levels[i].resize(1);
    for (std::int64_t columns = columnCount(); isWorthPooling(columns); columns = blocks(columns)) {
      const int finer = static_cast<int>(m_levels[i].size()) - 1;
      const bool isFirst = finer == 0;
      m_levels[i].push_back(pooledColumns(row(static_cast<int>(i), finer, 0), rowsOf(static_cast<int>(i)), isFirst ? m_columns : none,
                                          isFirst ? m_data->samples() : columns));
    }
  }
}

int HeatmapLevels::rowLevelFor(double rowsAPixel) const {
  int level = 0;
  while (level + 1 < static_cast<int>(m_levels.size()) && static_cast<double>(2 * blockSize(level + 1)) <= rowsAPixel) ++level;
  return level;
}

int HeatmapLevels::columnLevelFor(double columnsAPixel) const {
  int level = 0;
  while (level + 1 < static_cast<int>(m_levels.front().size()) && static_cast<double>(2 * blockSize(level + 1)) <= columnsAPixel) ++level;
  return level;
}

const PackedCell* HeatmapLevels::row(int rowLevel, int columnLevel, std::int64_t blockRow) const {
  if (rowLevel == 0 && columnLevel == 0) return m_data->row(blockRow);
  const Level& at = level(rowLevel, columnLevel);
  return at.cells.data() + blockRow * at.columns;
}

std::int64_t HeatmapLevels::rowsOf(int rowLevel) const { return rowLevel == 0 ? rows() : level(rowLevel, 0).rows; }
std::int64_t HeatmapLevels::columnsOf(int columnLevel) const { return columnLevel == 0 ? columnCount() : level(0, columnLevel).columns; }

}  // namespace ulpscope::render
