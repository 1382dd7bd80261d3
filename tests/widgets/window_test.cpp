#include "fake_engine.h"
#include "sample_session.h"
#include "widgets/plots/heatmap_view.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/inspector_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/modules_panel.h"
#include "widgets/views/run_bar.h"
#include "widgets/views/run_sheet.h"
#include "widgets/views/step_strip.h"

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QTableView>
#include <QTest>
#include <QTime>

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

using models::ModuleTreeModel;
using views::FindingsPanel;
using views::RunView;

class Window : public ::testing::Test {
 protected:
  Window() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) { m_window.show(); }
  ~Window() override { qunsetenv("ULPSCOPE_ENGINE"); }

  void open(int runs) {
    m_window.openSession(testing::writeSample(m_folder, runs));
    ASSERT_TRUE(testing::waitFor([this] { return bench().runB() != nullptr; })) << m_window.problem().toStdString();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
  }
  views::Workbench& bench() { return m_window.workbench(); }
  std::string selectedModule() { return bench().selection().modulePath().value_or(QStringLiteral("nothing")).toStdString(); }
  void press(const QKeySequence& keys) { QTest::keySequence(&m_window, keys); }
  bool isChecked(const QString& path) {
    return m_window.modules()->viewIndexOf(path, ModuleTreeModel::kFp32).data(Qt::CheckStateRole).toInt() == Qt::Checked;
  }
  void clickCheckbox(const QString& path) {
    QTreeView* tree = m_window.modules()->tree();
    const QModelIndex index = m_window.modules()->viewIndexOf(path, ModuleTreeModel::kFp32);
    tree->scrollTo(index);
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(index).center());
  }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

TEST_F(Window, OpensASessionAtItsFirstFinding) {
  open(1);
  EXPECT_EQ(selectedModule(), "block.fc2");
  EXPECT_EQ(bench().selection().sample(), 2);
  EXPECT_EQ(m_window.findings()->diagnosis().toStdString(), "block.fc2 overflows: |x| = 81,920.5 > 65,504 in sample c.");
  EXPECT_EQ(m_window.findings()->tabText(FindingsPanel::kFlips), QStringLiteral("Flips (1)"));
  EXPECT_EQ(m_window.findings()->tabText(FindingsPanel::kNonfinite), QStringLiteral("Non-finite (1)"));
  EXPECT_EQ(m_window.steps()->findingText(), QStringLiteral("1 non-finite origin, 1 flip, 1 without a decision"));
  EXPECT_EQ(m_window.recentSessions().size(), 1);
}

TEST_F(Window, SharesASelectionMadeInTheHeatmap) {
  open(1);
  plots::HeatmapView* heatmap = m_window.heatmap()->heatmap();
  QTest::mouseClick(heatmap, Qt::LeftButton, {}, *heatmap->centerOf({3, 1}));
  EXPECT_EQ(selectedModule(), "head");
  EXPECT_EQ(m_window.inspector()->title(), QStringLiteral("head"));
  EXPECT_EQ(m_window.inspector()->factValue(QStringLiteral("relative L2, b")), QStringLiteral("0.001"));
  EXPECT_EQ(m_window.modules()->tree()->currentIndex().data(ModuleTreeModel::kPathRole).toString(), QStringLiteral("head"));
  EXPECT_EQ(m_window.findings()->flipTable()->currentIndex().siblingAtColumn(0).data().toString(), QStringLiteral("b"));
}

TEST_F(Window, SharesASelectionMadeInTheTreeOrTheTables) {
  open(1);
  m_window.modules()->tree()->setCurrentIndex(m_window.modules()->viewIndexOf(QStringLiteral("block.norm"), 0));
  EXPECT_EQ(m_window.inspector()->title(), QStringLiteral("block.norm"));
  EXPECT_EQ(m_window.heatmap()->heatmap()->selected(), (render::CellIndex{2, 2}));
  QTableView* flips = m_window.findings()->flipTable();
  m_window.findings()->setCurrentIndex(FindingsPanel::kFlips);
  QTest::mouseClick(flips->viewport(), Qt::LeftButton, {}, flips->visualRect(flips->model()->index(0, 0)).center());
  EXPECT_EQ(selectedModule(), "block.fc1") << "the first site over tolerance of the flip";
  EXPECT_EQ(m_window.heatmap()->heatmap()->selected(), (render::CellIndex{0, 1}));
  QTableView* origins = m_window.findings()->nonfiniteTable();
  m_window.findings()->setCurrentIndex(FindingsPanel::kNonfinite);
  QTest::mouseClick(origins->viewport(), Qt::LeftButton, {}, origins->visualRect(origins->model()->index(0, 0)).center());
  EXPECT_EQ(selectedModule(), "block.fc2");
}

