#include "sample_session.h"
#include "widgets/plots/heatmap_paint.h"
#include "widgets/plots/heatmap_view.h"
#include "widgets/plots/theme.h"

#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ulpscope {
namespace {

using plots::HeatmapView;
using render::CellIndex;
using testing::Sick;

// rows: fc1, fc2 (+inf in c), norm and head (NaN in c); one cell -inf is put in by hand: fc1, d.
class Heatmap : public ::testing::Test {
 protected:
  Heatmap() {
    const models::RunPointer run = testing::loadedSample(Sick::yes);
    auto content = std::make_shared<models::HeatmapContent>();
    content->rows = run->rows;
    render::HeatmapData data = render::moduleHeatmap(run->rows, *run->metrics, render::Metric::relL2);
    data.set(0, 3, {render::CellKind::minusInf, false, 0});
    content->cells = std::make_shared<const render::HeatmapData>(data);
    content->columns = {0, 1, 2, 3};
    content->sampleIds = {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c"), QStringLiteral("d")};
    m_view.resize(700, 420);
    m_look = {render::automaticRange(*content->cells), render::ColorMap::viridis, {plots::RowMark::none, plots::RowMark::origin, plots::RowMark::consequence, plots::RowMark::consequence},
              {plots::RowFold::none, plots::RowFold::folded, plots::RowFold::unfolded, plots::RowFold::none}, QStringLiteral("as given")};
    m_view.setContent(content, m_look);
    m_view.show();
  }

  std::set<QRgb> colorsAround(CellIndex cell, int reach = 6) {
    const QImage image = m_view.grab().toImage();
    const QPoint center = *m_view.centerOf(cell);
    std::set<QRgb> colors;
    for (int dy = -reach; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx) colors.insert(image.pixel(center + QPoint(dx, dy)));
    return colors;
  }

  // Filled with the origin's colour, left of the map.
  int markedPixels() {
    const QImage image = m_view.grab().toImage();
    const QColor mark = plots::lightTheme().origin.background;
    int found = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < m_view.plotRect().left(); ++x) found += image.pixelColor(x, y) == mark ? 1 : 0;
    return found;
  }

  plots::HeatmapLook m_look;
  HeatmapView m_view;
};

TEST_F(Heatmap, PaintsNanAsBlackAndWhiteHatch) {
  EXPECT_EQ(colorsAround({2, 2}), (std::set<QRgb>{qRgb(0, 0, 0), qRgb(255, 255, 255)}));
}

TEST_F(Heatmap, PaintsInfinitiesInTheirColoursWithGlyphsOnTop) {
  const auto fillOf = [](render::Rgb rgb) { return plots::toColor(rgb).rgb(); };
  const render::SpecialColors special = render::specialColors(render::Theme::light);
  EXPECT_TRUE(colorsAround({1, 2}, 20).contains(fillOf(special.plusInf)));
  EXPECT_TRUE(colorsAround({1, 2}, 2).contains(qRgb(255, 255, 255))) << "the triangle of +inf";
  EXPECT_TRUE(colorsAround({0, 3}, 20).contains(fillOf(special.minusInf)));
  EXPECT_TRUE(colorsAround({0, 3}, 2).contains(qRgb(0, 0, 0))) << "the triangle of -inf";
}

TEST_F(Heatmap, MarksTheOriginsRowInTheMargin) { EXPECT_GT(markedPixels(), 20); }

TEST_F(Heatmap, PointsToAnOriginThatIsOutOfSight) {
  m_view.setSelected(CellIndex{3, 0});
  m_view.zoomBy(2);
  ASSERT_FALSE(m_view.centerOf({1, 0}).has_value());
  EXPECT_GT(markedPixels(), 20);
}

TEST_F(Heatmap, SelectsTheCellThatIsClicked) {
  QSignalSpy selected(&m_view, &HeatmapView::cellSelected);
  QTest::mouseClick(&m_view, Qt::LeftButton, {}, *m_view.centerOf({2, 1}));
  ASSERT_EQ(selected.size(), 1);
  EXPECT_EQ(selected.front().at(0).toLongLong(), 2);
  EXPECT_EQ(selected.front().at(1).toLongLong(), 1);
}

TEST_F(Heatmap, TellsTheCellUnderThePointer) {
  m_view.setTextOf([](std::int64_t row, std::int64_t sample) { return QStringLiteral("%1/%2").arg(row).arg(sample); });
  QSignalSpy hovered(&m_view, &HeatmapView::cellHovered);
  QTest::mouseMove(&m_view, *m_view.centerOf({3, 0}));
  ASSERT_GE(hovered.size(), 1);
  EXPECT_EQ(hovered.back().front().toString(), QStringLiteral("3/0"));
}

TEST_F(Heatmap, MovesItsCursorByKeys) {
  QSignalSpy selected(&m_view, &HeatmapView::cellSelected);
  for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Down, Qt::Key_Right, Qt::Key_Right, Qt::Key_Left}) QTest::keyClick(&m_view, key);
  EXPECT_EQ(m_view.selected(), (CellIndex{1, 1}));
  QTest::keyClick(&m_view, Qt::Key_End);
  EXPECT_EQ(m_view.selected(), (CellIndex{1, 3}));
  EXPECT_EQ(selected.size(), 6);
}

