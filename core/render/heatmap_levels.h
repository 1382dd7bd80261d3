// A heatmap's cells pooled by maximum beforehand, so that drawing costs what the screen has pixels, not what the map has cells.
#pragma once

#include "core/render/heatmap_data.h"

#include <memory>
#include <vector>

namespace ulpscope::render {

// Level (i, j): blocks of 4^i rows by 4^j columns. Columns are in the order of the map from j = 1 on; level (0, 0) and the levels
// (i, 0) are in the order of the samples, so that another order of the columns costs no pooling of rows. Levels that no screen
// asks for are not made: together they take a third of the cells' memory, where there are many rows and columns at most 0.8 of it.
class HeatmapLevels {
 public:
  struct Level {
    std::int64_t rows = 0, columns = 0;
    std::vector<PackedCell> cells;
  };

  HeatmapLevels() = default;
  HeatmapLevels(std::shared_ptr<const HeatmapData> data, std::vector<std::int64_t> columns);

  bool isEmpty() const { return rows() == 0 || columnCount() == 0; }
  std::int64_t rows() const { return m_data ? m_data->rows() : 0; }
  std::int64_t columnCount() const { return static_cast<std::int64_t>(m_columns.size()); }
  const HeatmapData& data() const { return *m_data; }
  const std::shared_ptr<const HeatmapData>& sharedData() const { return m_data; }
  const std::vector<std::int64_t>& columns() const { return m_columns; }
  bool columnsAreAsGiven() const { return m_columnsAreAsGiven; }
  // The coarsest level whose blocks are at most half of that many rows (columns): pixels of that size lie within half a pixel of
  // where they belong.
  int rowLevelFor(double rowsAPixel) const;
  int columnLevelFor(double columnsAPixel) const;
  const PackedCell* row(int rowLevel, int columnLevel, std::int64_t blockRow) const;
  std::int64_t rowsOf(int rowLevel) const;
  std::int64_t columnsOf(int columnLevel) const;
  // The same map in another order; pooled rows are shared, not made again.
  HeatmapLevels reordered(std::vector<std::int64_t> columns) const;

 private:
  void poolColumns();
  const Level& level(int rowLevel, int columnLevel) const { return *m_levels[static_cast<std::size_t>(rowLevel)][static_cast<std::size_t>(columnLevel)]; }

  std::shared_ptr<const HeatmapData> m_data;
  std::vector<std::int64_t> m_columns;
  bool m_columnsAreAsGiven = true;
  std::vector<std::vector<std::shared_ptr<const Level>>> m_levels;  // [row level][column level]; (0, 0) is the data itself: nullptr
};

// 4^level.
constexpr std::int64_t blockSize(int level) { return std::int64_t{1} << (2 * level); }

}  // namespace ulpscope::render
