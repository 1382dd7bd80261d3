#include "sample_session.h"
#include "widgets/plots/heatmap_view.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/stale_band.h"

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

using render::CellIndex;
using testing::Sick;

// The sample session, in which block.fc1 has a second op site (aten::add, site 1); sites: 0, 1 fc1; 2 fc2; 3 norm; 4 head.
session::RunRecord runWithTwoOps(Sick sick) {
  session::RunRecord run = testing::sampleRun(sick);
  session::SiteSummary add = run.sites[0];
  add.op = "aten::add";
  add.overload = "Tensor";
  add.source = "model.py:31";
  run.sites.insert(run.sites.begin() + 1, add);
  run.moduleOutputs.clear();
  for (session::NonfiniteFinding& finding : run.nonfiniteOrigins) finding.site = 2;
  return run;
}

storage::RunMetrics metricsWithTwoOps(Sick sick) {
  storage::RunMetrics metrics = testing::sampleMetrics(sick);
  const std::vector<float> add{2e-4F, 1e-4F, 3e-3F, 0.123456789F};
  for (const session::Metric metric : {session::Metric::relL2, session::Metric::maxAbs}) {
    metrics[metric].sites = 5;
    metrics[metric].values.insert(metrics[metric].values.begin() + 4, add.begin(), add.end());
  }
  metrics.flags.insert(metrics.flags.begin() + 4, 4, 0);
  return metrics;
}

class HeatmapPanel : public ::testing::Test {
 protected:
  HeatmapPanel() : m_bench(QString()), m_panel(m_bench) {
    m_panel.resize(1100, 620);
    m_panel.show();
  }

  void open(int runs = 1, const std::vector<std::string>& kinds = {}) {
    session::Session session = testing::sampleSession();
    session.samples.kinds = kinds;
    const std::string path = m_folder.filePath(QStringLiteral("two.ulps")).toStdString();
    for (int i = 0; i < runs; ++i) {
      const Sick sick = i == 0 ? Sick::yes : Sick::no;
      const auto written = storage::addRun(path, session, runWithTwoOps(sick), metricsWithTwoOps(sick), {}, i == 0 ? storage::WriteMode::create : storage::WriteMode::append);
      ASSERT_TRUE(written.ok()) << written.error().message();
      session = written.value();
    }
    m_bench.openSession(QString::fromStdString(path));
    ASSERT_TRUE(testing::waitFor([this] { return m_bench.runB() != nullptr; }));
  }
  plots::HeatmapView& map() { return *m_panel.heatmap(); }
  const models::HeatmapContent& content() { return *m_panel.content(); }
  QComboBox* combo(const char* name) {
    for (QComboBox* combo : m_panel.findChildren<QComboBox*>())
      if (combo->accessibleName() == QLatin1String(name)) return combo;
    return nullptr;
  }
  bool isOffered(const char* name, const char* item) {
    const int index = combo(name)->findText(QLatin1String(item));
    return combo(name)->model()->flags(combo(name)->model()->index(index, 0)) & Qt::ItemIsEnabled;
  }
  void clickCell(CellIndex cell) { QTest::mouseClick(&map(), Qt::LeftButton, {}, *map().centerOf(cell)); }
  QPoint labelOf(std::int64_t row) { return {map().plotRect().left() - 30, map().centerOf({row, 0})->y()}; }
  void unfoldFc1() { QTest::mouseClick(&map(), Qt::LeftButton, {}, map().foldRectOf(0).center()); }
  void copy() { QTest::keyClick(&map(), Qt::Key_C, Qt::ControlModifier); }
  static QString clipboard() { return QGuiApplication::clipboard()->text(); }
  std::int64_t selectedSite() { return m_bench.selection().site(); }

  QTemporaryDir m_folder;
  views::Workbench m_bench;
  views::HeatmapPanel m_panel;
};