TEST_F(Window, KeepsTheSelectionWhileAFilterIsTyped) {
  open(1);
  ASSERT_EQ(selectedModule(), "block.fc2");
  QTest::keyClicks(m_window.modules()->filterField(), QStringLiteral("norm"));
  EXPECT_EQ(selectedModule(), "block.fc2");  // not among the rows shown, still selected
  m_window.modules()->filterField()->clear();
  EXPECT_EQ(m_window.modules()->tree()->currentIndex().data(ModuleTreeModel::kPathRole).toString(), QStringLiteral("block.fc2"));
}

TEST_F(Window, ChecksAModuleUndoesAndRedoes) {
  open(1);
  EXPECT_TRUE(m_window.steps()->staleText().isEmpty());
  clickCheckbox(QStringLiteral("block.fc2"));
  EXPECT_TRUE(isChecked(QStringLiteral("block.fc2")));
  EXPECT_EQ(m_window.steps()->staleText(), QStringLiteral("stale: policy changed, Re-run (F5)"));
  press(QKeySequence(QStringLiteral("Ctrl+Z")));
  EXPECT_FALSE(isChecked(QStringLiteral("block.fc2")));
  EXPECT_TRUE(m_window.steps()->staleText().isEmpty());
  press(QKeySequence(QStringLiteral("Ctrl+Shift+Z")));
  EXPECT_TRUE(isChecked(QStringLiteral("block.fc2")));
}

TEST_F(Window, KeepsTheSelectionInFp32ByKey) {
  open(1);
  m_window.selectSite(QStringLiteral("head"), 0);
  press(QKeySequence(QStringLiteral("Ctrl+K")));
  EXPECT_TRUE(isChecked(QStringLiteral("head")));
  EXPECT_EQ(bench().regions().fp32(), std::vector<std::string>{"head"});
}

TEST_F(Window, WalksTheFindingsByKeys) {
  open(1);
  press(QKeySequence(QStringLiteral("F8")));
  EXPECT_EQ(selectedModule(), "block.fc1") << "the flip after the overflow";
  press(QKeySequence(QStringLiteral("F8")));
  EXPECT_EQ(selectedModule(), "block.fc2") << "around the end";
  press(QKeySequence(QStringLiteral("Shift+F8")));
  EXPECT_EQ(selectedModule(), "block.fc1");
  press(QKeySequence(QStringLiteral("Ctrl+F8")));
  EXPECT_EQ(selectedModule(), "block.fc2");
}

TEST_F(Window, CopiesTheDiagnosis) {
  open(1);
  for (QAbstractButton* button : m_window.findings()->findChildren<QAbstractButton*>())
    if (button->accessibleName() == QStringLiteral("Copy the diagnosis")) button->click();
  EXPECT_EQ(QGuiApplication::clipboard()->text(), m_window.findings()->diagnosis());
}

TEST_F(Window, ComparesTwoRunsInOneColourRange) {
  open(2);
  EXPECT_EQ(bench().runA()->run->number, 1);
  EXPECT_EQ(bench().runB()->run->number, 2);
  const render::ColorRange range = m_window.heatmap()->range();
  press(QKeySequence(QStringLiteral("Ctrl+1")));
  EXPECT_EQ(bench().view(), RunView::a);
  EXPECT_EQ(m_window.heatmap()->range().low, range.low);
  EXPECT_EQ(m_window.heatmap()->range().high, range.high);
  EXPECT_EQ(m_window.heatmap()->content()->data().at(1, 2).kind, render::CellKind::plusInf);
  press(QKeySequence(QStringLiteral("Ctrl+3")));
  EXPECT_EQ(m_window.heatmap()->content()->data().at(1, 2).kind, render::CellKind::cured);
  EXPECT_EQ(m_window.heatmap()->range().high, range.high);
  press(QKeySequence(QStringLiteral("Ctrl+2")));
  EXPECT_EQ(m_window.heatmap()->content()->data().at(1, 2).kind, render::CellKind::value);
  EXPECT_EQ(m_window.findings()->comparison().toStdString(),
            "run 1 → run 2: first non-finite: block.fc2: aten::linear, overflow → none   ·   flips: 1 → 1   ·   without a decision: 1 → 0   ·   worst error of finite values: 0.05 → 0.05");
}

