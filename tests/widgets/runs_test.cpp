// The Runs tab: marks, policy differences, verdicts; A and B, baseline, names, deleting with undo; A against B below.
#include "core/base/number_text.h"
#include "core/report/run_changes.h"
#include "fake_engine.h"
#include "sample_session.h"
#include "widgets/models/runs_model.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/run_comparison_view.h"
#include "widgets/views/run_desk.h"
#include "widgets/views/runs_panel.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope {
namespace {

using models::RunsModel;
using testing::Sick;
using views::RunsPanel;
using Tester = QAbstractItemModelTester;

session::Verdict verdict(session::JudgedAs status, double flips) {
  session::Verdict v;
  v.status = status;
  v.revision = 1;
  v.sha256 = "abc";
  v.criteria = {{"decisions.flips", flips, 0, flips > 0 ? INFINITY : 0, flips > 0 ? "b" : "", status, ""}};
  return v;
}

std::shared_ptr<session::Session> twoRuns() {
  auto session = std::make_shared<session::Session>(testing::sampleSession());
  session->runs = {testing::sampleRun(Sick::yes), testing::sampleRun(Sick::no)};
  session->runs[1].flips.clear();
  return session;
}

QString textAt(const QAbstractItemModel& model, int row, int column) { return model.index(row, column).data().toString(); }

TEST(RunsTable, SaysWhatDiffersFromAAndMarksAAndBAndBaseline) {
  RunsModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  const auto session = twoRuns();
  session->baselineNumber = 1;
  session->runNames[2] = "fc2 kept";
  model.setSession(session, QStringLiteral("run_0001"), QStringLiteral("run_0002"));
  ASSERT_EQ(model.rowCount(), 2);
  EXPECT_EQ(textAt(model, 0, RunsModel::kShown), QStringLiteral("A, baseline"));
  EXPECT_EQ(textAt(model, 1, RunsModel::kShown), QStringLiteral("B"));
  EXPECT_EQ(textAt(model, 1, RunsModel::kName), QStringLiteral("fc2 kept"));
  EXPECT_EQ(textAt(model, 0, RunsModel::kChanges), QStringLiteral("is A"));
  EXPECT_EQ(textAt(model, 1, RunsModel::kChanges), QStringLiteral("+ block.fc2 in FP32"));
  EXPECT_EQ(textAt(model, 0, RunsModel::kVerdict), QStringLiteral("no criteria"));
  EXPECT_EQ(textAt(model, 0, RunsModel::kFlips), QStringLiteral("1"));
  EXPECT_EQ(textAt(model, 1, RunsModel::kFlips), QStringLiteral("0"));
  EXPECT_EQ(textAt(model, 0, RunsModel::kWorst), QStringLiteral("0.05"));  // head's 5e-2
  model.setSession(session, {}, QStringLiteral("run_0002"));
  EXPECT_EQ(textAt(model, 1, RunsModel::kChanges), QStringLiteral("–"));
  model.setSession(nullptr, {}, {});
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(RunsTable, GivesAVerdictAWordAndASign) {
  RunsModel model;
  const auto session = twoRuns();
  session->criteria = {{1, "", "abc", "{}", false, ""}};
  session->runs[0].verdict = verdict(session::JudgedAs::fail, 1);
  model.setSession(session, {}, {});
  const auto sign = [&](int row, int column) { return static_cast<RunsModel::Sign>(model.index(row, column).data(RunsModel::kSignRole).toInt()); };
  EXPECT_EQ(textAt(model, 0, RunsModel::kVerdict), QStringLiteral("fail, revision 1"));
  EXPECT_EQ(sign(0, RunsModel::kVerdict), RunsModel::Sign::bad);
  EXPECT_EQ(textAt(model, 1, RunsModel::kVerdict), QStringLiteral("none"));
  EXPECT_EQ(sign(1, RunsModel::kVerdict), RunsModel::Sign::none);
  session->runs[0].verdict = verdict(session::JudgedAs::pass, 0);
  session->runs[1].verdict = verdict(session::JudgedAs::notEvaluated, NAN);
  session->runs[1].status = session::RunStatus::partial;
  model.setSession(session, {}, {});
  EXPECT_EQ(sign(0, RunsModel::kVerdict), RunsModel::Sign::good);
  EXPECT_EQ(sign(1, RunsModel::kVerdict), RunsModel::Sign::open);
  EXPECT_EQ(textAt(model, 1, RunsModel::kVerdict), QStringLiteral("not evaluated, revision 1"));
  EXPECT_EQ(textAt(model, 1, RunsModel::kStatus), QStringLiteral("partial"));
}

TEST(RunsTable, AsksForANewNameAndLeavesTheChangeToTheFile) {
  RunsModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.setSession(twoRuns(), {}, {});
  QSignalSpy asked(&model, &RunsModel::renameRequested);
  const QModelIndex name = model.index(1, RunsModel::kName);
  EXPECT_TRUE(model.setData(name, QStringLiteral("x"), Qt::EditRole));
  ASSERT_EQ(asked.size(), 1);
  EXPECT_EQ(asked.front().front().toString(), QStringLiteral("run_0002"));
  EXPECT_TRUE(name.data().toString().isEmpty());
  EXPECT_FALSE(model.setData(model.index(1, RunsModel::kRun), 7, Qt::EditRole));
  model.setNamesEditable(false);
  EXPECT_FALSE(model.setData(name, QStringLiteral("y"), Qt::EditRole));
}

TEST(CriteriaTable, PutsBothVerdictsSideBySide) {
  views::CriteriaChangesModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  const auto fail = verdict(session::JudgedAs::fail, 3).criteria.front(), pass = verdict(session::JudgedAs::pass, 0).criteria.front();
  model.setChanges({{"decisions.flips", fail, pass}, {"only.b", std::nullopt, pass}});
  EXPECT_EQ(textAt(model, 0, 1), QStringLiteral("3"));
  EXPECT_EQ(textAt(model, 0, 2), QStringLiteral("0"));
  EXPECT_EQ(textAt(model, 0, 4), QStringLiteral("fail"));
  EXPECT_EQ(textAt(model, 0, 5), QStringLiteral("pass"));
  EXPECT_EQ(textAt(model, 1, 1), QStringLiteral("–"));
  EXPECT_EQ(textAt(model, 1, 4), QStringLiteral("no such criterion"));
}

class Runs : public ::testing::Test {
 protected:
  Runs() : m_window({m_folder.path(), {}, plots::ThemeChoice::light}) { m_window.show(); }

  void open(int runs) {
    m_path = testing::writeSample(m_folder, runs);
    m_window.openSession(m_path);
    ASSERT_TRUE(testing::waitFor([this] { return bench().runB() != nullptr; })) << m_window.problem().toStdString();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
    m_window.findings()->setCurrentIndex(views::FindingsPanel::kRuns);
  }
  void addRun() {
    auto session = onDisk();
    ASSERT_TRUE(storage::addRun(m_path.toStdString(), session, testing::sampleRun(Sick::no), testing::sampleMetrics(Sick::no), {}, storage::WriteMode::append).ok());
  }
  session::Session onDisk() {
    auto session = storage::openSession(m_path.toStdString());
    EXPECT_TRUE(session.ok()) << session.error().message();
    return session.ok() ? session.value() : session::Session{};
  }
  views::Workbench& bench() { return m_window.workbench(); }
  RunsPanel& tab() { return *m_window.findings()->runs(); }
  void select(const char* id) {
    tab().selectRun(QString::fromLatin1(id));
    tab().table()->setFocus();
  }
  // Until the file is written and what came of it is shown.
  void settle() {
    ASSERT_TRUE(testing::waitFor([this] { return !bench().desk().isBusy() && !bench().isLoading(); }));
  }
  void press(Qt::Key key) {
    QTest::keyClick(tab().table(), key);
    settle();
  }
  void undo() {
    QTest::keySequence(&m_window, QKeySequence(QStringLiteral("Ctrl+Z")));
    settle();
  }
  void redo() {
    QTest::keySequence(&m_window, QKeySequence(QStringLiteral("Ctrl+Shift+Z")));
    settle();
  }
  QString shown(const char* id) { return tab().indexOf(QString::fromLatin1(id), RunsModel::kShown).data().toString(); }

  QTemporaryDir m_folder;
  QString m_path;
  views::MainWindow m_window;
};

TEST_F(Runs, ChoosesAAndBByKey) {
  open(2);
  EXPECT_EQ(shown("run_0001"), QStringLiteral("A"));
  EXPECT_EQ(shown("run_0002"), QStringLiteral("B"));
  select("run_0001");
  press(Qt::Key_B);
  EXPECT_EQ(shown("run_0001"), QStringLiteral("B"));
  EXPECT_EQ(shown("run_0002"), QStringLiteral("A")) << "they change places";
  EXPECT_TRUE(tab().comparison().startsWith(QStringLiteral("run 2 → run 1: first non-finite: none → block.fc2")));
}

// What F5 does: the engine writes run 2, and its answer names it.
TEST_F(Runs, SelectTheRunThatJustEnded) {
  open(1);
  select("run_0001");
  testing::installFakeEngine(m_folder, (QByteArray(testing::kGreets) + "while [ ! -e " + m_path.toUtf8() + ".go ]; do read -t 0.05 x; done\n" +
                                        "echo '{\"id\": 2, \"result\": {\"session\": \"" + m_path.toUtf8() + "\", \"run_id\": \"run_0002\", \"new_session\": false}}'; read more").constData());
  m_window.rerun();
  ASSERT_TRUE(bench().isRunning());
  addRun();
  QFile go(m_path + QStringLiteral(".go"));
  ASSERT_TRUE(go.open(QIODevice::WriteOnly));
  ASSERT_TRUE(testing::waitFor([this] { return bench().runB()->run->number == 2; }));
  qunsetenv("ULPSCOPE_ENGINE");
  EXPECT_EQ(tab().table()->currentIndex().data(RunsModel::kKeyRole).toString(), QStringLiteral("run_0002"));
  EXPECT_EQ(shown("run_0002"), QStringLiteral("B"));
  select("run_0001");
  bench().desk().rename(QStringLiteral("run_0002"), QStringLiteral("second"));
  settle();
  EXPECT_EQ(tab().table()->currentIndex().data(RunsModel::kKeyRole).toString(), QStringLiteral("run_0001")) << "what somebody chose stays";
}

TEST_F(Runs, RenamesInPlaceUndoesAndRedoes) {
  open(2);
  select("run_0002");
  QTest::keyClick(tab().table(), Qt::Key_F2);
  auto* editor = tab().table()->findChild<QLineEdit*>();
  ASSERT_NE(editor, nullptr);
  QTest::keyClicks(editor, QStringLiteral("fc2 in FP32"));
  QTest::keyClick(editor, Qt::Key_Return);
  ASSERT_TRUE(testing::waitFor([this] { return bench().undoStack().count() == 1; }));
  EXPECT_EQ(onDisk().runName(2), "fc2 in FP32");
  EXPECT_EQ(tab().indexOf(QStringLiteral("run_0002"), RunsModel::kName).data().toString(), QStringLiteral("fc2 in FP32"));
  EXPECT_TRUE(tab().comparison().startsWith(QStringLiteral("run 1 → run 2 'fc2 in FP32': ")));
  EXPECT_EQ(bench().undoStack().undoText(), QStringLiteral("rename run 2"));
  undo();
  EXPECT_EQ(onDisk().runName(2), "");
  redo();
  EXPECT_EQ(onDisk().runName(2), "fc2 in FP32");
}

TEST_F(Runs, MakesTheBaselineTheAOfWhatIsOpenedNext) {
  open(2);
  addRun();
  ASSERT_TRUE(testing::waitFor([this] { return bench().session()->runs.size() == 3; }));
  select("run_0001");
  tab().action(RunsPanel::kBaseline)->trigger();
  settle();
  EXPECT_EQ(shown("run_0001"), QStringLiteral("A, baseline"));
  views::MainWindow second({m_folder.path(), {}, plots::ThemeChoice::light});
  second.openSession(m_path);
  ASSERT_TRUE(testing::waitFor([&] { return second.workbench().runA() != nullptr; }));
  EXPECT_EQ(second.workbench().runA()->run->number, 1) << "not run 2, the one before";
  EXPECT_EQ(second.workbench().runB()->run->number, 3);
  undo();
  EXPECT_EQ(onDisk().baseline(), nullptr);
}

TEST_F(Runs, DeletesAndUndoBringsTheRunBackAsItWas) {
  open(2);
  const auto before = onDisk();
  select("run_0002");
  press(Qt::Key_Delete);
  EXPECT_EQ(onDisk().runs.size(), 1U);
  EXPECT_EQ(onDisk().candidatesTried(), 2) << "it was tried";
  EXPECT_EQ(bench().runB()->run->number, 1) << "another run takes its place";
  EXPECT_EQ(bench().runA(), nullptr);
  EXPECT_EQ(m_window.findings()->tabText(views::FindingsPanel::kRuns), QStringLiteral("Runs (1)"));
  EXPECT_EQ(m_window.findings()->currentIndex(), views::FindingsPanel::kRuns) << "the tab stays";
  EXPECT_EQ(tab().deletedButton()->text(), QStringLiteral("Deleted (1)"));
  EXPECT_TRUE(testing::waitFor([this] { return m_window.statusText() == QStringLiteral("run 2 deleted (Ctrl+Z brings it back). Its files are kept, and it still counts as tried."); }))
      << m_window.statusText().toStdString();
  undo();
  ASSERT_EQ(onDisk().runs.size(), 2U);
  EXPECT_EQ(onDisk().runs[1].createdUtc, before.runs[1].createdUtc);
  EXPECT_EQ(bench().runA()->run->number, 1);
  EXPECT_EQ(bench().runB()->run->number, 2);
  EXPECT_NE(bench().runB()->metrics, nullptr) << "with its heatmap";
  EXPECT_FALSE(tab().deletedButton()->isVisible());
  redo();
  EXPECT_EQ(onDisk().runs.size(), 1U);
}

TEST_F(Runs, ADeletedRunOutlivesTheWindowAndCanBeRestoredInTheNext) {
  open(2);
  select("run_0001");
  press(Qt::Key_Delete);
  views::MainWindow next({m_folder.path(), {}, plots::ThemeChoice::light});
  next.openSession(m_path);
  ASSERT_TRUE(testing::waitFor([&] { return next.workbench().runB() != nullptr; }));
  RunsPanel& panel = *next.findings()->runs();
  EXPECT_EQ(panel.deletedButton()->text(), QStringLiteral("Deleted (1)"));
  const auto actions = panel.deletedButton()->menu()->actions();
  ASSERT_EQ(actions.size(), 1);
  EXPECT_EQ(actions.front()->text(), QStringLiteral("Restore run 1: FP16"));
  actions.front()->trigger();
  ASSERT_TRUE(testing::waitFor([&] { return next.workbench().session()->runs.size() == 2; }));
  EXPECT_EQ(onDisk().runs.size(), 2U);
}

TEST_F(Runs, DeletesEvenTheLastRunAndComesBackFromIt) {
  open(1);
  select("run_0001");
  press(Qt::Key_Delete);
  ASSERT_TRUE(testing::waitFor([this] { return bench().runB() == nullptr; }));
  EXPECT_NE(bench().session(), nullptr);
  EXPECT_EQ(tab().table()->model()->rowCount(), 0);
  undo();
  ASSERT_TRUE(testing::waitFor([this] { return bench().runB() != nullptr; }));
  EXPECT_EQ(bench().runB()->run->number, 1);
}

TEST_F(Runs, WhatCannotBeWrittenIsToldAndStandsOnNoUndoStack) {
  open(2);
  QFile::setPermissions(m_path, QFile::ReadOwner);
  bench().desk().rename(QStringLiteral("run_0001"), QStringLiteral("x"));
  settle();
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("is read-only"))) << m_window.problem().toStdString();
  EXPECT_EQ(bench().undoStack().count(), 0);
  EXPECT_EQ(onDisk().runName(1), "");
}

