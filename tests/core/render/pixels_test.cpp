#include "core/render/viewport.h"

#include <gtest/gtest.h>

#include <numeric>

namespace ulpscope::render {
namespace {

constexpr ColorRange kRange{1e-6, 1e-1};

HeatmapData filled(std::int64_t rows, std::int64_t samples, Cell cell = {CellKind::value, false, 1e-5F}) {
  return {rows, samples, std::vector<Cell>(static_cast<std::size_t>(rows * samples), cell)};
}

std::vector<std::int64_t> identity(std::int64_t n) {
  std::vector<std::int64_t> columns(static_cast<std::size_t>(n));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

Rgb pixel(const std::vector<std::uint8_t>& rgba, int width, int x, int y) {
  const std::size_t at = (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 4;
  return {rgba[at], rgba[at + 1], rgba[at + 2]};
}

std::vector<std::uint8_t> pixelsOf(const HeatmapData& data, const std::vector<std::int64_t>& columns, const Viewport& viewport) {
  return heatmapPixels({std::make_shared<const HeatmapData>(data), columns}, viewport, {kRange});
}

// How many pixels differ from the one colour that `data` without its bad cell has.
int differing(const HeatmapData& data, int width, int height) {
  const auto pixels = pixelsOf(data, identity(data.samples()), wholeMap(data.rows(), data.samples(), width, height));
  const Rgb usual = cellColor({CellKind::value, false, 1e-5F}, {kRange});
  int count = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) count += pixel(pixels, width, x, y) == usual ? 0 : 1;
  return count;
}

TEST(HeatmapPixels, KeepASingleBadCellAtEveryZoom) {
  for (const CellKind kind : {CellKind::nan, CellKind::plusInf, CellKind::minusInf})
    for (const auto& [row, column] : {std::pair{0, 0}, std::pair{499, 4095}, std::pair{251, 1777}}) {
      HeatmapData data = filled(500, 4096);
      data.set(row, column, {kind, false, 0});
      EXPECT_GE(differing(data, 700, 300), 4) << row << ", " << column;
      EXPECT_GE(differing(data, 90, 1000), 4) << row << ", " << column;
    }
}

TEST(HeatmapPixels, KeepTheLargestValueWhenPooling) {
  HeatmapData data = filled(1000, 1000);
  data.set(123, 456, {CellKind::value, false, 5e-2F});
  EXPECT_GE(differing(data, 100, 100), 1);
}

TEST(HeatmapPixels, HatchNanBlackAndWhite) {
  const auto pixels = pixelsOf(filled(2, 2, {CellKind::nan, false, 0}), identity(2), wholeMap(2, 2, 60, 60));
  int black = 0, white = 0;
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 60; ++x) {
      black += pixel(pixels, 60, x, y) == Rgb{0, 0, 0};
      white += pixel(pixels, 60, x, y) == Rgb{255, 255, 255};
    }
  EXPECT_EQ(black + white, 3600);
  EXPECT_NEAR(black, 1800, 60);
}

TEST(HeatmapPixels, PaintInfinitiesInTheirOwnColours) {
  HeatmapData data = filled(1, 2);
  data.set(0, 0, {CellKind::plusInf, false, 0});
  data.set(0, 1, {CellKind::minusInf, false, 0});
  const auto pixels = pixelsOf(data, identity(2), wholeMap(1, 2, 40, 20));
  EXPECT_EQ(pixel(pixels, 40, 10, 10), specialColors(Theme::light).plusInf);
  EXPECT_EQ(pixel(pixels, 40, 30, 10), specialColors(Theme::light).minusInf);
}

TEST(HeatmapPixels, PutColumnsInTheGivenOrder) {
  HeatmapData data = filled(1, 2);
  data.set(0, 0, {CellKind::value, false, 5e-2F});
  const auto pixels = pixelsOf(data, {1, 0}, wholeMap(1, 2, 40, 20));
  EXPECT_EQ(pixel(pixels, 40, 30, 10), cellColor(data.at(0, 0), {kRange}));
}

TEST(HeatmapPixels, HatchWholeBatchCellsOnlyWhenLargeEnough) {
  const HeatmapData data = filled(20, 20, {CellKind::value, true, 1e-5F});
  EXPECT_GT(differing(data, 400, 400), 0);
  EXPECT_EQ(differing(data, 60, 60), 0);
}

TEST(HeatmapPixels, LeavePixelsBesideTheMapTransparent) {
  Viewport viewport = wholeMap(1, 1, 10, 10);
  viewport.lastRow = 2;
  const auto pixels = pixelsOf(filled(1, 1), {0}, viewport);
  EXPECT_EQ(pixels[3], 255);
  EXPECT_EQ(pixels.back(), 0);
}

}  // namespace
}  // namespace ulpscope::render
