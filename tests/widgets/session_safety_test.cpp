// What happens to the session's file while the window shows it: written by others, moved, read-only, of a newer format, a full disk, a
// second window. Each has one clear line, and nothing is lost.
#include "core/storage/atomic_file.h"
#include "core/storage/run_edit.h"
#include "sample_session.h"
#include "widgets/models/runs_model.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/run_desk.h"
#include "widgets/views/runs_panel.h"
#include "widgets/views/session_bar.h"

#include <QAction>
#include <QFile>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QTimer>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace ulpscope {
namespace {

using models::RunsModel;
using testing::Sick;
using views::RunsPanel;

class SessionSafety : public ::testing::Test {
 protected:
  SessionSafety() : m_window({m_folder.path(), {}, plots::ThemeChoice::light}) { m_window.show(); }

  void open(int runs) {
    m_path = testing::writeSample(m_folder, runs);
    openAgain();
  }
  void openAgain() {
    m_window.openSession(m_path);
    ASSERT_TRUE(testing::waitFor([this] { return bench().runB() != nullptr; })) << m_window.problem().toStdString();
  }
  void addRunFromOutside() {
    const auto session = storage::openSession(m_path.toStdString());
    ASSERT_TRUE(session.ok());
    const auto added = storage::addRun(m_path.toStdString(), session.value(), testing::sampleRun(Sick::no), testing::sampleMetrics(Sick::no), {}, storage::WriteMode::append);
    ASSERT_TRUE(added.ok()) << added.error().message();
  }
  void editFromOutside(storage::RunEdit::Kind kind, const std::string& run, const std::string& name = {}) {
    const auto session = storage::openSession(m_path.toStdString());
    ASSERT_TRUE(session.ok());
    ASSERT_TRUE(storage::editRun(m_path.toStdString(), session->id, {kind, run, name}).ok());
  }
  views::Workbench& bench() { return m_window.workbench(); }
  views::SessionBar& bar() { return *m_window.sessionBar(); }
  RunsPanel& tab() { return *m_window.findings()->runs(); }
  bool barSays(const QString& words) {
    return testing::waitFor([&] { return bar().text().contains(words); });
  }
  std::string nameOnDisk(int number) {
    const auto session = storage::openSession(m_path.toStdString());
    return session.ok() ? session->runName(number) : "unreadable";
  }

  QTemporaryDir m_folder;
  QString m_path;
  views::MainWindow m_window;
};

TEST_F(SessionSafety, SaysNothingOfAFileThatNobodyTouches) {
  open(2);
  bench().desk().rename(QStringLiteral("run_0001"), QStringLiteral("mine"));
  ASSERT_TRUE(testing::waitFor([this] { return !bench().desk().isBusy(); }));
  bench().desk().checkFile();
  addRunFromOutside();
  ASSERT_TRUE(barSays(QStringLiteral("run 3 was added by another program"))) << "the watch works";
  EXPECT_FALSE(bar().text().contains(QStringLiteral("run 1"))) << "and our own write was none of another's";
}

TEST_F(SessionSafety, OffersARunThatAnotherProgramAdded) {
  open(2);
  addRunFromOutside();
  ASSERT_TRUE(barSays(QStringLiteral("run 3 was added by another program")));
  EXPECT_EQ(bench().runB()->run->number, 2) << "what is looked at stays";
  EXPECT_EQ(tab().table()->model()->rowCount(), 3) << "but it is listed";
  bar().showButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return bench().runB()->run->number == 3; }));
  EXPECT_EQ(bench().runA()->run->number, 2);
  EXPECT_TRUE(bar().text().isEmpty());
}

TEST_F(SessionSafety, TakesOverNamesAndDeletionsOfASecondWindow) {
  open(2);
  views::MainWindow second({m_folder.path(), {}, plots::ThemeChoice::light});
  second.openSession(m_path);
  ASSERT_TRUE(testing::waitFor([&] { return second.workbench().runB() != nullptr; }));
  second.workbench().desk().rename(QStringLiteral("run_0001"), QStringLiteral("theirs"));
  ASSERT_TRUE(testing::waitFor([this] { return bench().session()->runName(1) == "theirs"; }));
  EXPECT_EQ(tab().indexOf(QStringLiteral("run_0001"), RunsModel::kName).data().toString(), QStringLiteral("theirs"));
  bench().desk().rename(QStringLiteral("run_0002"), QStringLiteral("ours"));
  ASSERT_TRUE(testing::waitFor([&] { return second.workbench().session()->runName(2) == "ours"; }));
  EXPECT_EQ(second.workbench().session()->runName(1), "theirs") << "neither lost the other's";
  second.workbench().desk().remove(QStringLiteral("run_0002"));
  ASSERT_TRUE(barSays(QStringLiteral("run 2 was deleted by another program; it stays on screen")));
  EXPECT_EQ(bench().runB()->run->number, 2);
}

