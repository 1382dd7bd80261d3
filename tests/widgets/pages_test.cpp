// The ways through the window before there are results, with engines that misbehave.
#include "core/session/criteria.h"
#include "fake_engine.h"
#include "sample_session.h"
#include "widgets/plots/heatmap_view.h"
#include "widgets/views/criteria_panel.h"
#include "widgets/views/criteria_sheet.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/message_bar.h"
#include "widgets/views/modules_panel.h"
#include "widgets/views/run_bar.h"
#include "widgets/views/run_sheet.h"
#include "widgets/views/snippet_dialog.h"
#include "widgets/views/start_page.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QLabel>
#include <QPushButton>
#include <QTreeView>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <gmock/gmock.h>

namespace ulpscope::views {
namespace {

using models::RunField;

constexpr const char* kTellsCells =
    "echo '{\"id\": 2, \"experiment\": {\"model\": {\"path\": \"m\", \"code_sha256\": \"\", \"weights_sha256\": \"\", \"modules\": [{\"path\": \"\", \"type\": \"Net\", \"aliases\": [], \"parameters\": 0}], "
    "\"arguments\": [], \"warnings\": []}, \"sample_ids\": [\"a\", \"b\"]}}'\n"
    "echo '{\"id\": 2, \"cells\": {\"sites\": [[\"\", \"aten::linear\", 1]], \"first_site\": 0, \"samples\": [0], \"rel_l2\": \"AACAPw==\", \"flags\": \"AA==\"}}'\n";

class Pages : public ::testing::Test {
 protected:
  Pages() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) {
    m_window.show();
    m_window.setConfirmClose([](const QStringList&) { return true; });
    testing::installFakeEngine(m_folder, "read hello; echo '{\"id\": 1, \"result\": {\"protocol\": 1}}'; while read line; do :; done");
  }
  ~Pages() override { qunsetenv("ULPSCOPE_ENGINE"); }

