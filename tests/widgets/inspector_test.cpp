// The inspector's tensor pages on captured values, in the user's words. Expected numbers are worked out beside them by hand.
#include "captured_session.h"
#include "fake_engine.h"
#include "sample_session.h"
#include "widgets/plots/exponent_plot.h"
#include "widgets/plots/tensor_map_view.h"
#include "widgets/plots/theme.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/inspector_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/tensor_maps_page.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTest>

#include <gmock/gmock.h>

namespace ulpscope {
namespace {

using ::testing::HasSubstr;
using render::MapSide;
using testing::kBadElement;
using views::InspectorPanel;

class Inspector : public ::testing::Test {
 protected:
  Inspector() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) { m_window.show(); }
  ~Inspector() override { qunsetenv("ULPSCOPE_ENGINE"); }

  void open(InspectorPanel::Tab tab) {
    m_path = testing::writeCaptured(m_folder);
    m_window.openSession(m_path);
    ASSERT_TRUE(testing::waitFor([this] { return m_window.workbench().runB() != nullptr; })) << m_window.problem().toStdString();
    panel()->showTab(tab);
  }
  // Waits until its values are there, or why they are not.
  void select(const char* module, std::int64_t sample) {
    m_window.selectSite(QLatin1String(module), sample);
    const models::RunPointer run = m_window.workbench().shownRun();
    const std::int64_t site = run->worstSite(QLatin1String(module));
    ASSERT_TRUE(testing::waitFor([&] {
      const auto& shown = tensor()->picture();
      return shown ? shown->look->site == site && shown->look->sample == sample : !tensor()->notice().isEmpty() && !tensor()->notice().startsWith(QStringLiteral("Reading"));
    }));
  }
  void openAt(const char* module, std::int64_t sample, InspectorPanel::Tab tab = InspectorPanel::kTensor) {
    open(tab);
    if (!HasFatalFailure()) select(module, sample);
  }
  InspectorPanel* panel() { return m_window.inspector(); }
  views::TensorInspector* tensor() { return panel()->tensor(); }
  views::TensorMapsPage* maps() { return tensor()->maps(); }
  plots::TensorMapView* map(MapSide side) { return maps()->map(side); }
  std::string worst(int row, int column) { return cell(maps()->worstTable(), row, column); }
  static std::string cell(const QTableView* table, int row, int column) { return table->model()->index(row, column).data().toString().toStdString(); }
  static QColor colorAt(QWidget* widget, QPoint point) { return widget->grab().toImage().pixelColor(point * widget->devicePixelRatioF()); }

