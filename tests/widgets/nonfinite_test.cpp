// The Non-finite tab: origins in the order they ran, root causes, the boxes beside them, the diagnosis to copy, FP32's own values.
#include "sample_session.h"
#include "widgets/models/nonfinite_model.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/nonfinite_panel.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

using models::NonfiniteModel;
using models::RegionState;
using testing::Sick;
using Tester = QAbstractItemModelTester;

// fc2 overflows; head's log meets a zero that block.fc1 lost; an input came in non-finite. FP32 has a mask's -inf, and a NaN of its own.
session::RunRecord richRun() {
  session::RunRecord run = testing::sampleRun(Sick::yes);
  session::NonfiniteFinding log = run.nonfiniteOrigins.front();
  log.site = 3;
  log.op = "aten::log";
  log.occurrence = 2;
  log.modulePath = "head";
  log.sampleIds = {"a", "d"};
  log.counts = {0, 0, 7};
  log.cause = "log of zero";
  log.rootCause = session::RootCause{"aten::clamp", "block.fc1", "model.py:9", 1, "its bound 1e-08 rounds to 0 in float16"};
  log.diagnosis = "head: log of zero in samples a, d; lost in block.fc1: aten::clamp (its bound 1e-08 rounds to 0 in float16)";
  session::NonfiniteFinding input;
  input.stage = "input";
  input.op = "x";
  input.wholeBatch = true;
  input.counts = {1, 0, 0};
  input.cause = "non-finite in float16";
  input.diagnosis = "input x is non-finite";
  run.nonfiniteOrigins = {input, run.nonfiniteOrigins.front(), log};
  session::NonfiniteFinding mask = log, own = log;
  mask.cause = "-inf constant";
  mask.rootCause.reset();
  mask.explainedBy = "masks";
  own.cause = "0/0";
  own.explainedBy = "";
  run.referenceNonfinite = {mask, own};
  run.firstInf = session::FirstValue{1, {"c"}};
  run.firstNan = session::FirstValue{2, {}};
  return run;
}

models::RunPointer loaded(const session::RunRecord& run) {
  auto session = std::make_shared<session::Session>(testing::sampleSession());
  session->runs = {run};
  return models::makeLoadedRun(session, session->runs.front(), std::make_shared<const storage::RunMetrics>(testing::sampleMetrics(Sick::yes)), {});
}

QString textAt(const QAbstractItemModel& model, int row, int column) { return model.index(row, column).data().toString(); }

