// Which slice the inspector shows, how its tables fit, and what the heatmap's tooltip takes from stored values. In the user's words.
#include "inspector_fixture.h"
#include "widgets/views/heatmap_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include <gmock/gmock.h>

namespace ulpscope {
namespace {

using ::testing::HasSubstr;
using render::MapSide;
using testing::Inspector;
using views::InspectorPanel;

void choose(QComboBox* axes, int axis) { axes->setCurrentIndex(axes->findData(axis)); }

// Sample b of "fc": element [c, h, w] is (8 c + 4 h + w) / 10.
TEST_F(Inspector, ChoosesWhichAxesAreRowsAndColumns) {
  openAt("fc", 1);
  EXPECT_EQ(maps()->rowAxis()->currentText(), QStringLiteral("axis 2 (2)"));
  EXPECT_EQ(maps()->columnAxis()->currentText(), QStringLiteral("axis 3 (4)"));
  choose(maps()->rowAxis(), 1);
  ASSERT_TRUE(testing::waitFor([this] { return tensor()->picture()->slice.choice().rowAxis == 1; }));
  EXPECT_TRUE(maps()->tiling()->isChecked()) << "axis 2 is tiled in its place";
  EXPECT_EQ(maps()->tiling()->text(), QStringLiteral("Tile axis 2 (2 side by side)"));
  maps()->tiling()->setChecked(false);
  ASSERT_TRUE(testing::waitFor([this] { return maps()->sliceText() == QStringLiteral("Slice [1, :, 0, :]"); })) << maps()->sliceText().toStdString();
  ASSERT_EQ(maps()->axisBoxes().size(), 1);
  maps()->axisBoxes()[0]->setValue(1);
  ASSERT_TRUE(testing::waitFor([this] { return maps()->sliceText() == QStringLiteral("Slice [1, :, 1, :]"); }));
  EXPECT_EQ(tensor()->picture()->maps[MapSide::reference].data().at(2, 3).value, 2.3F) << "[2, 1, 3]: (16 + 4 + 3) / 10";
}

TEST_F(Inspector, TransposesWhenRowsAndColumnsChangePlaces) {
  openAt("fc", 1);
  choose(maps()->rowAxis(), 3);  // which the columns are
  ASSERT_TRUE(testing::waitFor([this] { return maps()->sliceText() == QStringLiteral("Slice [1, :, :, :], transposed"); })) << maps()->sliceText().toStdString();
  EXPECT_EQ(maps()->columnAxis()->currentData().toInt(), 2);
  EXPECT_THAT(map(MapSide::reference)->accessibleDescription().toStdString(), HasSubstr("transposed"));
  EXPECT_EQ(tensor()->picture()->maps[MapSide::reference].data().at(3, 1).value, 0.7F) << "[0, 1, 3]";
  plots::TensorMapView* reference = map(MapSide::reference);
  QTest::mouseClick(reference, Qt::LeftButton, {}, *reference->centerOf(7));
  EXPECT_THAT(maps()->elementText().toStdString(), HasSubstr("[1, 0, 1, 3] · FP32 0.699999988"));
  choose(maps()->columnAxis(), 3);
  EXPECT_TRUE(testing::waitFor([this] { return maps()->sliceText() == QStringLiteral("Slice [1, :, :, :]"); })) << "and back";
}

TEST_F(Inspector, ChoosesAxesOfAnyRankAndOffersNoneWhereThereIsNoChoice) {
  openAt("five", 0);
  choose(maps()->rowAxis(), 1);
  ASSERT_TRUE(testing::waitFor([this] { return tensor()->picture()->slice.choice().rowAxis == 1; }));
  choose(maps()->columnAxis(), 2);
  ASSERT_TRUE(testing::waitFor([this] { return tensor()->picture()->slice.choice().columnAxis == 2; }));
  EXPECT_EQ(maps()->sliceText(), QStringLiteral("Slice [0, :, :, 0, :]")) << "axis 4 is tiled";
  EXPECT_EQ(maps()->axisBoxes().size(), 1);
  select("nan", 1);  // [4, 2]: one sample is a line
  EXPECT_FALSE(maps()->rowAxis()->isVisible());
  select("scalar", 1);
  EXPECT_FALSE(maps()->rowAxis()->isVisible());
}

TEST_F(Inspector, FitsLadderAndWorstElementsIntoANarrowDock) {
  openAt("fc", 2);
  for (const auto tab : {InspectorPanel::kTensor, InspectorPanel::kLadder}) {
    panel()->showTab(tab);
    QCoreApplication::processEvents();
    const QTableView* table = tab == InspectorPanel::kTensor ? maps()->worstTable() : tensor()->ladderTable();
    int width = 0;
    for (int column = 0; column < table->model()->columnCount(); ++column) width += table->isColumnHidden(column) ? 0 : table->columnWidth(column);
    EXPECT_LE(width, table->viewport()->width());
    EXPECT_FALSE(table->horizontalScrollBar()->isVisible());
  }
  const auto tip = [](const QTableView* table, int row, int column) { return table->model()->index(row, column).data(Qt::ToolTipRole).toString().toStdString(); };
  EXPECT_EQ(tip(maps()->worstTable(), 0, 1), "FP32 100000\nAMP +inf") << "one below the other, and whole here";
  EXPECT_EQ(tip(tensor()->ladderTable(), 4, 1), "+inf\noverflows");
}

TEST_F(Inspector, BeginsTheLadderOfAnotherSessionAtItsOwnFormat) {
  openAt("fc", 2, InspectorPanel::kLadder);
  QTableView* ladder = tensor()->ladderTable();
  EXPECT_EQ(ladder->currentIndex().row(), 4) << "FP16";
  ladder->setCurrentIndex(ladder->model()->index(1, 0));
  tensor()->selectElement(1);
  EXPECT_EQ(ladder->currentIndex().row(), 1) << "the user's choice stays";
  QTemporaryDir other;
  m_window.openSession(testing::writeCaptured(other));
  ASSERT_TRUE(testing::waitFor([&] { return m_window.workbench().sessionPath().startsWith(other.path()); }));
  select("fc", 2);
  ASSERT_TRUE(testing::waitFor([&] { return tensor()->picture() && tensor()->picture()->look->run == m_window.workbench().shownRun(); }));
  EXPECT_EQ(ladder->currentIndex().row(), 4);
}

TEST_F(Inspector, TooltipOfTheHeatmapNamesTheWorstElementWhereItWasStored) {
  open(InspectorPanel::kFacts);
  views::HeatmapPanel* heatmap = m_window.findChild<views::HeatmapPanel*>();
  const auto rowOf = [&](const char* module) {
    for (std::size_t i = 0; i < heatmap->content()->rows.size(); ++i)
      if (heatmap->content()->rows[i].path == module) return static_cast<std::int64_t>(i);
    return std::int64_t{-1};
  };
  QSignalSpy read(heatmap, &views::HeatmapPanel::worstElementRead);
  EXPECT_THAT(heatmap->tooltipOf(rowOf("fc"), 2).toStdString(), HasSubstr("worst element: reading the stored values"));
  ASSERT_TRUE(testing::waitFor([&] { return !read.isEmpty(); }));
  EXPECT_THAT(heatmap->tooltipOf(rowOf("fc"), 2).toStdString(), HasSubstr("worst element, by difference: [2, 1, 0, 3] · FP32 100000 · AMP +inf · non-finite in one run"));
  EXPECT_THAT(heatmap->tooltipOf(rowOf("none"), 1).toStdString(), HasSubstr("worst element: not known. The values of this op site were not captured in run 1."));
  heatmap->tooltipOf(rowOf("five"), 1);
  ASSERT_TRUE(testing::waitFor([&] { return read.size() == 2; }));
  EXPECT_THAT(heatmap->tooltipOf(rowOf("five"), 1).toStdString(), HasSubstr("no element differs"));
}

}  // namespace
}  // namespace ulpscope