  QTemporaryDir m_folder;
  QString m_path;
  views::MainWindow m_window;
};

TEST_F(Inspector, ShowsAnImagesChannelsSideBySide) {
  openAt("fc", 2);
  ASSERT_TRUE(tensor()->picture()) << tensor()->notice().toStdString();
  EXPECT_EQ(maps()->sliceText(), QStringLiteral("Slice [2, :, :, :]"));
  EXPECT_EQ(tensor()->picture()->slice.rows(), 5) << "two rows of 2 x 4 tiles and a gap";
  EXPECT_EQ(tensor()->picture()->slice.columns(), 9);
  EXPECT_TRUE(maps()->tiling()->isChecked());
  EXPECT_EQ(map(MapSide::candidate)->title(), QStringLiteral("AMP FP16"));
  EXPECT_EQ(map(MapSide::reference)->scaleText(), QStringLiteral("from 0 to 100,000, logarithmic beyond ±1"));
}

TEST_F(Inspector, BeginsAtTheWorstElementAndListsIt) {
  openAt("fc", 2);
  EXPECT_EQ(tensor()->element(), kBadElement);
  EXPECT_EQ(worst(0, 0), "[2, 1, 0, 3]");
  EXPECT_EQ(worst(0, 1), "100000");
  EXPECT_EQ(worst(0, 2), "+inf");
  EXPECT_EQ(worst(1, 0), "[2, 2, 1, 2]") << "2.2 rounds to 2.19921875, as far as 2.3 to 2.30078125: the first of the two";
  EXPECT_EQ(worst(1, 3), "-7.81e-04");
  EXPECT_EQ(maps()->elementText().toStdString(), "[2, 1, 0, 3] · FP32 100000 · AMP +inf · non-finite in one run");
}

TEST_F(Inspector, ColoursWhatIsNotANumberApartAndEqualValuesGrey) {
  openAt("fc", 2);
  tensor()->selectElement(1);
  const render::SpecialColors special = render::specialColors(render::Theme::light);
  EXPECT_EQ(colorAt(map(MapSide::candidate), *map(MapSide::candidate)->centerOf(kBadElement)), plots::toColor(special.plusInf));
  EXPECT_EQ(colorAt(map(MapSide::difference), *map(MapSide::difference)->centerOf(0)), plots::toColor(special.exactZero));
  EXPECT_EQ(colorAt(map(MapSide::reference), *map(MapSide::reference)->centerOf(kBadElement)), plots::toColor(render::colorAt(render::ColorMap::viridis, 1)));
}

TEST_F(Inspector, SelectsAnElementByAClickAndMovesByKeys) {
  openAt("fc", 0);
  plots::TensorMapView* reference = map(MapSide::reference);
  QTest::mouseClick(reference, Qt::LeftButton, {}, *reference->centerOf(2));
  EXPECT_EQ(tensor()->element(), 2);
  EXPECT_EQ(maps()->elementText().toStdString(), "[0, 0, 0, 2] · FP32 0.200000003 · AMP 0.199951172 · difference -4.88e-05 · 0 ULP");
  for (plots::TensorMapView* each : {reference, map(MapSide::candidate), map(MapSide::difference)}) EXPECT_EQ(each->selected(), 2);
  QTest::keyClick(reference, Qt::Key_Right);
  EXPECT_EQ(tensor()->element(), 3);
  QTest::keyClick(reference, Qt::Key_Right);
  EXPECT_EQ(tensor()->element(), 8) << "over the gap, into the next channel";
  QTest::keyClick(reference, Qt::Key_Down);
  EXPECT_EQ(tensor()->element(), 12);
  QTest::keyClick(reference, Qt::Key_Up);
  QTest::keyClick(reference, Qt::Key_Up);
  EXPECT_EQ(tensor()->element(), 8) << "nothing is above";
}

TEST_F(Inspector, SaysTheValueUnderThePointer) {
  openAt("fc", 0);
  QSignalSpy hovered(map(MapSide::difference), &plots::TensorMapView::elementHovered);
  QTest::mouseMove(map(MapSide::difference), *map(MapSide::difference)->centerOf(5));
  ASSERT_TRUE(testing::waitFor([&] { return !hovered.isEmpty(); }));
  EXPECT_THAT(maps()->elementText().toStdString(), HasSubstr("[0, 0, 1, 1] · FP32 0.5 · AMP 0.5 · the same in both"));
}

TEST_F(Inspector, SelectsFromTheTableOfWorstElements) {
  openAt("fc", 2);
  QTableView* table = maps()->worstTable();
  table->setCurrentIndex(table->model()->index(1, 0));
  EXPECT_EQ(tensor()->element(), 22);
  EXPECT_EQ(map(MapSide::candidate)->selected(), 22);
  maps()->worstOrder()->setCurrentIndex(1);
  ASSERT_EQ(table->model()->rowCount(), 1) << "all others are what FP32's round to";
  EXPECT_EQ(worst(0, 4), "0") << "so does 100,000, to infinity";
}

TEST_F(Inspector, FollowsTheSelectedSampleAndTheNewestRequestWins) {
  openAt("fc", 0);
  QSignalSpy changes(&m_window.workbench().selection(), &models::Selection::changed);
  for (const int sample : {1, 2, 3, 1}) m_window.workbench().selection().selectSample(sample);
  ASSERT_TRUE(testing::waitFor([this] { return tensor()->picture() && tensor()->picture()->look->sample == 1; }));
  EXPECT_EQ(maps()->sliceText(), QStringLiteral("Slice [1, :, :, :]"));
  EXPECT_EQ(changes.size(), 4) << "showing a tensor changes no selection";
}

TEST_F(Inspector, ChoosesASliceOfFiveAxes) {
  openAt("five", 1);
  EXPECT_EQ(maps()->sliceText(), QStringLiteral("Slice [1, 0, :, :, :]"));
  ASSERT_EQ(maps()->axisBoxes().size(), 1);
  EXPECT_EQ(maps()->axisBoxes()[0]->maximum(), 2);
  maps()->axisBoxes()[0]->setValue(2);
  ASSERT_TRUE(testing::waitFor([this] { return maps()->sliceText() == QStringLiteral("Slice [1, 2, :, :, :]"); }));
  maps()->tiling()->setChecked(false);
  ASSERT_TRUE(testing::waitFor([this] { return maps()->sliceText() == QStringLiteral("Slice [1, 2, 0, :, :]"); }));
  EXPECT_EQ(maps()->axisBoxes().size(), 2);
  EXPECT_EQ(tensor()->element(), 0) << "still selected, though not in sight";
  EXPECT_FALSE(map(MapSide::reference)->centerOf(0).has_value());
  tensor()->selectElement(0);
  ASSERT_TRUE(testing::waitFor([this] { return maps()->sliceText() == QStringLiteral("Slice [1, 0, 0, :, :]"); })) << "an element elsewhere takes the slice along";
}

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

TEST_F(Inspector, ShowsTheLadderOfTheSelectedValue) {
  openAt("fc", 2, InspectorPanel::kLadder);
  const QTableView* ladder = tensor()->ladderTable();
  ASSERT_EQ(ladder->model()->rowCount(), 5);
  EXPECT_EQ(cell(ladder, 4, 0), "FP16");
  EXPECT_EQ(cell(ladder, 4, 1), "+inf");
  EXPECT_EQ(cell(ladder, 4, 2), "overflows");
  EXPECT_EQ(cell(ladder, 4, 4), "-0.61 bits") << "log2(65504 / 100000) = -0.6104";
  EXPECT_EQ(cell(ladder, 3, 1), "99840") << "100000 = 195.3125 x 512: BF16 has 8 bits";
  EXPECT_EQ(cell(ladder, 1, 2), "exact");
  EXPECT_THAT(tensor()->ladderBits().toStdString(), HasSubstr("FP16  0 11111 0000000000"));
  tensor()->selectElement(1);
  EXPECT_EQ(cell(ladder, 4, 1), "0.0999755859") << "0.1 in FP16";
  tensor()->ladderSide()->setCurrentIndex(1);
  EXPECT_EQ(cell(ladder, 4, 2), "exact") << "the candidate's value is an FP16 number";
}

TEST_F(Inspector, CountsExponentsInPlotAndTable) {
  openAt("fc", 0, InspectorPanel::kHistogram);
  const QTableView* table = tensor()->histogramTable();
  const auto counts = [&](const QString& name) {
    for (int row = 0; row < table->model()->rowCount(); ++row)
      if (cell(table, row, 0) == name.toStdString()) return cell(table, row, 1) + " " + cell(table, row, 2) + " " + cell(table, row, 3);
    return std::string("none");
  };
  EXPECT_EQ(counts(QStringLiteral("2⁰")), "10 10 ") << "1.0 to 1.9";
  EXPECT_EQ(counts(QStringLiteral("2⁻⁴")), "1 1 ") << "0.1 (in FP16 0.09998)";
  EXPECT_EQ(counts(QStringLiteral("zero")), "1 1 ");
  EXPECT_EQ(counts(QStringLiteral("2¹⁵")), "0 0 largest finite");
  EXPECT_EQ(counts(QStringLiteral("2⁻²⁴")), "0 0 smallest subnormal");
  EXPECT_EQ(tensor()->histogram()->limitLabels(), (QStringList{QStringLiteral("FP16 subnormal from 2⁻²⁴"), QStringLiteral("FP16 normal from 2⁻¹⁴"), QStringLiteral("FP16 max")}));
  EXPECT_EQ(table->model()->headerData(3, Qt::Horizontal).toString(), QStringLiteral("FP16 limit"));
}

struct Odd {
  const char* module;
  const char* element;  // the line of the element that it begins at
  int worstRows;
};
TEST_F(Inspector, ShowsEveryKindOfTensor) {
  open(InspectorPanel::kTensor);
  constexpr Odd kOdd[] = {{"nan", "[1, 0] · FP32 NaN · AMP NaN · the same in both", 0},
                          {"empty", "", 0},
                          {"scalar", "[] · FP32 3 · AMP 3 · the same in both · 0 ULP", 0},
                          {"bool", "[1, 2] · FP32 true · AMP false · difference -1", 1},
                          {"int64", "[1, 1] · FP32 9,007,199,254,740,993 · AMP 9,007,199,254,740,992 · difference -1", 1},
                          {"bfloat16", "[1, 3] · FP32 3 · AMP 3.015625 · difference 0.0156 · 8 ULP", 1}};
  for (const Odd& odd : kOdd) {
    SCOPED_TRACE(odd.module);
    select(odd.module, 1);
    ASSERT_TRUE(tensor()->picture()) << tensor()->notice().toStdString();
    EXPECT_EQ(maps()->elementText().toStdString(), odd.element);
    EXPECT_EQ(maps()->worstTable()->model()->rowCount(), odd.worstRows);
    for (const auto tab : {InspectorPanel::kHistogram, InspectorPanel::kLadder, InspectorPanel::kTensor}) {
      panel()->showTab(tab);
      EXPECT_FALSE(panel()->grab().isNull());
    }
  }
}

TEST_F(Inspector, SaysThatASiteWasNotCapturedAndRunsAgainToCaptureIt) {
  openAt("none", 1);
  EXPECT_EQ(tensor()->notice(), QStringLiteral("The values of this op site were not captured in run 1."));
  ASSERT_TRUE(tensor()->captureButton()->isVisible());
  const QString asked = m_folder.filePath(QStringLiteral("asked"));
  testing::installFakeEngine(m_folder, ("read hello; echo '{\"id\": 1, \"result\": {\"protocol\": 1}}'; read -r run; printf '%s' \"$run\" > '" + asked + "'\nwhile read line; do :; done").toUtf8().constData());
  tensor()->captureButton()->click();
  EXPECT_FALSE(tensor()->captureButton()->isEnabled()) << "a run is going on";
  ASSERT_TRUE(testing::waitFor([&] { return QFile(asked).size() > 0; }));
  QFile file(asked);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray request = file.readAll().replace(" ", "");
  EXPECT_THAT(request.toStdString(), HasSubstr("\"capture\":[\"fc\",\"none\"]"));
  EXPECT_THAT(request.toStdString(), HasSubstr("\"append\":true"));
  m_window.workbench().cancel();
}

TEST_F(Inspector, SaysWhatTheBudgetLeftOut) {
  openAt("left", 1);
  EXPECT_EQ(tensor()->notice(), QStringLiteral("Not stored: it would have taken 4 KiB, and the capture budget of 1 KiB was used up."));
  EXPECT_FALSE(tensor()->captureButton()->isVisible());
}

TEST_F(Inspector, NamesTheFileThatIsGoneOrDamaged) {
  open(InspectorPanel::kFacts);
  const QString tensors = m_path + QStringLiteral(".d/run-0001.tensors.h5");
  QFile file(tensors);
  file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  ASSERT_TRUE(file.open(QIODevice::ReadWrite));
  file.resize(file.size() / 2);
  file.close();
  panel()->showTab(InspectorPanel::kTensor);
  select("fc", 1);
  EXPECT_THAT(tensor()->notice().toStdString(), HasSubstr(tensors.toStdString()));
  EXPECT_FALSE(tensor()->notice().contains(u'\n'));
  EXPECT_FALSE(tensor()->picture());
  ASSERT_TRUE(QFile::remove(tensors));
  m_window.workbench().selection().selectSample(0);
  ASSERT_TRUE(testing::waitFor([this] { return tensor()->notice().contains(QStringLiteral("is missing")); })) << tensor()->notice().toStdString();
}

TEST_F(Inspector, ReadsNothingWhileTheFactsAreShown) {
  openAt("fc", 1, InspectorPanel::kTensor);
  panel()->showTab(InspectorPanel::kFacts);
  m_window.workbench().selection().selectSample(3);
  QCoreApplication::processEvents();
  EXPECT_EQ(tensor()->picture()->look->sample, 1);
  panel()->showTab(InspectorPanel::kLadder);
  EXPECT_TRUE(testing::waitFor([this] { return tensor()->picture()->look->sample == 3; }));
}

TEST_F(Inspector, IsNarrowEnoughForItsDockAndNamesEveryFocusableWidget) {
  openAt("five", 1);
  for (const auto tab : {InspectorPanel::kFacts, InspectorPanel::kTensor, InspectorPanel::kHistogram, InspectorPanel::kLadder}) {
    panel()->showTab(tab);
    EXPECT_LE(panel()->minimumSizeHint().width(), 325);
    for (const QWidget* widget : panel()->findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisibleTo(&m_window) || widget->objectName().startsWith(QStringLiteral("qt_"))) continue;
      const auto* button = qobject_cast<const QAbstractButton*>(widget);
      const auto* label = qobject_cast<const QLabel*>(widget);
      const bool hasText = (button != nullptr && !button->text().isEmpty()) || (label != nullptr && !label->text().isEmpty());
      EXPECT_TRUE(hasText || !widget->accessibleName().isEmpty()) << widget->metaObject()->className() << " in " << widget->parentWidget()->metaObject()->className();
    }
  }
}