TEST_F(Window, OrdersSamplesByMarginAndChangesTheMetric) {
  open(1);
  const auto combos = m_window.heatmap()->findChildren<QComboBox*>();
  const auto combo = [&](const char* name) {
    for (QComboBox* c : combos)
      if (c->accessibleName() == QLatin1String(name)) return c;
    return static_cast<QComboBox*>(nullptr);
  };
  combo("Order of samples")->setCurrentText(QStringLiteral("FP32 margin"));
  EXPECT_EQ(m_window.heatmap()->content()->columns, (std::vector<std::int64_t>{1, 3, 2, 0}));
  combo("Metric")->setCurrentIndex(1);
  EXPECT_EQ(m_window.heatmap()->content()->metric, QStringLiteral("max abs error"));
}

// A container has the numbers of the op that made its output, and the mark of an origin stays on its module.
TEST_F(Window, ShowsWhatModulesReturned) {
  open(1);
  for (QComboBox* combo : m_window.heatmap()->findChildren<QComboBox*>())
    if (combo->accessibleName() == QStringLiteral("Rows")) {
      ASSERT_TRUE(combo->isEnabled());
      combo->setCurrentText(QStringLiteral("module outputs"));
    }
  const auto content = m_window.heatmap()->content();
  ASSERT_EQ(content->rows.size(), 3U);
  EXPECT_EQ(content->rows[1].path, "block");
  EXPECT_EQ(content->data().at(1, 2).kind, render::CellKind::nan) << "block.norm's, which carries the overflow on";
  EXPECT_FLOAT_EQ(content->data().at(1, 0).value, 3e-4F);
}

TEST_F(Window, ShowsTheSameValuesAsATable) {
  open(1);
  for (QAbstractButton* button : m_window.heatmap()->findChildren<QAbstractButton*>())
    if (button->accessibleName() == QStringLiteral("Show as table")) button->click();
  QTableView* table = m_window.heatmap()->table();
  ASSERT_TRUE(table->isVisible());
  EXPECT_EQ(table->model()->index(1, 2).data().toString(), QStringLiteral("+inf"));
  EXPECT_EQ(table->model()->headerData(1, Qt::Vertical).toString(), QStringLiteral("block.fc2"));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 1)).center());
  EXPECT_EQ(selectedModule(), "block.fc1");
  EXPECT_EQ(bench().selection().sample(), 1);
}

TEST_F(Window, TellsBothKindsOfDisabledAutocastApart) {
  open(1);
  bench().toggle(QStringLiteral("head"), models::RegionKind::inputsAsTheyAre);
  bench().toggle(QStringLiteral("block.fc2"), models::RegionKind::inputsToFp32);
  EXPECT_EQ(bench().regions().disable(), std::vector<std::string>{"head"});
  EXPECT_EQ(bench().regions().fp32(), std::vector<std::string>{"block.fc2"});
  const auto tip = [this](const char* path) { return m_window.modules()->viewIndexOf(QLatin1String(path), ModuleTreeModel::kFp32).data(Qt::ToolTipRole).toString(); };
  EXPECT_EQ(tip("head"), QStringLiteral("Autocast off (autocast disabled locally, inputs as they are)"));
  EXPECT_EQ(tip("block.fc2"), QStringLiteral("Kept in FP32 (autocast disabled locally, inputs cast to FP32)"));
}

TEST_F(Window, CallsKeepingAModuleInFp32ByOneName) {
  open(1);
  const QString name = models::regionAction(models::RegionKind::inputsToFp32);
  EXPECT_EQ(name, QStringLiteral("Keep in FP32"));
  QString menuText;
  for (const QAction* action : m_window.actions() + m_window.findChildren<QAction*>())
    if (action->shortcut() == QKeySequence(QStringLiteral("Ctrl+K"))) menuText = QString(action->text()).remove(u'&');
  EXPECT_EQ(menuText, name);
  int buttons = 0;
  for (const QAbstractButton* button : m_window.findChildren<QAbstractButton*>()) {
    buttons += button->text().contains(name) || button->text() == QStringLiteral("Keep block.fc2 in FP32");
    EXPECT_FALSE(button->text().contains(QStringLiteral("isable autocast"))) << button->text().toStdString();
  }
  EXPECT_GE(buttons, 2) << "toolbar and non-finite panel at least";
  press(QKeySequence(QStringLiteral("Ctrl+K")));
  EXPECT_EQ(bench().undoStack().undoText(), QStringLiteral("keep block.fc2 in FP32"));
  press(QKeySequence(QStringLiteral("Ctrl+K")));
  EXPECT_EQ(bench().undoStack().undoText(), QStringLiteral("put block.fc2 back under autocast"));
  bench().toggle(QStringLiteral("head"), models::RegionKind::inputsAsTheyAre);
  EXPECT_EQ(bench().undoStack().undoText(), QStringLiteral("switch autocast off in head"));
}

