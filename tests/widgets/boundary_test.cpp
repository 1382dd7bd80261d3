// The Boundary tab.
#include "fake_engine.h"
#include "sample_scan.h"
#include "sample_session.h"
#include "widgets/plots/boundary_plot.h"
#include "widgets/plots/near_plot.h"
#include "widgets/plots/plane_plot.h"
#include "widgets/views/boundary_panel.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/flips_panel.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/scan_controls.h"
#include "widgets/views/scan_point_view.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QTabWidget>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace ulpscope {
namespace {

using models::ScanChoice;
using plots::BoundaryPlot;
using testing::Regions;
using views::BoundaryPanel;
using views::FindingsPanel;

class Boundary : public ::testing::Test {
 protected:
  ~Boundary() override { qunsetenv("ULPSCOPE_ENGINE"); }
  Boundary() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) { m_window.show(); }

  void open(const std::vector<session::Scan>& scans) {
    const QString path = testing::writeSample(m_folder, 1);
    testing::addScans(path, scans);
    m_window.openSession(path);
    ASSERT_TRUE(testing::waitFor([&] { return m_window.workbench().runB() != nullptr && (scans.empty() || tab().scan() != nullptr); })) << m_window.problem().toStdString() << tab().warnings().toStdString();
    m_window.findings()->setCurrentIndex(FindingsPanel::kBoundary);
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
    QCoreApplication::processEvents();
  }
  BoundaryPanel& tab() { return *m_window.findings()->boundary(); }
  BoundaryPlot& plot() { return *tab().segmentPlot(); }
  views::ScanControls& controls() { return *tab().controls(); }
  models::ScanChoice& choice() { return m_window.workbench().scanChoice(); }
  QPoint pixel(BoundaryPlot::Part part, double t) { return {static_cast<int>(std::lround(plot().xOf(t))), static_cast<int>(plot().areaOf(part).center().y())}; }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

TEST_F(Boundary, SaysWhatToDoWhereThereIsNoScan) {
  open({});
  EXPECT_TRUE(tab().emptyText().contains(QStringLiteral("Press Scan"))) << tab().emptyText().toStdString();
  EXPECT_EQ(controls().reason(), QStringLiteral("From: choose a sample"));
  EXPECT_FALSE(controls().scanButton()->isEnabled());
  EXPECT_EQ(m_window.findings()->tabText(FindingsPanel::kBoundary), QStringLiteral("Boundary"));
}

TEST_F(Boundary, ShowsTheLastScanOfASession) {
  open({testing::samplePlane(), testing::sampleSegment(Regions::none)});
  EXPECT_EQ(m_window.findings()->tabText(FindingsPanel::kBoundary), QStringLiteral("Boundary (2)"));
  EXPECT_TRUE(tab().scanBox()->currentText().startsWith(QStringLiteral("2: segment a to b, FP16"))) << tab().scanBox()->currentText().toStdString();
  EXPECT_TRUE(tab().headline().startsWith(QStringLiteral("FP32 crosses at t = 0.50000006"))) << tab().headline().toStdString();
  EXPECT_TRUE(plot().isVisible());
  EXPECT_TRUE(plot().legendText().contains(QStringLiteral("they disagree: 1"))) << plot().legendText().toStdString();
  EXPECT_TRUE(plot().legendText().contains(QStringLiteral("2 × largest error")));
  EXPECT_FALSE(tab().pages()->isTabVisible(BoundaryPanel::kSamples));
  tab().scanBox()->setCurrentIndex(0);
  ASSERT_TRUE(testing::waitFor([this] { return tab().scan() && tab().scan()->scan.plane; }));
  EXPECT_TRUE(tab().planePlot()->isVisible());
  EXPECT_FALSE(plot().isVisible());
}

TEST_F(Boundary, HasAllThreePartsOverOneAxis) {
  open({testing::sampleSegment(Regions::none)});
  for (const auto part : {BoundaryPlot::kStrips, BoundaryPlot::kScores, BoundaryPlot::kMargins}) {
    EXPECT_GT(plot().areaOf(part).height(), 30) << part;
    EXPECT_EQ(plot().areaOf(part).left(), plot().areaOf(BoundaryPlot::kStrips).left()) << part;
  }
  EXPECT_LT(plot().areaOf(BoundaryPlot::kScores).bottom(), plot().areaOf(BoundaryPlot::kMargins).top());
}

// What stands in the middle of the strip in which the runs disagree, and what beside it.
TEST_F(Boundary, ShadesTheStripOfDisagreement) {
  open({testing::sampleSegment(Regions::none)});
  plot().showStretch(tab().scan()->scan.segment->disagreement.front().at);
  QCoreApplication::processEvents();
  const QImage shot = plot().grab().toImage();
  const double ratio = shot.devicePixelRatio();
  const auto colorAt = [&](double t) { return shot.pixelColor((QPointF(plot().xOf(t), plot().areaOf(BoundaryPlot::kScores).top() - 5) * ratio).toPoint()); };
  EXPECT_EQ(colorAt(0.45), plots::lightTheme().base);
  EXPECT_EQ(colorAt(0.53), plots::lightTheme().base);
  EXPECT_NE(colorAt(0.475), plots::lightTheme().base);
}

TEST_F(Boundary, BeginsAtTheStripAndShowsThePointInFull) {
  open({testing::sampleSegment(Regions::none)});
  ASSERT_EQ(tab().selectedPoint(), 9);
  EXPECT_EQ(tab().pointView()->title(), QStringLiteral("t 0.46875003, from a to b: FP32: cat, AMP FP16: dog"));
  EXPECT_EQ(plot().cursor(), 9);
  EXPECT_EQ(tab().pointTable()->currentIndex().row(), 9);
}

TEST_F(Boundary, MovesTheCursorByMouseKeysAndTable) {
  open({testing::sampleSegment(Regions::none)});
  QTest::mouseClick(&plot(), Qt::LeftButton, {}, pixel(BoundaryPlot::kScores, 0.25));
  EXPECT_EQ(tab().selectedPoint(), 4) << "the point of the grid next to it";
  EXPECT_TRUE(tab().pointView()->title().startsWith(QStringLiteral("t 0.25,")));
  QTest::keyClick(&plot(), Qt::Key_Right);
  EXPECT_EQ(tab().selectedPoint(), 5);
  QTest::keyClick(&plot(), Qt::Key_End);
  EXPECT_EQ(tab().selectedPoint(), 19);
  QTest::keyClick(&plot(), Qt::Key_PageUp);
  EXPECT_EQ(tab().pointView()->title(), QStringLiteral("t 0.875, from a to b: both runs decide dog")) << "a tenth of the segment back, to the nearest point";
  tab().pages()->setCurrentIndex(BoundaryPanel::kPoints);
  tab().pointTable()->setCurrentIndex(tab().pointTable()->model()->index(2, 0));
  EXPECT_EQ(plot().cursor(), 2);
}

TEST_F(Boundary, TellsExactScoresUnderThePointer) {
  open({testing::sampleSegment(Regions::none)});
  const QString text = plot().tooltipOf(9);
  EXPECT_TRUE(text.startsWith(QStringLiteral("t 0.46875003\nFP32: cat, AMP FP16: dog\nmargin FP32 0.06249994"))) << text.toStdString();
  EXPECT_TRUE(text.contains(QStringLiteral("dog: FP32 0.46875003, AMP FP16 0.53125003"))) << text.toStdString();
  EXPECT_TRUE(text.contains(QStringLiteral("FP32's noise 1e-07"))) << text.toStdString();
}

TEST_F(Boundary, ZoomsAndGoesFromStripToStrip) {
  open({testing::sampleSegment(Regions::none)});
  QTest::keyClick(&plot(), Qt::Key_Plus);
  EXPECT_LT(plot().view().to - plot().view().from, 0.81);
  tab().wholeButton()->click();
  EXPECT_EQ(plot().view().to - plot().view().from, 1);
  tab().nextStripButton()->click();
  EXPECT_NEAR(plot().view().to - plot().view().from, 3.0 / 32, 1e-6);
  const auto& point = *tab().scan()->points[static_cast<std::size_t>(tab().selectedPoint())];
  EXPECT_TRUE(point.at.differs());
  QTest::keyClick(&plot(), Qt::Key_0);
  tab().pages()->setCurrentIndex(BoundaryPanel::kEvents);
  tab().eventTable()->setCurrentIndex(tab().eventTable()->model()->index(1, 0));
  QTest::keyClick(tab().eventTable(), Qt::Key_Return);
  EXPECT_NEAR(plot().view().to - plot().view().from, render::kLeastTimeSpan, 1e-12) << "a crossing is a float step wide";
}

TEST_F(Boundary, LaysAScanWithRegionsOverTheOneWithout) {
  open({testing::sampleSegment(Regions::head), testing::samplePlane(), testing::sampleSegment(Regions::none)});
  ASSERT_EQ(tab().overlayBox()->count(), 3);
  tab().overlayBox()->setCurrentIndex(1);
  ASSERT_TRUE(testing::waitFor([this] { return tab().overlay() != nullptr; }));
  EXPECT_TRUE(tab().headline().contains(QStringLiteral("Overlay, head in FP32: They disagree in 1 strip, 0.00781 of the way"))) << tab().headline().toStdString();
  EXPECT_TRUE(plot().legendText().contains(QStringLiteral("overlay: head in FP32"))) << plot().legendText().toStdString();
  tab().selectPoint(0);
  QTableView* point = tab().pointView()->table();
  EXPECT_FALSE(point->isColumnHidden(models::ScanPointModel::kOverlay));
  EXPECT_EQ(point->model()->index(1, models::ScanPointModel::kOverlay).data().toString(), QStringLiteral("0.984375")) << "1 - 1/64";
  tab().overlayBox()->setCurrentIndex(2);
  ASSERT_TRUE(testing::waitFor([this] { return !tab().warnings().isEmpty(); }));
  EXPECT_TRUE(tab().warnings().startsWith(QStringLiteral("Scan 2 cannot lie over scan 3"))) << tab().warnings().toStdString();
  EXPECT_EQ(tab().overlay(), nullptr);
  EXPECT_EQ(tab().overlayBox()->currentIndex(), 0);
}

TEST_F(Boundary, ShowsAPlaneAndItsPoints) {
  open({testing::samplePlane()});
  plots::PlanePlot& map = *tab().planePlot();
  EXPECT_NEAR(map.area().width(), map.area().height(), 1e-9);
  EXPECT_TRUE(map.legendText().contains(QStringLiteral("they differ (hatched): 6 points"))) << map.legendText().toStdString();
  QTest::mouseClick(&map, Qt::LeftButton, {}, map.pixelOf(40).toPoint());
  EXPECT_EQ(tab().selectedPoint(), 40);
  EXPECT_EQ(tab().pointView()->title(), QStringLiteral("u 0.5, v 0.5: both runs decide dog"));
  QTest::keyClick(&map, Qt::Key_Up);
  EXPECT_EQ(tab().selectedPoint(), 49) << "v grows upwards";
  QTest::keyClick(&map, Qt::Key_Left);
  EXPECT_EQ(tab().selectedPoint(), 48);
  EXPECT_TRUE(map.tooltipOf(48).startsWith(QStringLiteral("u 0.375, v 0.625\nboth runs decide dog"))) << map.tooltipOf(48).toStdString();
}

TEST_F(Boundary, ShowsHowNearSamplesAreToAFlip) {
  open({testing::sampleNear()});
  plots::NearPlot& near = *tab().nearPlot();
  ASSERT_TRUE(near.pixelOf(plots::NearPlot::kSteps, QStringLiteral("a")).has_value());
  EXPECT_TRUE(near.legendText().contains(QStringLiteral("AMP FP16's boundary is nearer: 1"))) << near.legendText().toStdString();
  EXPECT_TRUE(near.legendText().contains(QStringLiteral("decided within the error: 2"))) << near.legendText().toStdString();
  EXPECT_FALSE(tab().pages()->isTabVisible(BoundaryPanel::kEvents));
  QTest::mouseClick(&near, Qt::LeftButton, {}, near.pixelOf(plots::NearPlot::kSet, QStringLiteral("d"))->toPoint());
  EXPECT_TRUE(tab().pointView()->title().contains(QStringLiteral("FP32 margin 0.2, error bound 0.3: decided within the error"))) << tab().pointView()->title().toStdString();
  QTest::keyClick(&near, Qt::Key_Home);
  EXPECT_EQ(tab().setTable()->currentIndex().siblingAtColumn(models::DecidedWithinModel::kSample).data().toString(), QStringLiteral("b"));
  EXPECT_EQ(tab().sampleTable()->currentIndex().data().toString(), QStringLiteral("b"));
}

TEST_F(Boundary, TakesSamplesFromFlipsAndHeatmap) {
  open({});
  m_window.findings()->setCurrentIndex(FindingsPanel::kFlips);
  m_window.workbench().selection().selectSample(1);
  const auto actionOf = [](const QList<QAction*>& actions, const QString& text) {
    const auto found = std::find_if(actions.begin(), actions.end(), [&](const QAction* action) { return action->text() == text; });
    return found == actions.end() ? nullptr : *found;
  };
  QAction* from = actionOf(m_window.findings()->flipTable()->actions(), QStringLiteral("Boundary: from sample b"));
  ASSERT_NE(from, nullptr);
  from->trigger();
  EXPECT_EQ(choice().sample(ScanChoice::kFrom), QStringLiteral("b"));
  EXPECT_EQ(m_window.findings()->currentIndex(), FindingsPanel::kFlips) << "the other end is still to be chosen";
  EXPECT_TRUE(m_window.statusText().contains(QStringLiteral("To: choose a sample"))) << m_window.statusText().toStdString();
  m_window.workbench().selection().selectSample(3);
  QMenu menu;
  m_window.heatmap()->fillMenu(menu);
  const QMenu* boundary = nullptr;
  for (const QAction* action : menu.actions())
    if (action->menu() != nullptr) boundary = action->menu();
  ASSERT_NE(boundary, nullptr);
  QAction* to = actionOf(boundary->actions(), QStringLiteral("Boundary: to sample d"));
  ASSERT_NE(to, nullptr);
  to->trigger();
  EXPECT_EQ(m_window.findings()->currentIndex(), FindingsPanel::kBoundary);
  EXPECT_EQ(controls().sampleField(ScanChoice::kTo)->text(), QStringLiteral("d"));
  EXPECT_TRUE(controls().scanButton()->isEnabled()) << controls().reason().toStdString();
  controls().swapButton()->click();
  EXPECT_EQ(controls().sampleField(ScanChoice::kFrom)->text(), QStringLiteral("d"));
}

TEST_F(Boundary, AsksOnlyForWhatAKindNeeds) {
  open({});
  EXPECT_TRUE(controls().stepsBox()->isVisible());
  EXPECT_FALSE(controls().sampleField(ScanChoice::kThird)->isVisible());
  controls().kindBox()->setCurrentText(QStringLiteral("Plane"));
  EXPECT_TRUE(controls().sampleField(ScanChoice::kThird)->isVisible() && controls().gridBox()->isVisible());
  EXPECT_FALSE(controls().stepsBox()->isVisible());
  controls().kindBox()->setCurrentText(QStringLiteral("Nearest flip"));
  EXPECT_FALSE(controls().sampleField(ScanChoice::kTo)->isVisible());
  EXPECT_EQ(controls().reason(), QString()) << "all samples";
}

// An engine that answers the scan when it is stored, here by this test.
TEST_F(Boundary, ScansAndShowsTheResult) {
  open({});
  const QString asked = m_folder.filePath(QStringLiteral("asked"));
  testing::installFakeEngine(m_folder, (QByteArray(testing::kGreets) + "echo \"$run\" > '" + asked.toUtf8() + "'\n" + testing::kProgresses + "while [ ! -e '" + asked.toUtf8() + ".go' ]; do sleep 0.05; done\n" +
                                        "echo '{\"id\": 2, \"result\": {\"session\": \"" + m_window.workbench().sessionPath().toUtf8() + "\", \"scan\": 1}}'; read more").constData());
  controls().sampleField(ScanChoice::kFrom)->setText(QStringLiteral("a"));
  controls().sampleField(ScanChoice::kTo)->setText(QStringLiteral("b"));
  controls().stepsBox()->setValue(17);
  m_window.toggleFp32(QStringLiteral("head"));
  EXPECT_TRUE(controls().regionsBox()->isVisible() && controls().regionsBox()->isChecked());
  QTest::keyClick(controls().sampleField(ScanChoice::kTo), Qt::Key_Return);
  ASSERT_TRUE(testing::waitFor([&] { return QFile::exists(asked); }));
  EXPECT_EQ(controls().scanButton()->text(), QStringLiteral("Cancel"));
  EXPECT_FALSE(m_window.heatmap()->isVisible()) << "the tab keeps its room";
  testing::addScans(m_window.workbench().sessionPath(), {testing::sampleSegment(Regions::head)});
  QFile(asked + QStringLiteral(".go")).open(QIODevice::WriteOnly);
  ASSERT_TRUE(testing::waitFor([this] { return tab().scan() != nullptr && !m_window.workbench().isRunning(); })) << m_window.problem().toStdString();
  EXPECT_EQ(m_window.findings()->currentIndex(), FindingsPanel::kBoundary);
  EXPECT_EQ(controls().scanButton()->text(), QStringLiteral("Scan"));
  QFile file(asked);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const auto message = nlohmann::json::parse(file.readAll().toStdString());
  EXPECT_EQ(message.at("method"), "scan");
  EXPECT_EQ(message.at("params").at("samples"), nlohmann::json::array({"a", "b"}));
  EXPECT_EQ(message.at("params").at("steps"), 17);
  EXPECT_EQ(message.at("params").at("fp32"), nlohmann::json::array({"head"}));
}

TEST_F(Boundary, CancelsAScanAndKeepsWhatWasThere) {
  open({testing::sampleSegment(Regions::none)});
  testing::installFakeEngine(m_folder, (QByteArray(testing::kGreets) + testing::kProgresses + "exec sleep 60").constData());
  controls().sampleField(ScanChoice::kFrom)->setText(QStringLiteral("a"));
  controls().sampleField(ScanChoice::kTo)->setText(QStringLiteral("d"));
  m_window.workbench().engine().setCancelGraceMs(50);
  controls().scanButton()->click();
  ASSERT_TRUE(m_window.workbench().isScanning());
  EXPECT_EQ(m_window.unsaved().front(), QStringLiteral("the scan that goes on"));
  QTest::keySequence(&m_window, QKeySequence(QStringLiteral("Shift+F5")));
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
  EXPECT_EQ(controls().scanButton()->text(), QStringLiteral("Scan"));
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isLoading(); }));
  EXPECT_EQ(tab().scan()->scan.number, 1);
  EXPECT_EQ(m_window.findings()->currentIndex(), FindingsPanel::kBoundary);
}

