#include "core/render/heatmap_data.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace ulpscope::render {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Cell value(float v) { return {CellKind::value, false, v}; }
Cell special(CellKind kind) { return {kind, false, 0}; }

TEST(PackedCell, KeepsEveryBitOfAValue) {
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const float v = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(v)) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(unpacked(packed(value(v))).value), std::bit_cast<std::uint32_t>(v));
  }
  for (const float v : {0.F, -0.F, 1e-45F, -1e-45F, std::numeric_limits<float>::max(), kInf, -kInf}) EXPECT_EQ(unpacked(packed(value(v))).value, v);
}

TEST(PackedCell, KeepsEveryKind) {
  for (const CellKind kind : {CellKind::exactZero, CellKind::nan, CellKind::plusInf, CellKind::minusInf, CellKind::notRun, CellKind::cured})
    EXPECT_EQ(unpacked(packed(special(kind))).kind, kind);
}

TEST(PackedCell, OfAValueThatIsNanIsNotRun) { EXPECT_EQ(unpacked(packed(value(std::nanf("")))).kind, CellKind::notRun); }

// Without it pooling by a plain maximum would be another order than `worse`.
TEST(PackedCell, IsLargerWhereTheCellIsWorse) {
  const Cell rising[] = {special(CellKind::notRun), special(CellKind::exactZero), value(1e-45F), value(-1e-6F), value(1e-5F), value(-10), value(std::numeric_limits<float>::max()),
                         value(kInf), special(CellKind::cured), special(CellKind::minusInf), special(CellKind::plusInf), special(CellKind::nan)};
  for (std::size_t i = 1; i < std::size(rising); ++i) {
    EXPECT_GT(packed(rising[i]), packed(rising[i - 1])) << i;
    EXPECT_EQ(worse(rising[i - 1], rising[i]).kind, rising[i].kind);
  }
  EXPECT_EQ(worse(value(-2), value(2)).value, -2) << "of one magnitude the first";
  EXPECT_EQ(worse(value(2), value(-2)).value, 2);
}

TEST(HeatmapData, TakesTheWorseWithItsMarkOfTheWholeBatch) {
  HeatmapData data(1, 2);
  EXPECT_EQ(data.at(0, 0).kind, CellKind::notRun);
  data.takeWorse(0, 0, {CellKind::value, true, 1});
  data.takeWorse(0, 0, {CellKind::value, false, 0.5F});
  EXPECT_TRUE(data.at(0, 0).wholeBatch) << "the lesser of the two changes nothing";
  data.takeWorse(0, 0, {CellKind::value, false, 2});
  EXPECT_FALSE(data.at(0, 0).wholeBatch);
  EXPECT_EQ(data.at(0, 0).value, 2);
  EXPECT_FALSE(data.at(0, 1).wholeBatch);
}

TEST(HeatmapData, GivesTheWorstOfRowsAndOfSamples) {
  const HeatmapData data(2, 3, {value(1), special(CellKind::nan), value(3), value(2), special(CellKind::exactZero), special(CellKind::notRun)});
  const std::vector<Cell> rows = rowMaxima(data), samples = sampleMaxima(data);
  EXPECT_EQ(rows[0].kind, CellKind::nan);
  EXPECT_EQ(rows[1].value, 2);
  EXPECT_EQ(samples[0].value, 2);
  EXPECT_EQ(samples[1].kind, CellKind::nan);
  EXPECT_EQ(samples[2].value, 3);
  EXPECT_EQ(rowMaxima(HeatmapData(2, 0)).size(), 2U);
  EXPECT_TRUE(sampleMaxima(HeatmapData(2, 0)).empty());
}

TEST(Magnitudes, AreOfFiniteValuesAlone) {
  const Magnitudes m = magnitudesOf(HeatmapData(1, 6, {value(-3), value(0.25F), value(kInf), special(CellKind::nan), special(CellKind::exactZero), value(0)}));
  EXPECT_EQ(m.smallest, 0.25);
  EXPECT_EQ(m.largest, 3);
  EXPECT_TRUE(m.hasInfinite);
  const Magnitudes none = magnitudesOf(HeatmapData(1, 2, {special(CellKind::plusInf), special(CellKind::notRun)}));
  EXPECT_EQ(none.largest, 0);
  EXPECT_FALSE(none.hasInfinite) << "an infinity of the model's is a finding, not a number";
}

}  // namespace
}  // namespace ulpscope::render