  void engineDoes(const QByteArray& body) { testing::installFakeEngine(m_folder, (QByteArray(testing::kGreets) + body).constData()); }
  QString touch(const QString& name) {
    QFile file(m_folder.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    return file.fileName();
  }
  session::RunRequest request() {
    session::RunRequest request;
    request.modelPath = "m.ts";
    request.sessionPath = m_folder.filePath(QStringLiteral("new.ulps")).toStdString();
    return request;
  }
  void openSample() {
    m_window.openSession(testing::writeSample(m_folder, 1));
    ASSERT_TRUE(testing::waitFor([this] { return m_window.workbench().runB() != nullptr; }));
  }
  bool docksAreHidden() {
    for (const QDockWidget* dock : m_window.findChildren<QDockWidget*>())
      if (dock->isVisibleTo(&m_window)) return false;
    return true;
  }

  QTemporaryDir m_folder;
  MainWindow m_window;
};

TEST_F(Pages, TakesDroppedFilesToTheRunSheetAndNamesWhatIsMissing) {
  const QString model = touch(QStringLiteral("net.ts"));
  m_window.useFiles({model});
  ASSERT_EQ(m_window.page(), m_window.runSheet());
  EXPECT_EQ(m_window.runSheet()->form().model, model);
  EXPECT_TRUE(m_window.runSheet()->problem(RunField::inputs).startsWith(QStringLiteral("on which inputs?")));
  EXPECT_FALSE(m_window.runSheet()->canGoOn());
  m_window.useFiles({touch(QStringLiteral("inputs.h5"))});
  EXPECT_EQ(m_window.runSheet()->form().model, model) << "the sheet keeps what it has";
  EXPECT_TRUE(m_window.runSheet()->problem(RunField::inputs).isEmpty());
  EXPECT_EQ(m_window.runSheet()->form().sessionPath, m_folder.filePath(QStringLiteral("net-fp16.ulps")));
}

TEST_F(Pages, AsksTheEngineAboutTheFilesAndShowsItsAnswerAtTheField) {
  testing::installFakeEngine(m_folder, "read hello; echo '{\"id\": 1, \"result\": {\"protocol\": 1, \"policy_tables\": [\"cuda@9.9\"]}}'\n"
                                       "while read line; do id=$(echo \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/'); echo \"{\\\"id\\\": $id, \\\"error\\\": {\\\"code\\\": \\\"input\\\", \\\"what\\\": \\\"is no zip\\\", \\\"which\\\": \\\"net.ts\\\", \\\"do\\\": \\\"\\\"}}\"; done");
  m_window.useFiles({touch(QStringLiteral("net.ts")), touch(QStringLiteral("inputs.h5"))});
  ASSERT_TRUE(testing::waitFor([this] { return m_window.runSheet()->problem(RunField::model).contains(QStringLiteral("is no zip")); }));
  EXPECT_FALSE(m_window.runSheet()->canGoOn());
}

TEST_F(Pages, FillsTheHeatmapWhileTheFirstRunGoesOn) {
  engineDoes(QByteArray(kTellsCells) + "while read line; do :; done");
  m_window.workbench().runNew(request());
  EXPECT_EQ(m_window.page(), m_window.heatmap());
  ASSERT_TRUE(testing::waitFor([this] { return m_window.heatmap()->isLive() && m_window.heatmap()->content() != nullptr && m_window.heatmap()->content()->columnCount() == 2; }));
  EXPECT_FLOAT_EQ(m_window.heatmap()->content()->cellAt(0, 0).value, 1);
  EXPECT_EQ(m_window.heatmap()->content()->cellAt(0, 1).kind, render::CellKind::notRun);
  QElapsedTimer clock;
  clock.start();
  QTest::keySequence(&m_window, QKeySequence(QStringLiteral("Shift+F5")));
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
  EXPECT_EQ(m_window.statusText(), QStringLiteral("Cancelled."));
  EXPECT_EQ(m_window.page(), m_window.heatmap()) << "what was measured stays in sight";
  EXPECT_TRUE(m_window.heatmap()->isLive());
  EXPECT_FLOAT_EQ(m_window.heatmap()->content()->cellAt(0, 0).value, 1);
  auto* bar = m_window.findChild<MessageBar*>();
  EXPECT_EQ(bar->hint(), QStringLiteral("Cancelled, not saved: 1 of 2 samples had been measured. They stay here until another page is opened."));
  EXPECT_TRUE(m_window.unsaved().isEmpty()) << "there is nothing that closing could save";
  m_window.showStart();
  EXPECT_FALSE(m_window.heatmap()->isLive());
  EXPECT_TRUE(bar->hint().isEmpty());
}

TEST_F(Pages, GoesBackToTheSettingsOfARunThatWasCancelled) {
  testing::installFakeEngine(m_folder, ("while read line; do case \"$line\" in *'\"hello\"'*) echo '{\"id\": 1, \"result\": {\"protocol\": 1}}';; *'\"run\"'*'\"live\"'*|*'\"live\"'*'\"run\"'*) id=$(echo \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/');\n" +
                                        QByteArray(kTellsCells).replace("\"id\": 2", "\"id\": '$id'") + ";; esac; done").constData());
  m_window.useFiles({touch(QStringLiteral("net.ts")), touch(QStringLiteral("inputs.h5"))});
  emit m_window.runSheet()->goOn(m_window.runSheet()->form());
  ASSERT_TRUE(testing::waitFor([this] { return m_window.workbench().live().samplesDone() == 1; }));
  m_window.workbench().cancel();
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
  EXPECT_EQ(m_window.page(), m_window.heatmap());
  auto* bar = m_window.findChild<MessageBar*>();
  EXPECT_EQ(bar->actButton()->text(), QStringLiteral("Back to the settings  (Ctrl+Return)"));
  bar->actButton()->click();
  EXPECT_EQ(m_window.page(), m_window.runSheet());
  EXPECT_FALSE(m_window.runSheet()->form().inputs.isEmpty());
}

TEST_F(Pages, OffersToRunAgainAfterACrash) {
  engineDoes("kill -SEGV $$");
  m_window.workbench().runNew(request());
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.problem().isEmpty(); }));
  auto* bar = m_window.findChild<MessageBar*>();
  EXPECT_EQ(bar->actButton()->text(), QStringLiteral("Run again  (Ctrl+Return)"));
  testing::installFakeEngine(m_folder, "while read line; do :; done");
  bar->actButton()->click();
  EXPECT_TRUE(m_window.workbench().isRunning());
  EXPECT_TRUE(m_window.problem().isEmpty());
  m_window.workbench().cancel();
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
}