TEST_F(Runs, AnUndoThatCannotBeWrittenCanBeTriedAgain) {
  open(2);
  bench().desk().rename(QStringLiteral("run_0001"), QStringLiteral("x"));
  settle();
  QFile::setPermissions(m_path, QFile::ReadOwner);
  undo();
  EXPECT_FALSE(m_window.problem().isEmpty());
  EXPECT_TRUE(bench().undoStack().canUndo()) << "the name still stands, and so does the step";
  EXPECT_FALSE(bench().undoStack().canRedo());
  QFile::setPermissions(m_path, QFile::ReadOwner | QFile::WriteOwner);
  undo();
  EXPECT_EQ(onDisk().runName(1), "");
}

TEST_F(Runs, ShowsVerdictsAndCriteriaOfBothAndCuredAndMadeFlips) {
  m_path = m_folder.filePath(QStringLiteral("judged.ulps"));
  session::Session session = testing::sampleSession();
  session.criteria = {{1, "2026-01-31T14:00:00Z", "abc", "{}", false, ""}};
  for (const Sick sick : {Sick::yes, Sick::no}) {
    session::RunRecord run = testing::sampleRun(sick);
    run.verdict = verdict(sick == Sick::yes ? session::JudgedAs::fail : session::JudgedAs::pass, sick == Sick::yes ? 1 : 0);
    if (sick == Sick::no) {
      run.flips[0].sampleId = "d";
      run.flips[0].sample = 3;
    }
    const auto written = storage::addRun(m_path.toStdString(), session, run, testing::sampleMetrics(sick), {}, sick == Sick::yes ? storage::WriteMode::create : storage::WriteMode::append);
    ASSERT_TRUE(written.ok()) << written.error().message();
    session = written.value();
  }
  m_window.openSession(m_path);
  ASSERT_TRUE(testing::waitFor([this] { return bench().runA() != nullptr; }));
  m_window.findings()->setCurrentIndex(views::FindingsPanel::kRuns);
  const views::RunComparisonView& view = *tab().comparisonView();
  EXPECT_EQ(view.verdictText(), QStringLiteral("verdict: fail → pass (criteria revision 1)"));
  ASSERT_EQ(view.criteriaTable()->model()->rowCount(), 1);
  EXPECT_EQ(view.criteriaTable()->model()->index(0, 5).data().toString(), QStringLiteral("pass"));
  EXPECT_EQ(view.flipsText(), QStringLiteral("flips: cured 1 (b), made 1 (d), in both none; without a decision: cured 1 (c), made none, in both none"));
  EXPECT_EQ(view.originsText(), QStringLiteral("non-finite origins: cured 1 (block.fc2: aten::linear), made none, in both none"));
  // The numbers are the command line's.
  const auto changes = report::changesBetween(*bench().runA()->run, *bench().runB()->run);
  EXPECT_TRUE(view.text().endsWith(QStringLiteral("worst error of finite values: %1 → %2").arg(models::qt(base::shortNumber(changes.worstA)), models::qt(base::shortNumber(changes.worstB)))));
  emit view.flipsLabel()->linkActivated(QStringLiteral("3"));
  EXPECT_EQ(bench().selection().sample(), 3);
}

TEST_F(Runs, NamesWhatIsInTheFileAsTextNeverAsMarkup) {
  open(2);
  bench().desk().rename(QStringLiteral("run_0002"), QStringLiteral("<b>bold</b> & \n more"));
  settle();
  EXPECT_EQ(onDisk().runName(2), "<b>bold</b> &   more");
  for (const QLabel* label : tab().findChildren<QLabel*>())
    if (label->textFormat() != Qt::PlainText) {
      EXPECT_FALSE(label->text().contains(QStringLiteral("<b>bold")));
    }
}

}  // namespace
}  // namespace ulpscope