TEST_F(HeatmapPanel, UnfoldsARowIntoItsOpSitesByItsTriangle) {
  open();
  ASSERT_EQ(content().rows.size(), 4U);
  EXPECT_TRUE(map().foldRectOf(1).isEmpty()) << "block.fc2 has one op site";
  unfoldFc1();
  ASSERT_EQ(content().rows.size(), 6U);
  EXPECT_EQ(content().rows[1].opSite, "aten::linear");
  EXPECT_EQ(content().rows[2].opSite, "aten::add.Tensor");
  EXPECT_FLOAT_EQ(content().data().at(2, 3).value, 0.123456789F);
  EXPECT_EQ(m_panel.table()->model()->rowCount(), 6) << "the table follows";
  EXPECT_EQ(m_panel.table()->model()->headerData(2, Qt::Vertical).toString(), QStringLiteral("    aten::add.Tensor"));
  QTest::mouseClick(&map(), Qt::LeftButton, {}, map().foldRectOf(0).center());
  EXPECT_EQ(content().rows.size(), 4U);
}

TEST_F(HeatmapPanel, UnfoldsByEnterAndByADoubleClickOnTheLabel) {
  open();
  clickCell({0, 1});
  QTest::keyClick(&map(), Qt::Key_Return);
  EXPECT_EQ(content().rows.size(), 6U);
  QTest::keyClick(&map(), Qt::Key_Down);
  QTest::keyClick(&map(), Qt::Key_Enter);
  EXPECT_EQ(content().rows.size(), 4U) << "from an op site its module folds again";
  QTest::mouseDClick(&map(), Qt::LeftButton, {}, labelOf(0));
  EXPECT_EQ(content().rows.size(), 6U);
  clickCell({3, 1});  // block.fc2 has nothing to unfold
  QTest::keyClick(&map(), Qt::Key_Return);
  EXPECT_EQ(content().rows.size(), 6U);
}

TEST_F(HeatmapPanel, SelectsTheExactOpSite) {
  open();
  unfoldFc1();
  clickCell({2, 3});
  EXPECT_EQ(m_bench.selection().modulePath(), QStringLiteral("block.fc1"));
  EXPECT_EQ(selectedSite(), 1);
  EXPECT_EQ(map().selected(), (CellIndex{2, 3}));
  QTest::keyClick(&map(), Qt::Key_Up);
  EXPECT_EQ(selectedSite(), 0);
  EXPECT_EQ(map().selected(), (CellIndex{1, 3}));
  QTest::keyClick(&map(), Qt::Key_Up);
  EXPECT_EQ(map().selected(), (CellIndex{0, 3})) << "the module's own row, though its worst site is selected";
  m_bench.selection().select(QStringLiteral("block.fc1"), 1, 2);  // from another view
  EXPECT_EQ(map().selected(), (CellIndex{2, 2}));
}

TEST_F(HeatmapPanel, SelectsAModuleByItsLabelAndKeepsTheSample) {
  open();
  clickCell({3, 1});
  QTest::mouseClick(&map(), Qt::LeftButton, {}, labelOf(2));
  EXPECT_EQ(m_bench.selection().modulePath(), QStringLiteral("block.norm"));
  EXPECT_EQ(m_bench.selection().sample(), 1);
}

TEST_F(HeatmapPanel, MarksAnUnfoldedOrigin) {
  open();
  ASSERT_EQ(content().rows[1].path, "block.fc2");
  const QImage folded = map().grab().toImage();
  unfoldFc1();
  EXPECT_NE(folded, map().grab().toImage());
}

TEST_F(HeatmapPanel, SaysACellExactlyWithItsWorstOpSite) {
  open();
  QSignalSpy hovered(&m_panel, &views::HeatmapPanel::cellHovered);
  QTest::mouseMove(&map(), *map().centerOf({0, 3}));
  EXPECT_EQ(hovered.back().front().toString(), QStringLiteral("block.fc1 · Linear · sample d · relative L2 error 0.123456791"));  // %.9g of the float32
  clickCell({0, 3});
  EXPECT_EQ(map().accessibleDescription(), hovered.back().front().toString()) << "what a screen reader says of the cursor";
  QTest::keyClick(&map(), Qt::Key_Left);
  EXPECT_EQ(map().accessibleDescription(), QStringLiteral("block.fc1 · Linear · sample c · relative L2 error 0.00300000003"));
}