TEST_F(Pages, SaysWhenTheEngineIsSilent) {
  engineDoes(QByteArray(testing::kProgresses) + "while read line; do :; done");
  m_window.workbench().engine().setSilenceMs(40);
  m_window.workbench().runNew(request());
  // On a slow machine the first silence may come before the engine has said where it is.
  const auto namesTheOp = [this] {
    const QString text = m_window.runBar()->text();
    return text.startsWith(QStringLiteral("No word from the engine")) && text.contains(QStringLiteral("aten::linear"));
  };
  ASSERT_TRUE(testing::waitFor(namesTheOp)) << m_window.runBar()->text().toStdString();
  EXPECT_TRUE(m_window.workbench().isRunning());
  m_window.workbench().cancel();
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
}

TEST_F(Pages, CoversResultsUntilTheCriteriaAreLocked) {
  openSample();
  EXPECT_FALSE(docksAreHidden());
  EXPECT_TRUE(m_window.findings()->criteria()->summary().contains(QStringLiteral("exploratory")));
  m_window.findings()->criteria()->validateButton()->click();
  ASSERT_EQ(m_window.page(), m_window.runSheet());
  models::RunForm form = m_window.runSheet()->form();
  EXPECT_FALSE(form.request.append);
  ASSERT_TRUE(form.request.explored.has_value());
  EXPECT_EQ(form.request.explored->runs, 1);
  EXPECT_EQ(form.sessionPath, m_folder.filePath(QStringLiteral("sample-validation.ulps")));
  emit m_window.runSheet()->goOn(form);
  ASSERT_EQ(m_window.page(), m_window.criteriaSheet());
  EXPECT_TRUE(m_window.isCovered());
  EXPECT_TRUE(docksAreHidden());
  EXPECT_TRUE(m_window.statusText().isEmpty());
  for (const QDockWidget* dock : m_window.findChildren<QDockWidget*>()) EXPECT_FALSE(dock->toggleViewAction()->isEnabled());
  m_window.openSession(m_folder.filePath(QStringLiteral("sample.ulps")));  // results that come in meanwhile stay covered
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isLoading(); }));
  EXPECT_EQ(m_window.page(), m_window.criteriaSheet());
}

// What a locked sheet sends to the engine: canonical criteria, their decision, the lineage.
TEST_F(Pages, SendsTheLockedCriteriaWithTheRun) {
  openSample();
  engineDoes("echo \"$run\" > " + m_folder.filePath(QStringLiteral("sent")).toUtf8() + "; while read line; do :; done");
  m_window.validateThis();
  emit m_window.runSheet()->goOn(m_window.runSheet()->form());
  emit m_window.criteriaSheet()->locked(R"({"decision":{"rule":"topk:2"},"nonfinite":{"max_samples":0},"schema":1})");
  EXPECT_TRUE(m_window.workbench().isRunning());
  QFile sent(m_folder.filePath(QStringLiteral("sent")));
  ASSERT_TRUE(testing::waitFor([&] { return sent.exists() && sent.size() > 0; }));
  ASSERT_TRUE(sent.open(QIODevice::ReadOnly));
  const QByteArray line = sent.readAll();
  EXPECT_TRUE(line.contains("\"topk:2\"")) << line.constData();
  EXPECT_TRUE(line.contains("max_samples"));
  EXPECT_TRUE(line.contains("\"explored\":{"));
  EXPECT_TRUE(line.contains("\"live\":true"));
  m_window.workbench().cancel();
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
}

TEST_F(Pages, FixesWhatMakesTheExperimentForOneMoreRun) {
  openSample();
  m_window.runWithOtherSettings();
  ASSERT_EQ(m_window.page(), m_window.runSheet());
  EXPECT_TRUE(m_window.runSheet()->editor(RunField::model)->isEnabled()) << "the sample's model is nowhere: it may be found";
  EXPECT_FALSE(m_window.runSheet()->editor(RunField::seed)->isEnabled());
  EXPECT_FALSE(m_window.runSheet()->editor(RunField::batchSize)->isEnabled());
  EXPECT_TRUE(m_window.runSheet()->editor(RunField::autocast)->isEnabled());
  EXPECT_TRUE(m_window.runSheet()->form().request.append);
}

TEST_F(Pages, AsksBeforeClosingLosesSomething) {
  openSample();
  EXPECT_TRUE(m_window.unsaved().isEmpty());
  m_window.toggleFp32(QStringLiteral("head"));
  QStringList asked;
  m_window.setConfirmClose([&](const QStringList& lost) {
    asked = lost;
    return false;
  });
  EXPECT_FALSE(m_window.close());
  ASSERT_EQ(asked.size(), 1);
  EXPECT_TRUE(asked.front().contains(QStringLiteral("policy")));
  m_window.setConfirmClose([](const QStringList&) { return true; });
  EXPECT_TRUE(m_window.close());
}