TEST_F(SessionSafety, KeepsResultsOfAFileThatIsMovedAwayAndSaysSo) {
  open(1);
  const QString elsewhere = m_folder.filePath(QStringLiteral("moved.ulps"));
  ASSERT_TRUE(QFile::rename(m_path, elsewhere));
  ASSERT_TRUE(barSays(QStringLiteral("sample.ulps was moved or deleted. Its results stay on screen")));
  EXPECT_EQ(m_window.findings()->nonfiniteTable()->model()->rowCount(), 1);
  bench().desk().rename(QStringLiteral("run_0001"), QStringLiteral("x"));
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.problem().isEmpty(); }));
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("does not exist")));
  EXPECT_FALSE(m_window.problem().contains(u'\n'));
  ASSERT_TRUE(QFile::rename(elsewhere, m_path));
  ASSERT_TRUE(testing::waitFor([this] { return bar().text().isEmpty(); })) << bar().text().toStdString();
}

TEST_F(SessionSafety, NamesAFileThatIsAnotherSessionNow) {
  open(1);
  ASSERT_TRUE(QFile::remove(m_path));
  ASSERT_TRUE(QDir(m_path + QStringLiteral(".d")).removeRecursively());
  testing::writeSample(m_folder, 2);
  ASSERT_TRUE(barSays(QStringLiteral("is another session now")));
  EXPECT_EQ(bench().session()->runs.size(), 1U);
  bench().desk().remove(QStringLiteral("run_0001"));
  ASSERT_TRUE(testing::waitFor([this] { return m_window.problem().contains(QStringLiteral("another session than the one that was opened")); }));
}

TEST_F(SessionSafety, NamesAFileThatNoLongerReads) {
  open(1);
  QFile file(m_path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
  file.write("no session");
  file.close();
  ASSERT_TRUE(barSays(QStringLiteral("What was read before stays on screen.")));
  EXPECT_EQ(bench().runB()->run->number, 1);
}

TEST_F(SessionSafety, OpensAReadOnlySessionAndGreysWhatWouldWrite) {
  m_path = testing::writeSample(m_folder, 2);
  QFile::setPermissions(m_path, QFile::ReadOwner);
  openAgain();
  EXPECT_TRUE(bar().text().startsWith(QStringLiteral("Read-only: "))) << bar().text().toStdString();
  m_window.findings()->setCurrentIndex(views::FindingsPanel::kRuns);
  tab().selectRun(QStringLiteral("run_0001"));
  for (const auto act : {RunsPanel::kBaseline, RunsPanel::kRename, RunsPanel::kDelete}) EXPECT_FALSE(tab().action(act)->isEnabled());
  EXPECT_TRUE(tab().action(RunsPanel::kShowB)->isEnabled()) << "looking is free";
}

TEST_F(SessionSafety, SaysOnceThatNothingRunsIntoAReadOnlySession) {
  m_path = testing::writeSample(m_folder, 1);
  QFile::setPermissions(m_path, QFile::ReadOwner);
  openAgain();
  bench().desk().dismissNote();
  QTest::keySequence(&m_window, QKeySequence(QStringLiteral("F5")));
  EXPECT_FALSE(bench().isRunning());
  EXPECT_TRUE(bar().text().startsWith(QStringLiteral("Read-only: "))) << "said again, though it was dismissed";
  EXPECT_TRUE(m_window.problem().isEmpty()) << m_window.problem().toStdString();
  EXPECT_EQ(m_window.statusText(), QStringLiteral("Nothing was run: this session is read-only."));
}

TEST_F(SessionSafety, NamesAllRunsThatWereAddedMeanwhile) {
  open(1);
  for (int i = 0; i < 3; ++i) addRunFromOutside();
  ASSERT_TRUE(barSays(QStringLiteral("runs 2, 3 and 4 were added by another program"))) << bar().text().toStdString();
  EXPECT_EQ(bar().showButton()->text(), QStringLiteral("Show run 4"));
  bar().showButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return bench().runB()->run->number == 4; }));
  EXPECT_TRUE(bar().text().isEmpty());
  EXPECT_EQ(tab().table()->currentIndex().data(RunsModel::kKeyRole).toString(), QStringLiteral("run_0004"));
}

