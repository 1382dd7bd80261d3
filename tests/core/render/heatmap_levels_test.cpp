#include "core/render/viewport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace ulpscope::render {
namespace {

std::vector<std::int64_t> identity(std::int64_t n) {
  std::vector<std::int64_t> columns(static_cast<std::size_t>(n));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

std::shared_ptr<const HeatmapData> randomData(std::int64_t rows, std::int64_t samples) {
  auto data = std::make_shared<HeatmapData>(rows, samples);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> values(1e-6F, 1e-1F);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t sample = 0; sample < samples; ++sample) data->set(row, sample, {CellKind::value, false, values(random)});
  return data;
}

struct Cells {
  std::int64_t first, last;  // exclusive
};
// The cells that a pixel touches, and as much more to either side as `slack` pixels; of cells larger than pixels, without slack, the one
// under its centre.
Cells cellsOf(int at, double first, double step, std::int64_t count, double slack) {
  const bool isCentre = step <= 1 && slack == 0;
  const double from = first + (isCentre ? at + 0.5 : at - slack) * step;
  const double to = isCentre ? from : first + (at + 1 + slack) * step;
  constexpr double kRounding = 1e-9;  // an edge on a cell's edge touches no more
  const auto begin = static_cast<std::int64_t>(std::floor(from + kRounding)), end = isCentre ? begin + 1 : static_cast<std::int64_t>(std::ceil(to - kRounding));
  return {std::clamp<std::int64_t>(begin, 0, count), std::clamp<std::int64_t>(end, 0, count)};
}

PackedCell worstOf(const HeatmapData& data, const std::vector<std::int64_t>& columns, const Viewport& v, int x, int y, double slack) {
  const Cells rows = cellsOf(y, v.firstRow, (v.lastRow - v.firstRow) / v.height, data.rows(), slack);
  const Cells shown = cellsOf(x, v.firstColumn, (v.lastColumn - v.firstColumn) / v.width, static_cast<std::int64_t>(columns.size()), slack);
  PackedCell worst = 0;
  for (std::int64_t row = rows.first; row < rows.last; ++row)
    for (std::int64_t c = shown.first; c < shown.last; ++c) worst = std::max(worst, data.row(row)[columns[static_cast<std::size_t>(c)]]);
  return worst;
}

void expectWithinHalfAPixel(const std::shared_ptr<const HeatmapData>& data, const std::vector<std::int64_t>& columns, const Viewport& v) {
  const PooledCells cells = pooled({data, columns}, v);
  for (int y = 0; y < v.height; y += 7)
    for (int x = 0; x < v.width; x += 11) {
      const PackedCell cell = cells.cells[static_cast<std::size_t>(y * v.width + x)];
      ASSERT_GE(cell, worstOf(*data, columns, v, x, y, 0)) << x << ", " << y;
      ASSERT_LE(cell, worstOf(*data, columns, v, x, y, 0.5)) << x << ", " << y;
    }
}

TEST(HeatmapLevels, GiveEachPixelTheWorstOfItsCells) {
  const auto data = randomData(5000, 60);
  expectWithinHalfAPixel(data, identity(60), wholeMap(5000, 60, 130, 140));
  expectWithinHalfAPixel(data, identity(60), wholeMap(5000, 60, 130, 300));
  expectWithinHalfAPixel(data, identity(60), {.firstRow = 17.25, .lastRow = 4200.5, .firstColumn = 3, .lastColumn = 51.5, .width = 131, .height = 149});
  expectWithinHalfAPixel(data, identity(60), {.firstRow = 40, .lastRow = 47, .firstColumn = 10, .lastColumn = 22, .width = 120, .height = 100});
}

TEST(HeatmapLevels, FollowTheOrderOfTheColumns) {
  const auto data = randomData(3000, 2500);
  std::vector<std::int64_t> columns = identity(2500);
  std::shuffle(columns.begin(), columns.end(), std::mt19937(5));
  expectWithinHalfAPixel(data, columns, wholeMap(3000, 2500, 140, 130));
  expectWithinHalfAPixel(data, columns, {.firstRow = 10, .lastRow = 2900, .firstColumn = 1000, .lastColumn = 1100, .width = 130, .height = 130});
  const HeatmapLevels again = HeatmapLevels(data, identity(2500)).reordered(columns);
  const Viewport v = wholeMap(3000, 2500, 140, 130);
  EXPECT_EQ(pooled(again, v).cells, pooled({data, columns}, v).cells);
}

TEST(HeatmapLevels, LoseNoCellOfALargeMap) {
  auto data = std::make_shared<HeatmapData>(10'000, 1'000);
  data->set(7'777, 333, {CellKind::nan, false, 0});
  data->set(3, 998, {CellKind::value, false, 7});
  for (const auto& [width, height] : {std::pair{800, 600}, std::pair{1600, 1200}, std::pair{200, 150}}) {
    const PooledCells cells = pooled({data, identity(1'000)}, wholeMap(10'000, 1'000, width, height));
    const auto count = [&cells](PackedCell cell) { return std::count(cells.cells.begin(), cells.cells.end(), cell); };
    EXPECT_GE(count(kPackedNan), 9) << "at least 3 px either way";
    EXPECT_LE(count(kPackedNan), 30);
    EXPECT_GE(count(packed({CellKind::value, false, 7})), 1);
    const auto at = std::find(cells.cells.begin(), cells.cells.end(), kPackedNan) - cells.cells.begin();
    EXPECT_NEAR(static_cast<double>(at / width), 0.7777 * height, 2.5);
    EXPECT_NEAR(static_cast<double>(at % width), 0.3335 * width, 2.5);
  }
}

TEST(HeatmapLevels, TakeWhatIsSmallAsItStands) {
  const HeatmapLevels levels(randomData(100, 40), identity(40));
  EXPECT_EQ(levels.rowLevelFor(1e9), 0);
  EXPECT_EQ(levels.columnLevelFor(1e9), 0);
  EXPECT_TRUE(HeatmapLevels().isEmpty());
  EXPECT_EQ(pooled({}, wholeMap(0, 0, 3, 2)).cells, std::vector<PackedCell>(6, kPackedOutside));
}

TEST(HeatmapLevels, UseBlocksOfHalfAPixelAtMost) {
  const HeatmapLevels levels(std::make_shared<const HeatmapData>(20'000, 10), identity(10));
  EXPECT_EQ(levels.rowLevelFor(7.9), 0);
  EXPECT_EQ(levels.rowLevelFor(8), 1);   // blocks of 4
  EXPECT_EQ(levels.rowLevelFor(32), 2);  // blocks of 16
}

// A map full of NaN costs no more marks than pixels, and what is beside the map stays empty.
TEST(HeatmapLevels, WidenNonfiniteCellsInsideTheMapOnly) {
  auto data = std::make_shared<HeatmapData>(4, 4);
  for (std::int64_t row = 0; row < 4; ++row)
    for (std::int64_t sample = 0; sample < 4; ++sample) data->set(row, sample, {CellKind::nan, false, 0});
  const PooledCells cells = pooled({data, identity(4)}, {.firstRow = 0, .lastRow = 8, .firstColumn = 0, .lastColumn = 4, .width = 4, .height = 8});
  EXPECT_EQ(std::count(cells.cells.begin(), cells.cells.end(), kPackedNan), 16);
  EXPECT_EQ(std::count(cells.cells.begin(), cells.cells.end(), kPackedOutside), 16);
}

}  // namespace
}  // namespace ulpscope::render