TEST_F(Pages, CountsARunAndUnsavedCriteriaAsLosses) {
  m_window.newRun(true);
  EXPECT_TRUE(m_window.unsaved().isEmpty());
  emit m_window.runSheet()->goOn(models::RunForm());
  m_window.criteriaSheet()->table()->model()->setData(m_window.criteriaSheet()->table()->model()->index(0, models::CriteriaModel::kLimit), QStringLiteral("1"), Qt::EditRole);
  EXPECT_EQ(m_window.unsaved().size(), 1);
  engineDoes("while read line; do :; done");
  m_window.workbench().runNew(request());
  EXPECT_EQ(m_window.unsaved().size(), 2) << "and the run";
  m_window.workbench().cancel();
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
}

TEST_F(Pages, GoesBackToTheSheetWithAllThatWasTypedAfterARunThatFailed) {
  testing::installFakeEngine(m_folder, "while read line; do case \"$line\" in *'\"hello\"'*) echo '{\"id\": 1, \"result\": {\"protocol\": 1}}';; *'\"run\"'*) kill -SEGV $$;; esac; done");
  m_window.useFiles({touch(QStringLiteral("net.ts")), touch(QStringLiteral("inputs.h5"))});
  models::RunForm form = m_window.runSheet()->form();
  emit m_window.runSheet()->goOn(form);
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
  EXPECT_EQ(m_window.page(), m_window.runSheet());
  EXPECT_EQ(m_window.runSheet()->form().inputs, form.inputs);
  EXPECT_FALSE(m_window.problem().isEmpty());
}

TEST_F(Pages, AsksBeforeAnotherSessionTakesAPendingChoice) {
  openSample();
  m_window.toggleFp32(QStringLiteral("head"));
  int asked = 0;
  m_window.setConfirmClose([&](const QStringList&) { return ++asked > 1; });
  m_window.useFiles({m_folder.filePath(QStringLiteral("sample.ulps"))});
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(m_window.workbench().regions().fp32(), std::vector<std::string>{"head"});
}

TEST_F(Pages, DropsAHintThatIsAboutAnotherSession) {
  auto* bar = m_window.findChild<MessageBar*>();
  openSample();
  emit m_window.workbench().demoLoaded(QStringLiteral("One layer overflows"), {QStringLiteral("block.fc2")});
  m_window.showStart();
  EXPECT_TRUE(bar->hint().isEmpty());
  m_window.showSession();
  emit m_window.workbench().demoLoaded(QStringLiteral("One layer overflows"), {QStringLiteral("block.fc2")});
  emit m_window.workbench().sessionChanged();
  EXPECT_TRUE(bar->hint().isEmpty());
}

TEST_F(Pages, HintsAtTheCureOfADemo) {
  auto* bar = m_window.findChild<MessageBar*>();
  openSample();
  emit m_window.workbench().demoLoaded(QStringLiteral("One layer overflows"), {QStringLiteral("block.fc2")});
  EXPECT_EQ(bar->hint(), QStringLiteral("One layer overflows"));
  EXPECT_TRUE(m_window.problem().isEmpty()) << "a hint is no problem";
  EXPECT_EQ(bar->actButton()->text(), QStringLiteral("Keep block.fc2 in FP32 and run again  (Ctrl+Return)"));
  engineDoes("while read line; do :; done");
  bar->actButton()->click();
  EXPECT_EQ(m_window.workbench().regions().fp32(), std::vector<std::string>{"block.fc2"});
  EXPECT_TRUE(m_window.workbench().isRunning());
  m_window.workbench().cancel();
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
}

TEST_F(Pages, KeepsTheDocksAsTheyWereOverASheet) {
  openSample();
  auto* inspector = m_window.findChild<QDockWidget*>(QStringLiteral("inspector"));
  inspector->hide();
  m_window.runWithOtherSettings();
  EXPECT_TRUE(docksAreHidden());
  m_window.showSession();
  EXPECT_EQ(m_window.page(), m_window.heatmap());
  EXPECT_FALSE(docksAreHidden());
  EXPECT_FALSE(inspector->isVisibleTo(&m_window));
  const QByteArray state = m_window.dockState();
  MainWindow again({m_folder.path(), {}, plots::ThemeChoice::light});
  again.setDockState(state);
  again.show();
  again.openSession(m_folder.filePath(QStringLiteral("sample.ulps")));
  ASSERT_TRUE(testing::waitFor([&] { return again.workbench().runB() != nullptr; }));
  EXPECT_FALSE(again.findChild<QDockWidget*>(QStringLiteral("inspector"))->isVisibleTo(&again));
  EXPECT_TRUE(again.findChild<QDockWidget*>(QStringLiteral("modules"))->isVisibleTo(&again));
  again.resetLayout();
  EXPECT_TRUE(again.findChild<QDockWidget*>(QStringLiteral("inspector"))->isVisibleTo(&again));
}

