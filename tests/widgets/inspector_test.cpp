// The inspector's tensor pages on captured values, in the user's words. Expected numbers are worked out beside them by hand.
#include "fake_engine.h"
#include "inspector_fixture.h"
#include "widgets/plots/exponent_plot.h"
#include "widgets/plots/theme.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QPushButton>
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
using testing::Inspector;
using testing::kBadElement;
using views::InspectorPanel;

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
  // On a slow machine the maps may still be laid out when the pointer comes: it comes again.
  const auto isUnderPointer = [&](std::int64_t element) {
    QSignalSpy hovered(map(MapSide::difference), &plots::TensorMapView::elementHovered);
    QTest::mouseMove(map(MapSide::difference), *map(MapSide::difference)->centerOf(0));
    QTest::mouseMove(map(MapSide::difference), *map(MapSide::difference)->centerOf(element));
    return !hovered.isEmpty() && hovered.last().first().toLongLong() == element;
  };
  ASSERT_TRUE(testing::waitFor([&] { return isUnderPointer(5); }));
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
  EXPECT_EQ(worst(0, 4), "-") << "100,000 rounds to infinity, which is no number of ULPs away";
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