// Root may write everywhere: the test goes on as nobody.
TEST_F(SessionSafety, OpensASessionInAFolderOfSomebodyElse) {
  if (::getuid() != 0) GTEST_SKIP() << "needs two users";
  m_path = testing::writeSample(m_folder, 2);
  ASSERT_EQ(::chmod(m_folder.path().toLocal8Bit().constData(), 0755), 0);
  ASSERT_EQ(::seteuid(65534), 0);
  m_window.openSession(m_path);
  const bool opened = testing::waitFor([this] { return bench().runB() != nullptr; });
  const QString said = bar().text();
  bench().desk().remove(QStringLiteral("run_0001"));
  const bool told = testing::waitFor([this] { return !m_window.problem().isEmpty(); });
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_TRUE(opened) << m_window.problem().toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("is a folder that this user may not write to: Permission denied"))) << said.toStdString();
  ASSERT_TRUE(told);
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("Permission denied"))) << m_window.problem().toStdString();
  EXPECT_EQ(storage::openSession(m_path.toStdString())->runs.size(), 2U);
}

TEST_F(SessionSafety, SaysWhatToDoWithASessionOfANewerFormat) {
  m_path = testing::writeSample(m_folder, 1);
  const std::string script = "import h5py\nf = h5py.File('" + m_path.toStdString() + "', 'r+')\nf.attrs['file_format'] = 'ulpscope-session/99'\n";
  QFile file(m_folder.filePath(QStringLiteral("script.py")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(script.c_str());
  file.close();
  ASSERT_EQ(std::system((std::string(ULPSCOPE_PYTHON) + " " + file.fileName().toStdString()).c_str()), 0);
  m_window.openSession(m_path);
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.problem().isEmpty(); }));
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("has format 99"))) << m_window.problem().toStdString();
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("open it with the Ulpscope that wrote it, or a newer one")));
  EXPECT_FALSE(m_window.problem().contains(u'\n'));
}

TEST_F(SessionSafety, LosesNothingOnAFullDisk) {
  open(2);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{5000, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  bench().desk().remove(QStringLiteral("run_0001"));
  const bool told = testing::waitFor([this] { return !m_window.problem().isEmpty(); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  ASSERT_TRUE(told);
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("free some space"))) << m_window.problem().toStdString();
  EXPECT_EQ(storage::openSession(m_path.toStdString())->runs.size(), 2U);
  EXPECT_EQ(bench().session()->runs.size(), 2U);
  EXPECT_EQ(bench().undoStack().count(), 0);
  bench().desk().remove(QStringLiteral("run_0001"));
  EXPECT_TRUE(testing::waitFor([this] { return bench().session()->runs.size() == 1; })) << "with room again it works";
}

TEST_F(SessionSafety, SaysForWhomItWaitsAndGoesOnMeanwhile) {
  open(2);
  {
    const auto held = storage::WriteLock::take(m_path.toStdString() + ".d");
    ASSERT_TRUE(held.ok());
    bench().desk().rename(QStringLiteral("run_0001"), QStringLiteral("at last"));
    ASSERT_TRUE(barSays(QStringLiteral("Waiting for process %1").arg(::getpid())));
    EXPECT_EQ(nameOnDisk(1), "");
    // The window works on: a selection is made while the writer waits.
    m_window.selectSite(QStringLiteral("head"), 0);
    EXPECT_EQ(bench().selection().modulePath(), QStringLiteral("head"));
    EXPECT_TRUE(bench().desk().isBusy());
  }
  ASSERT_TRUE(testing::waitFor([this] { return !bench().desk().isBusy(); }));
  EXPECT_EQ(nameOnDisk(1), "at last");
  EXPECT_TRUE(bar().text().isEmpty()) << bar().text().toStdString();
}

TEST_F(SessionSafety, WritesWhatWasAskedForBeforeTheWindowCloses) {
  open(2);
  {
    views::MainWindow second({m_folder.path(), {}, plots::ThemeChoice::light});
    second.openSession(m_path);
    ASSERT_TRUE(testing::waitFor([&] { return second.workbench().runB() != nullptr; }));
    second.workbench().desk().rename(QStringLiteral("run_0002"), QStringLiteral("last words"));
  }
  EXPECT_EQ(nameOnDisk(2), "last words");
}

TEST_F(SessionSafety, ClosesANoteOnlyUntilThereIsANewOne) {
  open(1);
  addRunFromOutside();
  ASSERT_TRUE(barSays(QStringLiteral("run 2 was added")));
  bench().desk().dismissNote();
  EXPECT_TRUE(bar().text().isEmpty());
  addRunFromOutside();
  EXPECT_TRUE(barSays(QStringLiteral("run 3 was added")));
  editFromOutside(storage::RunEdit::Kind::rename, "run_0003", "theirs");
  ASSERT_TRUE(testing::waitFor([this] { return bench().session()->runName(3) == "theirs"; }));
}

}  // namespace
}  // namespace ulpscope