TEST_F(Window, LogsEveryLineWithItsTimeAndCopiesThemAll) {
  const QTime before = QTime::currentTime();
  emit bench().logged(QStringLiteral("printed by the model\nin two lines"));
  const QStringList lines = m_window.findings()->logText().split(u'\n');
  ASSERT_EQ(lines.size(), 2);
  static const QRegularExpression form(QStringLiteral("^(\\d\\d:\\d\\d:\\d\\d)  (.*)$"));
  const auto first = form.match(lines[0]), second = form.match(lines[1]);
  ASSERT_TRUE(first.hasMatch() && second.hasMatch()) << m_window.findings()->logText().toStdString();
  EXPECT_EQ(first.captured(2), QStringLiteral("printed by the model"));
  EXPECT_EQ(second.captured(2), QStringLiteral("in two lines"));
  const int late = QTime::fromString(first.captured(1), QStringLiteral("HH:mm:ss")).msecsSinceStartOfDay() / 1000 - before.msecsSinceStartOfDay() / 1000;
  EXPECT_TRUE((late >= 0 && late < 60) || late < -86000) << "local time: " << first.captured(1).toStdString();
  m_window.findings()->copyLogButton()->click();
  EXPECT_EQ(QGuiApplication::clipboard()->text(), m_window.findings()->logText());
}

TEST_F(Window, SaysWhatCoversAModuleInsteadOfTogglingIt) {
  open(1);
  m_window.toggleFp32(QStringLiteral("block"));
  m_window.toggleFp32(QStringLiteral("block.fc1"));
  EXPECT_EQ(bench().regions().fp32(), std::vector<std::string>{"block"});
  EXPECT_EQ(m_window.statusText(), QStringLiteral("block.fc1 is kept in FP32 by block; change it there."));
}

TEST_F(Window, TakesADroppedModelToTheRunSheet) {
  QMimeData mime;
  mime.setUrls({QUrl::fromLocalFile(QStringLiteral("/nowhere/model.ts"))});
  QDragEnterEvent enter({100, 100}, Qt::CopyAction, &mime, Qt::LeftButton, {});
  QCoreApplication::sendEvent(&m_window, &enter);
  EXPECT_TRUE(enter.isAccepted());
  EXPECT_EQ(m_window.statusText(), QStringLiteral("Drop to use: model.ts: model"));
  QDropEvent drop({100, 100}, Qt::CopyAction, &mime, Qt::LeftButton, {});
  QCoreApplication::sendEvent(&m_window, &drop);
  EXPECT_EQ(m_window.page(), m_window.runSheet());
  EXPECT_EQ(m_window.runSheet()->problem(models::RunField::model), QStringLiteral("does not exist"));
}

TEST_F(Window, RefusesADroppedFileThatIsNothingOfAnExperiment) {
  m_window.useFiles({QStringLiteral("/nowhere/notes.pdf")});
  EXPECT_TRUE(m_window.problem().startsWith(QStringLiteral("/nowhere/notes.pdf: neither session, model nor inputs"))) << m_window.problem().toStdString();
}

TEST_F(Window, NamesTheDemosThereAreForOneThatIsNot) {
  m_window.runDemo(QStringLiteral("overflov"));
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("overflow"))) << m_window.problem().toStdString();
  EXPECT_FALSE(bench().isRunning());
}

TEST_F(Window, ChangesItsThemeWhileASessionIsOpen) {
  open(1);
  const QColor before = m_window.grab().toImage().pixelColor(3, 3);
  plots::applyTheme(*qobject_cast<QApplication*>(QCoreApplication::instance()), plots::ThemeChoice::dark, QPalette());
  const QColor after = m_window.grab().toImage().pixelColor(3, 3);
  plots::applyTheme(*qobject_cast<QApplication*>(QCoreApplication::instance()), plots::ThemeChoice::light, QPalette());
  EXPECT_EQ(before, plots::lightTheme().window);
  EXPECT_EQ(after, plots::darkTheme().window);
}

TEST_F(Window, NamesEveryFocusableWidget) {
  open(2);
  for (const QWidget* widget : m_window.findChildren<QWidget*>()) {
    const bool isOurs = widget->focusPolicy() != Qt::NoFocus && widget->isVisibleTo(&m_window) && !widget->objectName().startsWith(QStringLiteral("qt_"));
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    // Buttons and labels are read by their text.
    const auto* label = qobject_cast<const QLabel*>(widget);
    const bool hasText = (button != nullptr && !button->text().isEmpty()) || (label != nullptr && !label->text().isEmpty());
    const bool isNamed = hasText || !widget->accessibleName().isEmpty();
    EXPECT_TRUE(isNamed || !isOurs) << widget->metaObject()->className() << " in " << widget->parentWidget()->metaObject()->className();
  }
}