TEST_F(Inspector, StatesRangesOfBothRuns) {
  open(InspectorPanel::kFacts);
  m_window.selectSite(QStringLiteral("fc"), 1);
  EXPECT_EQ(panel()->factValue(QStringLiteral("FP32 range")), QStringLiteral("-3 to 4"));
  EXPECT_EQ(panel()->factValue(QStringLiteral("AMP range")), QStringLiteral("-3 to 4"));
  EXPECT_EQ(panel()->factValue(QStringLiteral("dtype FP32 → AMP")), QStringLiteral("float32 → float16"));
  EXPECT_EQ(panel()->factValue(QStringLiteral("source")), QStringLiteral("model.py:12"));
}

TEST_F(Inspector, ItsTablesAreWellFormedModels) {
  using Mode = QAbstractItemModelTester::FailureReportingMode;
  models::WorstModel worst;
  models::ExponentModel exponents;
  models::LadderModel ladder;
  const QAbstractItemModelTester worstTester(&worst, Mode::Fatal), exponentTester(&exponents, Mode::Fatal), ladderTester(&ladder, Mode::Fatal);
  openAt("fc", 2);
  const models::TensorLookPointer look = tensor()->picture()->look;
  for (const auto by : {analysis::WorstBy::difference, analysis::WorstBy::ulp}) worst.setLook(look, by);
  exponents.setLook(look);
  for (const double value : {0.1, std::nan(""), HUGE_VAL, 0.0}) ladder.setValue(value);
  EXPECT_EQ(ladder.index(4, models::LadderModel::kHeadroom).data().toString(), QStringLiteral("all")) << "of 0";
  exponents.setLook(nullptr);
  worst.setLook(nullptr, analysis::WorstBy::ulp);
  EXPECT_EQ(worst.rowCount(), 0);
}

}  // namespace
}  // namespace ulpscope