TEST_F(Heatmap, ZoomsAtTheCursorAndShowsAllAgain) {
  m_view.setSelected(CellIndex{1, 2});
  QTest::keyClick(&m_view, Qt::Key_Plus);
  EXPECT_LT(m_view.viewport().lastRow - m_view.viewport().firstRow, 4);
  EXPECT_TRUE(m_view.centerOf({1, 2}).has_value());
  QTest::keyClick(&m_view, Qt::Key_0);
  EXPECT_DOUBLE_EQ(m_view.viewport().lastRow, 4);
}

TEST_F(Heatmap, PansWithoutSelecting) {
  m_view.zoomBy(2);
  QSignalSpy selected(&m_view, &HeatmapView::cellSelected);
  const double before = m_view.viewport().firstColumn;
  const QPoint center = m_view.plotRect().center();
  QTest::mousePress(&m_view, Qt::LeftButton, {}, center);
  QMouseEvent move(QEvent::MouseMove, center - QPoint(60, 0), m_view.mapToGlobal(center - QPoint(60, 0)), Qt::LeftButton, Qt::LeftButton, {});
  QCoreApplication::sendEvent(&m_view, &move);
  QTest::mouseRelease(&m_view, Qt::LeftButton, {}, center - QPoint(60, 0));
  EXPECT_GT(m_view.viewport().firstColumn, before);
  EXPECT_EQ(selected.size(), 0);
}

// 400 rows in some 370 px: every n-th has room for its label.
class DenseRows : public ::testing::Test {
 protected:
  DenseRows() {
    auto content = std::make_shared<models::HeatmapContent>();
    render::HeatmapData data(400, 3);
    for (int row = 0; row < 400; ++row) content->rows.push_back({"layer" + std::to_string(row), "Linear", {row}});
    data.set(201, 1, {render::CellKind::value, false, 0.5F});
    content->cells = std::make_shared<const render::HeatmapData>(std::move(data));
    content->columns = {0, 1, 2};
    content->sampleIds = {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")};
    content->metric = QStringLiteral("relative L2 error");
    m_content = content;
    m_look.rowMarks.resize(400);
    m_look.rowFolds.resize(400);
  }
  std::vector<plots::LabelPlace> places(std::int64_t selected) {
    const render::Viewport view{.firstRow = 0, .lastRow = 400, .firstColumn = 0, .lastColumn = 3, .width = 400, .height = 400};
    return plots::labelPlaces({*m_content, m_look, view, QRect(120, 0, 400, 400), plots::lightTheme(), selected}, QFontMetrics(QFont()));
  }
  static bool has(const std::vector<plots::LabelPlace>& places, std::int64_t row) {
    return std::any_of(places.begin(), places.end(), [row](const plots::LabelPlace& place) { return place.row == row; });
  }
  std::shared_ptr<const models::HeatmapContent> m_content;
  plots::HeatmapLook m_look;
};

TEST_F(DenseRows, AlwaysNameTheSelectedRowAndTheOrigins) {
  ASSERT_FALSE(has(places(-1), 201)) << "or this test tests nothing";
  EXPECT_TRUE(has(places(201), 201));
  m_look.rowMarks[333] = plots::RowMark::origin;
  EXPECT_TRUE(has(places(201), 333));
  m_look.rowMarks[202] = plots::RowMark::origin;
  EXPECT_TRUE(has(places(201), 201));
  EXPECT_FALSE(has(places(201), 202)) << "beside the selected row there is no room";
  EXPECT_TRUE(has(places(50), 202));
}

TEST_F(DenseRows, LeaveNoLabelOverAnother) {
  for (const std::int64_t selected : {std::int64_t{0}, std::int64_t{7}, std::int64_t{201}, std::int64_t{399}}) {
    const auto labels = places(selected);
    ASSERT_GT(labels.size(), 10U);
    for (std::size_t i = 1; i < labels.size(); ++i) EXPECT_GE(labels[i].text.center().y() - labels[i - 1].text.center().y(), QFontMetrics(QFont()).height());
  }
}

TEST_F(DenseRows, SayTheWorstSampleAtTheLabel) {
  EXPECT_EQ(plots::labelTooltip(*m_content, m_look, 201), QStringLiteral("layer201 · Linear\nworst sample: b, relative L2 error 0.5"));
  EXPECT_EQ(plots::labelTooltip(*m_content, m_look, 0), QStringLiteral("layer0 · Linear")) << "nothing was measured there";
}

TEST_F(Heatmap, PaintsTheLabelOfTheRowThatIsSelectedNext) {
  const QImage before = m_view.grab(QRect(0, 0, m_view.plotRect().left() - 20, m_view.height())).toImage();
  m_view.setSelected(CellIndex{2, 1});
  EXPECT_NE(before, m_view.grab(QRect(0, 0, m_view.plotRect().left() - 20, m_view.height())).toImage());
}

}  // namespace
}  // namespace ulpscope