TEST_F(Boundary, ReadsInTheDark) {
  open({testing::sampleSegment(Regions::none)});
  auto& application = *qobject_cast<QApplication*>(QCoreApplication::instance());
  plots::applyTheme(application, plots::ThemeChoice::dark, QPalette());
  QCoreApplication::processEvents();
  EXPECT_EQ(plot().grab().toImage().pixelColor(2, plot().height() - 3), plots::darkTheme().base);
  plots::applyTheme(application, plots::ThemeChoice::light, QPalette());
}

TEST_F(Boundary, CopiesWhatTheCommandLinePrints) {
  open({testing::sampleSegment(Regions::none)});
  tab().copyButton()->click();
  EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(QStringLiteral("crosses at t = 0.50000006 (cat -> dog)"))) << QGuiApplication::clipboard()->text().toStdString();
}

TEST_F(Boundary, NamesWhateverTakesTheFocus) {
  open({testing::sampleSegment(Regions::none)});
  int named = 0;
  for (const QWidget* each : tab().findChildren<QWidget*>()) {
    const auto* button = qobject_cast<const QAbstractButton*>(each);
    if (!each->isVisible() || (each->focusPolicy() & Qt::TabFocus) == 0 || each->objectName().startsWith(QStringLiteral("qt_"))) continue;
    EXPECT_FALSE(each->accessibleName().isEmpty() && (button == nullptr || button->text().isEmpty())) << each->metaObject()->className();
    ++named;
  }
  EXPECT_GT(named, 10);
}

}  // namespace
}  // namespace ulpscope