TEST(NonfiniteTable, ShowsOriginsInTheOrderTheyRanWithCauseThirdAndRootCause) {
  NonfiniteModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.setRun(loaded(richRun()));
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(model.headerData(2, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("Cause"));
  EXPECT_EQ(textAt(model, 0, NonfiniteModel::kStage), QStringLiteral("input"));
  EXPECT_EQ(textAt(model, 0, NonfiniteModel::kSamples), QStringLiteral("whole batch"));
  EXPECT_EQ(textAt(model, 1, NonfiniteModel::kRootCause), QStringLiteral("–"));
  EXPECT_EQ(textAt(model, 2, NonfiniteModel::kOp), QStringLiteral("aten::log#2"));
  EXPECT_EQ(textAt(model, 2, NonfiniteModel::kRootCause), QStringLiteral("aten::clamp in block.fc1: its bound 1e-08 rounds to 0 in float16"));
  EXPECT_EQ(textAt(model, 2, NonfiniteModel::kSamples), QStringLiteral("a, d"));
  EXPECT_EQ(textAt(model, 2, NonfiniteModel::kElements), QStringLiteral("7 -inf"));
  model.setRun(nullptr);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(NonfiniteTable, HasABoxForEachModuleButNoneForAnInput) {
  NonfiniteModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.setRun(loaded(richRun()));
  const auto box = [&](int row) { return model.index(row, NonfiniteModel::kFp32).data(Qt::CheckStateRole); };
  EXPECT_FALSE(box(0).isValid());
  EXPECT_EQ(box(1).toInt(), Qt::Unchecked);
  model.setRegions(models::Fp32Regions().toggled(QStringLiteral("block"), models::RegionKind::inputsToFp32));
  EXPECT_EQ(model.index(1, NonfiniteModel::kFp32).data(NonfiniteModel::kRegionRole).toInt(), static_cast<int>(RegionState::covered));
  EXPECT_EQ(box(1).toInt(), Qt::Checked);
  EXPECT_EQ(box(2).toInt(), Qt::Unchecked);
}

TEST(NonfiniteTable, NamesTheRuleThatCallsValuesOfFp32Intended) {
  models::ReferenceNonfiniteModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.setRun(loaded(richRun()));
  ASSERT_EQ(model.rowCount(), 2);
  EXPECT_EQ(textAt(model, 0, 4), QStringLiteral("masks"));
  EXPECT_EQ(textAt(model, 1, 4), QStringLiteral("none: FP32 is no baseline with it"));
}

TEST(NonfiniteWords, SayWhereTheFirstValuesAreAndWhatWasLookedAt) {
  session::RunRecord run = richRun();
  EXPECT_EQ(models::firstValuesText(run), QStringLiteral("First NaN: block.norm: aten::layer_norm (carried on from before)   ·   First inf: block.fc2: aten::linear in sample c (an origin)"));
  run.firstNan->site = 99;
  run.firstInf.reset();
  EXPECT_TRUE(models::firstValuesText(run).isEmpty());
  EXPECT_EQ(models::lookedAtText(run), QStringLiteral("every element of 4 op sites, of inputs and of parameters, in 4 samples"));
  run.settings.observe = session::Observe::outputs;
  EXPECT_TRUE(models::lookedAtText(run).startsWith(QStringLiteral("the outputs of 4 samples only")));
  run.settings.observe = session::Observe::full;
  run.sites.clear();
  EXPECT_EQ(models::lookedAtText(run), QStringLiteral("nothing: no op was compared, do not trust this run"));
}

class NonfiniteTab : public ::testing::Test {
 protected:
  NonfiniteTab() : m_window({m_folder.path(), {}, plots::ThemeChoice::light}) { m_window.show(); }

  void open(const session::RunRecord& run) {
    const QString path = m_folder.filePath(QStringLiteral("rich.ulps"));
    const auto written = storage::addRun(path.toStdString(), testing::sampleSession(), run, testing::sampleMetrics(Sick::yes), {}, storage::WriteMode::create);
    ASSERT_TRUE(written.ok()) << written.error().message();
    m_window.openSession(path);
    ASSERT_TRUE(testing::waitFor([this] { return bench().runB() != nullptr; })) << m_window.problem().toStdString();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
    m_window.findings()->setCurrentIndex(views::FindingsPanel::kNonfinite);
  }
  views::Workbench& bench() { return m_window.workbench(); }
  views::NonfinitePanel& tab() { return *m_window.findings()->nonfinite(); }
  void click(int row, int column) {
    QTableView* table = tab().table();
    const QModelIndex index = table->model()->index(row, column);
    table->scrollTo(index);
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(index).center());
  }
  std::vector<std::string> fp32() { return bench().regions().fp32(); }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

TEST_F(NonfiniteTab, ShowsTheBoxFirstAndTheDiagnosisOfTheRowInFull) {
  open(richRun());
  EXPECT_EQ(tab().table()->horizontalHeader()->visualIndex(NonfiniteModel::kFp32), 0);
  click(2, NonfiniteModel::kCause);
  EXPECT_EQ(bench().selection().modulePath(), QStringLiteral("head"));
  EXPECT_EQ(tab().diagnosis(), QStringLiteral("head: log of zero in samples a, d; lost in block.fc1: aten::clamp (its bound 1e-08 rounds to 0 in float16)"));
  EXPECT_TRUE(tab().firstValues().startsWith(QStringLiteral("First NaN: block.norm")));
  click(0, NonfiniteModel::kCause);
  EXPECT_EQ(tab().diagnosis(), QStringLiteral("input x is non-finite")) << "it has no site, and is shown all the same";
  EXPECT_EQ(tab().table()->currentIndex().row(), 0);
}

TEST_F(NonfiniteTab, ChecksTheModuleBesideTheFindingAndUndoesIt) {
  open(richRun());
  click(1, NonfiniteModel::kFp32);
  EXPECT_EQ(fp32(), std::vector<std::string>{"block.fc2"});
  EXPECT_EQ(tab().table()->model()->index(1, NonfiniteModel::kFp32).data(Qt::CheckStateRole).toInt(), Qt::Checked);
  QTest::keySequence(&m_window, QKeySequence(QStringLiteral("Ctrl+Z")));
  EXPECT_TRUE(fp32().empty());
  tab().table()->setFocus();
  QTest::keyClick(tab().table(), Qt::Key_Space);
  EXPECT_EQ(fp32(), std::vector<std::string>{"block.fc2"}) << "by key, on the current row";
}

TEST_F(NonfiniteTab, KeepsTheRootCausesModuleInsteadInOneStep) {
  open(richRun());
  click(1, NonfiniteModel::kCause);
  EXPECT_FALSE(tab().insteadAction()->isVisible()) << "it has no other cause";
  click(2, NonfiniteModel::kFp32);
  ASSERT_EQ(fp32(), std::vector<std::string>{"head"});
  click(2, NonfiniteModel::kCause);
  ASSERT_TRUE(tab().insteadAction()->isVisible());
  EXPECT_TRUE(tab().insteadAction()->text().contains(QStringLiteral("block.fc1")));
  tab().insteadAction()->trigger();
  EXPECT_EQ(fp32(), std::vector<std::string>{"block.fc1"});
  EXPECT_FALSE(tab().insteadAction()->isEnabled());
  bench().undoStack().undo();
  EXPECT_EQ(fp32(), std::vector<std::string>{"head"}) << "one step";
}

TEST_F(NonfiniteTab, CopiesTheDiagnosisByKey) {
  open(richRun());
  click(2, NonfiniteModel::kCause);
  tab().table()->setFocus();
  QTest::keySequence(tab().table(), QKeySequence(QKeySequence::Copy));
  EXPECT_EQ(QGuiApplication::clipboard()->text(), tab().diagnosis());
}

TEST_F(NonfiniteTab, UnfoldsWhatFp32HasItself) {
  open(richRun());
  QToolButton* button = tab().referenceButton();
  ASSERT_TRUE(button->isVisible());
  EXPECT_EQ(button->text(), QStringLiteral("FP32's own non-finite values (2, 1 of them intended)"));
  EXPECT_FALSE(tab().referenceTable()->isVisible());
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_TRUE(tab().referenceTable()->isVisible());
  EXPECT_EQ(tab().referenceTable()->model()->rowCount(), 2);
}

TEST_F(NonfiniteTab, SaysWhatWasLookedAtWhereNothingWasFound) {
  open(testing::sampleRun(Sick::no));
  EXPECT_EQ(tab().diagnosis(), QStringLiteral("run 1: FP16, FP32: block.fc2: no NaN or inf that FP32 does not have."));
  EXPECT_EQ(tab().firstValues(), QStringLiteral("Looked at every element of 4 op sites, of inputs and of parameters, in 4 samples."));
  EXPECT_FALSE(tab().table()->isVisible());
  EXPECT_FALSE(tab().referenceButton()->isVisible());
}

TEST_F(NonfiniteTab, DoesNotCallARunCleanWhoseOutputsAreNonfinite) {
  session::RunRecord run = testing::sampleRun(Sick::no);
  run.settings.observe = session::Observe::outputs;
  run.nonfiniteSamples = {"c"};
  open(run);
  EXPECT_TRUE(tab().diagnosis().endsWith(QStringLiteral("outputs of 1 sample are non-finite where FP32's are not."))) << tab().diagnosis().toStdString();
}

}  // namespace
}  // namespace ulpscope