TEST_F(Window, SaysInOneLineWhatIsWrongWithASession) {
  m_window.openSession(QStringLiteral("/nowhere/none.ulps"));
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.problem().isEmpty(); }));
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("/nowhere/none.ulps")));
  EXPECT_FALSE(m_window.problem().contains(u'\n'));
}

TEST_F(Window, ShowsTreeAndFindingsWithoutTheHeatmapsFile) {
  const QString path = testing::writeSample(m_folder, 1);
  ASSERT_TRUE(QFile::remove(m_folder.filePath(QStringLiteral("sample.ulps.d/run-0001.metrics.h5"))));
  m_window.openSession(path);
  ASSERT_TRUE(testing::waitFor([this] { return bench().runB() != nullptr; }));
  EXPECT_TRUE(bench().runB()->metricsError.contains(QStringLiteral("run-0001.metrics.h5")));
  EXPECT_EQ(m_window.findings()->tabText(FindingsPanel::kNonfinite), QStringLiteral("Non-finite (1)"));
  EXPECT_EQ(m_window.inspector()->title(), QStringLiteral("block.fc2"));
}

TEST_F(Window, KeepsEarlierResultsWhenTheEngineCrashes) {
  open(1);
  testing::installFakeEngine(m_folder, (QByteArray(testing::kGreets) + testing::kProgresses + "kill -KILL $$").constData());
  m_window.toggleFp32(QStringLiteral("head"));
  press(QKeySequence(QStringLiteral("F5")));
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.problem().isEmpty(); }));
  EXPECT_EQ(m_window.problem().toStdString(), "ulpscope-engine: the engine was killed (signal 9; the system does that when memory runs out: try a smaller batch size) while it ran aten::linear in block.fc1; "
                                              "earlier results are kept, the next run starts a new engine");
  EXPECT_EQ(bench().runB()->run->number, 1);
  EXPECT_FALSE(m_window.steps()->staleText().isEmpty()) << "the policy is still a changed one";
  EXPECT_EQ(m_window.findings()->nonfiniteTable()->model()->rowCount(), 1);
}

TEST_F(Window, ShowsProgressAndCancels) {
  open(1);
  testing::installFakeEngine(m_folder, (QByteArray(testing::kGreets) + testing::kProgresses +
      "while read line; do case \"$line\" in *cancel*) echo '{\"id\": 2, \"error\": {\"code\": \"cancelled\", \"what\": \"cancelled\", \"which\": \"run\", \"do\": \"\"}}';; esac; done").constData());
  press(QKeySequence(QStringLiteral("F5")));
  EXPECT_TRUE(m_window.runBar()->isVisible());
  ASSERT_TRUE(testing::waitFor([this] { return m_window.runBar()->text().contains(QStringLiteral("block.fc1")); }));
  EXPECT_EQ(m_window.runBar()->text().toStdString(), "running · block.fc1 · aten::linear · 1 of 4 samples");
  press(QKeySequence(QStringLiteral("Shift+F5")));
  ASSERT_TRUE(testing::waitFor([this] { return !bench().isRunning(); }));
  EXPECT_FALSE(m_window.runBar()->isVisible());
  EXPECT_EQ(m_window.statusText(), QStringLiteral("Cancelled. Earlier results are kept."));
  EXPECT_TRUE(m_window.problem().isEmpty());
}

TEST_F(Window, ClosesASessionAndOpensItAgain) {
  open(1);
  press(QKeySequence(QStringLiteral("Ctrl+W")));
  EXPECT_EQ(bench().session(), nullptr);
  m_window.openSession(m_folder.filePath(QStringLiteral("sample.ulps")));
  EXPECT_TRUE(testing::waitFor([this] { return bench().runB() != nullptr; }));
  EXPECT_EQ(selectedModule(), "block.fc2");
}

TEST_F(Window, RestoresItsDocksButNotOfAnotherVersion) {
  open(1);
  const QByteArray state = m_window.saveState(views::MainWindow::kStateVersion);
  EXPECT_TRUE(m_window.restoreState(state, views::MainWindow::kStateVersion));
  EXPECT_FALSE(m_window.restoreState(state, views::MainWindow::kStateVersion + 1));
}

}  // namespace
}  // namespace ulpscope
