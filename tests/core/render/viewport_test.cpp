#include "core/render/viewport.h"

#include <gtest/gtest.h>

namespace ulpscope::render {
namespace {

TEST(Viewport, FindsTheCellUnderAPixelAndItsRectangle) {
  const Viewport v = wholeMap(10, 20, 200, 100);
  EXPECT_EQ(cellAt(v, 0, 0, 10, 20), (CellIndex{0, 0}));
  EXPECT_EQ(cellAt(v, 199.9, 99.9, 10, 20), (CellIndex{9, 19}));
  EXPECT_EQ(cellAt(v, 35, 72, 10, 20), (CellIndex{7, 3}));
  EXPECT_FALSE(cellAt(v, -1, 5, 10, 20));
  EXPECT_FALSE(cellAt(v, 200, 5, 10, 20));
  const PixelRect rect = cellRect(v, {7, 3});
  EXPECT_EQ(rect.x, 30);
  EXPECT_EQ(rect.y, 70);
  EXPECT_EQ(rect.width, 10);
}

TEST(Viewport, ManagesASingleCell) {
  const Viewport v = wholeMap(1, 1, 50, 50);
  EXPECT_EQ(cellAt(v, 49, 49, 1, 1), (CellIndex{0, 0}));
  const Viewport z = zoomed(v, 10, 25, 25, 1, 1);
  EXPECT_EQ(z.firstRow, 0);
  EXPECT_EQ(z.lastRow, 1);
}

TEST(Viewport, KeepsThePointUnderThePointerWhenZooming) {
  const Viewport v = wholeMap(100, 100, 400, 400);
  const Viewport z = zoomed(v, 2, 100, 300, 100, 100);
  EXPECT_DOUBLE_EQ(z.lastColumn - z.firstColumn, 50);
  EXPECT_EQ(cellAt(z, 100, 300, 100, 100), cellAt(v, 100, 300, 100, 100));
}

TEST(Viewport, NeverZoomsOutBeyondTheMapNorPansOffIt) {
  const Viewport v = wholeMap(100, 100, 400, 400);
  EXPECT_DOUBLE_EQ(zoomed(v, 0.1, 200, 200, 100, 100).lastRow, 100);
  const Viewport z = zoomed(v, 4, 200, 200, 100, 100);
  EXPECT_DOUBLE_EQ(panned(z, 1e6, 1e6, 100, 100).firstColumn, 0);
  EXPECT_DOUBLE_EQ(panned(z, -1e6, -1e6, 100, 100).lastRow, 100);
  EXPECT_DOUBLE_EQ(panned(z, -4, 0, 100, 100).firstColumn, z.firstColumn + 0.25);
}

TEST(Viewport, MovesByTheLeastThatShowsACell) {
  Viewport v = zoomed(wholeMap(100, 100, 400, 400), 10, 0, 0, 100, 100);
  v = showing(v, {50, 3}, 100, 100);
  EXPECT_DOUBLE_EQ(v.lastRow, 51);
  EXPECT_DOUBLE_EQ(v.firstRow, 41);
  EXPECT_DOUBLE_EQ(v.firstColumn, 0);
}

TEST(Ticks, AreDecadesAndRoundSteps) {
  EXPECT_EQ(decadeTicks({1e-3, 1e-1}).size(), 3U);
  EXPECT_EQ(indexTickStep(250, 6), 50);
  EXPECT_EQ(indexTickStep(3, 10), 1);
  EXPECT_EQ(indexTickStep(101, 5), 50);
}

}  // namespace
}  // namespace ulpscope::render