TEST_F(Pages, FitsOnASmallScreen) {
  openSample();
  m_window.resize(1200, 700);
  QCoreApplication::processEvents();
  EXPECT_LE(m_window.width(), 1280);
  EXPECT_LE(m_window.height(), 720);
  auto* modules = m_window.findChild<QDockWidget*>(QStringLiteral("modules"));
  auto* inspector = m_window.findChild<QDockWidget*>(QStringLiteral("inspector"));
  EXPECT_EQ(m_window.tabifiedDockWidgets(modules), QList<QDockWidget*>{inspector}) << "no room for three columns";
  for (QWidget* page : std::initializer_list<QWidget*>{m_window.runSheet(), m_window.criteriaSheet()}) EXPECT_LE(page->minimumSizeHint().width(), 1280) << page->metaObject()->className();
  // Nor does it grow with what is said.
  for (const char* path : {"block.fc1", "block.norm", "head", "block.fc2"}) m_window.toggleFp32(QLatin1String(path));
  emit m_window.workbench().problem(QString(300, u'x') + QStringLiteral(" a long line ").repeated(20));
  QCoreApplication::processEvents();
  EXPECT_LE(m_window.minimumSizeHint().width(), 1280);
  EXPECT_LE(m_window.minimumSizeHint().height(), 720);
  m_window.resize(1500, 900);
  QCoreApplication::processEvents();
  EXPECT_TRUE(m_window.tabifiedDockWidgets(modules).isEmpty());
}

TEST_F(Pages, GoesThroughThePanesByKey) {
  openSample();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&m_window));
  QStringList visited;
  for (int i = 0; i < 4; ++i) {
    QTest::keySequence(&m_window, QKeySequence(QStringLiteral("F6")));
    const QWidget* focused = QApplication::focusWidget();
    visited << (focused == m_window.modules()->tree() ? QStringLiteral("modules") : focused == m_window.heatmap()->heatmap() ? QStringLiteral("heatmap") : m_window.findings()->isAncestorOf(focused) ? QStringLiteral("findings") : QStringLiteral("inspector"));
  }
  visited.sort();
  EXPECT_EQ(visited, (QStringList{QStringLiteral("findings"), QStringLiteral("heatmap"), QStringLiteral("inspector"), QStringLiteral("modules")}));
}

// Offenders are listed by class and page.
TEST_F(Pages, NameEveryFocusableWidget) {
  const auto offenders = [this] {
    QStringList list;
    for (const QWidget* widget : m_window.page()->findChildren<QWidget*>()) {
      const auto* button = qobject_cast<const QAbstractButton*>(widget);
      const auto* label = qobject_cast<const QLabel*>(widget);
      const bool hasText = (button != nullptr && !button->text().isEmpty()) || (label != nullptr && !label->text().isEmpty());
      const bool isInner = widget->objectName().startsWith(QStringLiteral("qt_")) || widget->focusProxy() != nullptr || widget->window() != &m_window;
      if (widget->focusPolicy() != Qt::NoFocus && !isInner && !hasText && widget->accessibleName().isEmpty())
        list << QString::fromLatin1(widget->metaObject()->className()) + QStringLiteral(" in ") + QString::fromLatin1(widget->parentWidget()->metaObject()->className());
    }
    return list.join(u'\n').toStdString();
  };
  EXPECT_EQ(offenders(), "") << "start page";
  m_window.newRun(true);
  EXPECT_EQ(offenders(), "") << "run sheet";
  emit m_window.runSheet()->goOn(models::RunForm());
  EXPECT_EQ(offenders(), "") << "criteria sheet";
}

TEST(Snippet, IsWhatTheCommandLinePrints) {
  const SnippetDialog dialog;
  EXPECT_TRUE(dialog.text().contains(QStringLiteral("torch.jit.script(model)")));
}

}  // namespace
}  // namespace ulpscope::views