TEST_F(HeatmapPanel, CopiesACellAsALineOfATable) {
  open();
  clickCell({0, 3});
  copy();
  EXPECT_EQ(clipboard(), QStringLiteral("block.fc1\t\tLinear\td\trelative L2 error\t0.123456791"));
  unfoldFc1();
  clickCell({2, 2});
  copy();
  EXPECT_EQ(clipboard(), QStringLiteral("block.fc1\taten::add.Tensor\tLinear\tc\trelative L2 error\t0.00300000003"));
  clickCell({3, 2});
  copy();
  EXPECT_EQ(clipboard(), QStringLiteral("block.fc2\t\tLinear\tc\trelative L2 error\t+inf"));
}

TEST_F(HeatmapPanel, CopiesTheVisibleBlock) {
  open();
  map().setFocus();
  QTest::keyClick(&map(), Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
  const QStringList lines = clipboard().split(u'\n');
  ASSERT_EQ(lines.size(), 6) << "headings, four rows, an end";
  EXPECT_EQ(lines[0], QStringLiteral("module\top site\ttype\ta\tb\tc\td"));
  EXPECT_EQ(lines[2], QStringLiteral("block.fc2\t\tLinear\t9.99999975e-05\t0.000199999995\t+inf\t9.99999975e-05"));
  clickCell({3, 1});
  for (int i = 0; i < 3; ++i) map().zoomBy(2);
  copy();
  QTest::keyClick(&map(), Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_LT(clipboard().split(u'\n').size(), 6);
}

TEST_F(HeatmapPanel, CopiesWhatIsSelectedInTheTable) {
  open();
  m_panel.table()->selectionModel()->select({m_panel.table()->model()->index(0, 1), m_panel.table()->model()->index(1, 2)}, QItemSelectionModel::ClearAndSelect);
  for (QAction* action : m_panel.table()->actions()) action->trigger();
  EXPECT_EQ(clipboard(), QStringLiteral("module\top site\ttype\tb\tc\nblock.fc1\t\tLinear\t0.00499999989\t0.00300000003\nblock.fc2\t\tLinear\t0.000199999995\t+inf\n"));
}

TEST_F(HeatmapPanel, OrdersSamplesAndSaysWhyItCannot) {
  open();
  EXPECT_TRUE(isOffered("Order of samples", "FP32 margin"));
  EXPECT_FALSE(isOffered("Order of samples", "kind"));
  const int kind = combo("Order of samples")->findText(QStringLiteral("kind"));
  EXPECT_EQ(combo("Order of samples")->itemData(kind, Qt::ToolTipRole).toString(), QStringLiteral("the inputs file holds no sample_kinds (common, edge, boundary)"));
  combo("Order of samples")->setCurrentText(QStringLiteral("error, worst of all rows"));
  EXPECT_EQ(content().columns.front(), 2) << "c has NaN";
  combo("Order of samples")->setCurrentText(QStringLiteral("error in the selected row"));
  m_bench.selection().select(QStringLiteral("head"), 4, 0);
  EXPECT_EQ(content().columns, (std::vector<std::int64_t>{2, 0, 1, 3}));
  EXPECT_EQ(map().selected(), (CellIndex{3, 1})) << "the sample stays selected where it now stands";
  m_bench.selection().select(QStringLiteral("block.fc1"), 0, 0);
  EXPECT_EQ(content().columns, (std::vector<std::int64_t>{3, 1, 2, 0}));
}

TEST_F(HeatmapPanel, GroupsSamplesByTheirKind) {
  open(1, {"boundary", "common", "common", "edge"});
  combo("Order of samples")->setCurrentText(QStringLiteral("kind"));
  EXPECT_EQ(content().columns, (std::vector<std::int64_t>{1, 2, 3, 0}));
  ASSERT_EQ(content().groups.size(), 3U);
  EXPECT_EQ(content().groups[1].name, "edge");
}

TEST_F(HeatmapPanel, ChangesTheScaleWithoutTouchingTheCells) {
  open();
  const models::HeatmapContent* before = m_panel.content();
  EXPECT_NEAR(m_panel.range().high, 1, 1e-12);  // the decade over 0.123
  combo("Scale")->setCurrentText(QStringLiteral("linear"));
  EXPECT_EQ(m_panel.range().scale, render::Scale::linear);
  EXPECT_NEAR(m_panel.range().high, 0.2, 1e-12);
  combo("Colours")->setCurrentText(QStringLiteral("cividis"));
  EXPECT_EQ(m_panel.content(), before);
}

TEST_F(HeatmapPanel, OffersOnlyMetricsThatTheRunComputed) {
  open();
  EXPECT_TRUE(isOffered("Metric", "max abs error"));
  EXPECT_FALSE(isOffered("Metric", "introduced error"));
  const int introduced = combo("Metric")->findText(QStringLiteral("introduced error"));
  EXPECT_EQ(combo("Metric")->itemData(introduced, Qt::ToolTipRole).toString(), QStringLiteral("run 1 did not compute it (--observe full)"));
}

TEST_F(HeatmapPanel, KeepsUnfoldedRowsBetweenAAndBAndTheirDifference) {
  open(2);
  unfoldFc1();
  for (const views::RunView view : {views::RunView::a, views::RunView::difference, views::RunView::b}) {
    m_bench.setView(view);
    ASSERT_EQ(content().rows.size(), 6U);
    EXPECT_EQ(content().rows[2].opSite, "aten::add.Tensor");
  }
  m_bench.setView(views::RunView::difference);
  EXPECT_EQ(content().data().at(2, 3).kind, render::CellKind::exactZero);
  QSignalSpy hovered(&m_panel, &views::HeatmapPanel::cellHovered);
  QTest::mouseMove(&map(), *map().centerOf({3, 2}));
  EXPECT_EQ(hovered.back().front().toString(),
            QStringLiteral("block.fc2 · Linear · sample c · B − A of relative L2 error finite again · A +inf · B 9.99999975e-05"));
}

TEST_F(HeatmapPanel, SaysWhatChangedSinceTheRunAndOffersItAgain) {
  open();
  EXPECT_TRUE(m_panel.staleBand()->isHidden());
  m_bench.toggle(QStringLiteral("head"), models::RegionKind::inputsToFp32);
  m_bench.toggle(QStringLiteral("block.norm"), models::RegionKind::inputsAsTheyAre);
  EXPECT_TRUE(m_panel.staleBand()->isVisible());
  EXPECT_EQ(m_panel.staleBand()->text(), QStringLiteral("Stale: run 1 was made with another policy:  + head in FP32   + block.norm: autocast off"));
  m_bench.undoStack().undo();
  m_bench.undoStack().undo();
  EXPECT_TRUE(m_panel.staleBand()->isHidden());
}

TEST(Regions, SayWhatChanged) {
  using models::RegionKind;
  const auto before = models::Fp32Regions().toggled(QStringLiteral("a"), RegionKind::inputsToFp32).toggled(QStringLiteral("b"), RegionKind::inputsAsTheyAre);
  const auto after = before.toggled(QStringLiteral("a"), RegionKind::inputsToFp32).toggled(QString(), RegionKind::inputsToFp32);
  EXPECT_EQ(after.changesFrom(before), (QStringList{QStringLiteral("+ (root) in FP32"), QStringLiteral("− a in FP32")}));
  EXPECT_TRUE(before.changesFrom(before).isEmpty());
  const auto there = models::Fp32Regions().toggled(QStringLiteral("x"), RegionKind::inputsToFp32).toggled(QStringLiteral("y"), RegionKind::inputsToFp32);
  const auto back = models::Fp32Regions().toggled(QStringLiteral("y"), RegionKind::inputsToFp32).toggled(QStringLiteral("x"), RegionKind::inputsToFp32);
  EXPECT_TRUE(there == back) << "in whatever order they were chosen";
}

// What a run has measured after some of its samples.
std::shared_ptr<const models::HeatmapContent> liveContent(std::int64_t rows, std::int64_t samples, std::int64_t measured) {
  auto content = std::make_shared<models::HeatmapContent>();
  render::HeatmapData data(rows, samples);
  for (std::int64_t row = 0; row < rows; ++row) {
    content->rows.push_back({"layer" + std::to_string(row), "Linear", {row}});
    for (std::int64_t sample = 0; sample < measured; ++sample) data.set(row, sample, {render::CellKind::value, false, 1e-3F});
  }
  content->cells = std::make_shared<const render::HeatmapData>(std::move(data));
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    content->columns.push_back(sample);
    content->sampleIds << QString::number(sample);
  }
  content->metric = QStringLiteral("relative L2 error");
  return content;
}

TEST_F(HeatmapPanel, ShowsARunThatGoesOnAndTheResultsAfterIt) {
  open();
  m_panel.showLive(liveContent(2, 8, 3));
  EXPECT_TRUE(m_panel.isLive());
  EXPECT_EQ(m_panel.heading(), QStringLiteral("running · relative L2 error · 3 of 8 samples so far"));
  EXPECT_EQ(content().data().at(1, 3).kind, render::CellKind::notRun);
  EXPECT_FALSE(combo("Metric")->isEnabled());
  EXPECT_TRUE(combo("Metric")->toolTip().contains(QStringLiteral("A run is going on")));
  EXPECT_EQ(m_panel.table()->model()->columnCount(), 8);
  m_panel.endLive();
  EXPECT_EQ(content().rows.size(), 4U);
  EXPECT_TRUE(combo("Metric")->isEnabled());
  EXPECT_EQ(m_panel.heading(), m_bench.runB()->label());
}

TEST_F(HeatmapPanel, ShowsTheNewestOfMany) {
  open();
  m_panel.showLive(liveContent(2, 8, 1));
  QSignalSpy resets(m_panel.table()->model(), &QAbstractItemModel::modelReset);
  for (std::int64_t measured = 2; measured <= 8; ++measured) m_panel.showLive(liveContent(3, 8, measured));
  EXPECT_EQ(content().rows.size(), 2U) << "not painted at each call";
  ASSERT_TRUE(testing::waitFor([this] { return content().rows.size() == 3; }));
  EXPECT_EQ(m_panel.heading(), QStringLiteral("running · relative L2 error · 8 of 8 samples so far"));
  EXPECT_EQ(resets.size(), 1);
}

TEST_F(HeatmapPanel, LetsEarlierResultsBeSeenMeanwhile) {
  open();
  m_panel.showLive(liveContent(2, 8, 3));
  QCheckBox* live = m_panel.findChild<QCheckBox*>();
  ASSERT_TRUE(live->isVisible());
  QTest::mouseClick(live, Qt::LeftButton, {}, QPoint(8, live->height() / 2));
  EXPECT_EQ(content().rows.size(), 4U);
  m_panel.showLive(liveContent(2, 8, 5));
  EXPECT_EQ(content().rows.size(), 4U);
  live->setChecked(true);
  EXPECT_EQ(m_panel.heading(), QStringLiteral("running · relative L2 error · 5 of 8 samples so far"));
}

TEST_F(HeatmapPanel, ShowsALiveRunOfASessionThatHasNoOtherYet) {
  m_panel.showLive(liveContent(3, 4, 2));
  EXPECT_EQ(content().rows.size(), 3U);
  clickCell({1, 1});
  EXPECT_EQ(m_bench.selection().modulePath(), QStringLiteral("layer1"));
  EXPECT_EQ(m_bench.selection().site(), -1);
  m_panel.endLive();
  EXPECT_FALSE(m_panel.isLive());
}

TEST_F(HeatmapPanel, KeepsTheZoomWhileRowsComeIn) {
  m_panel.showLive(liveContent(40, 40, 2));
  map().zoomBy(4);
  const render::Viewport before = map().viewport();
  m_panel.showLive(liveContent(60, 40, 3));
  ASSERT_TRUE(testing::waitFor([this] { return content().rows.size() == 60; }));
  EXPECT_EQ(map().viewport().firstRow, before.firstRow);
  EXPECT_EQ(map().viewport().lastRow, before.lastRow);
}

TEST_F(HeatmapPanel, OffersCopyUnfoldAndFp32InItsMenu) {
  open();
  clickCell({0, 1});
  QMenu menu;
  m_panel.fillMenu(menu);
  QStringList words;
  for (const QAction* action : menu.actions())
    if (!action->isSeparator()) words << action->text();
  EXPECT_EQ(words, (QStringList{QStringLiteral("Copy cell"), QStringLiteral("Copy visible block as TSV"), QStringLiteral("Show op sites (Enter)"),
                                QStringLiteral("Keep in FP32"), QStringLiteral("Switch autocast off"), QStringLiteral("Boundary")}));
  menu.actions().at(3)->trigger();
  EXPECT_EQ(content().rows.size(), 6U);
}

}  // namespace
}  // namespace ulpscope
