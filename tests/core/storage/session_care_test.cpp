// Adoption, notes and repair: what a crash or a rename leaves is found again, named, and never deleted.
#include "core/storage/session_care.h"

#include "core/storage/atomic_file.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <sys/wait.h>

#include <algorithm>
#include <csignal>

using namespace ulpscope;
using storage::WriteMode;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

namespace {

base::Result<session::Session> add(const std::string& master, const session::Session& session, WriteMode mode, const std::string& warning) {
  auto sample = tests::sampleRun();
  sample.run.warnings = {warning};
  return storage::addRun(master, session, sample.run, sample.metrics, sample.outputs, mode);
}

std::vector<std::string> idsOf(const session::Session& session) {
  std::vector<std::string> ids;
  for (const session::RunRecord& run : session.runs) ids.push_back(run.id());
  return ids;
}

class SessionCare : public testing::Test {
 protected:
  void SetUp() override {
    auto first = add(m_master, tests::sampleSession(), WriteMode::create, "first");
    ASSERT_TRUE(first.ok()) << first.error().message();
    m_session = first.value();
  }
  // As if the writer of a second run had been killed before its master took the old one's place.
  void loseSecondMaster() {
    const std::string before = tests::readFile(m_master);
    ASSERT_TRUE(add(m_master, m_session, WriteMode::append, "second").ok());
    tests::writeFile(m_master, before);
  }
  storage::OpenedSession open(const std::string& master) {
    auto opened = storage::openWithNotes(master);
    EXPECT_TRUE(opened.ok()) << opened.error().message();
    return opened.ok() ? opened.value() : storage::OpenedSession{};
  }
  std::vector<std::string> repair(const std::string& master) {
    auto lines = storage::repairSession(master);
    EXPECT_TRUE(lines.ok()) << lines.error().message();
    return lines.ok() ? lines.value() : std::vector<std::string>{};
  }
  std::string runFile(const char* name) const { return m_master + ".d/" + name; }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
  session::Session m_session;
};

TEST_F(SessionCare, ASessionInOrderHasNoNotesAndNothingToRepair) {
  const std::string before = tests::readFile(m_master);
  EXPECT_THAT(open(m_master).notes, IsEmpty());
  EXPECT_THAT(repair(m_master), IsEmpty());
  EXPECT_EQ(tests::readFile(m_master), before);
}

TEST_F(SessionCare, ACompleteRunThatNoMasterNamesIsShownWithANoteAndAdoptedByTheNextWriter) {
  loseSecondMaster();
  const std::string before = tests::readFile(m_master);
  const auto opened = open(m_master);
  EXPECT_THAT(idsOf(opened.session), ElementsAre("run_0001", "run_0002"));
  EXPECT_THAT(opened.notes, ElementsAre(AllOf(HasSubstr("run_0002"), HasSubstr("does not name it"))));
  EXPECT_THAT(opened.session.runs[1].warnings, ElementsAre("second", HasSubstr("writer was interrupted")));
  EXPECT_TRUE(storage::readMetrics(m_master, opened.session, "run_0002").ok());
  EXPECT_TRUE(storage::readOutputs(m_master, opened.session, "run_0002").ok());
  EXPECT_EQ(tests::readFile(m_master), before) << "reading wrote";

  const auto third = add(m_master, m_session, WriteMode::append, "third");
  ASSERT_TRUE(third.ok()) << third.error().message();
  EXPECT_THAT(idsOf(third.value()), ElementsAre("run_0001", "run_0002", "run_0003"));
  const auto again = open(m_master);
  EXPECT_THAT(again.notes, IsEmpty());
  EXPECT_THAT(idsOf(again.session), ElementsAre("run_0001", "run_0002", "run_0003"));
}

TEST_F(SessionCare, RepairAdoptsAndSaysSo) {
  loseSecondMaster();
  EXPECT_THAT(repair(m_master), ElementsAre("adopted run_0002, which was complete but not named"));
  EXPECT_THAT(repair(m_master), IsEmpty());
  const auto opened = open(m_master);
  EXPECT_THAT(opened.notes, IsEmpty());
  EXPECT_EQ(opened.session.generation, 2);
  EXPECT_TRUE(tests::python(m_folder, "import h5py, os\nf = h5py.File('s.ulps')\nassert f['run_0002/divergence/rel_l2'].shape == (2, 3)\n"));
}

TEST_F(SessionCare, HalfARunIsNamedThenSetAsideNeverDeleted) {
  loseSecondMaster();
  fs::remove(runFile("run-0002.tensors.h5"));
  const std::string half = tests::readFile(runFile("run-0002.metrics.h5"));
  const auto opened = open(m_master);
  EXPECT_THAT(idsOf(opened.session), ElementsAre("run_0001"));
  EXPECT_THAT(opened.notes, ElementsAre(AllOf(HasSubstr("run-0002.metrics.h5"), HasSubstr("run-0002.tensors.h5, is missing"))));
  const auto third = add(m_master, m_session, WriteMode::append, "third");
  ASSERT_TRUE(third.ok());
  EXPECT_THAT(idsOf(third.value()), ElementsAre("run_0001", "run_0003")) << "a number once used is not used again";
  EXPECT_THAT(third->runs[1].warnings, Contains(AllOf(HasSubstr("run-0002.metrics.h5"), HasSubstr("set aside"))));
  EXPECT_EQ(tests::readFile(runFile("set-aside/run-0002.metrics.h5")), half);
  EXPECT_THAT(open(m_master).notes, IsEmpty());
}

TEST_F(SessionCare, ADamagedPairIsSetAsideAndTheSessionStillOpens) {
  loseSecondMaster();
  fs::permissions(runFile("run-0002.metrics.h5"), fs::perms::owner_all);
  std::string bytes = tests::readFile(runFile("run-0002.metrics.h5"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  tests::writeFile(runFile("run-0002.metrics.h5"), bytes);
  EXPECT_THAT(open(m_master).notes, ElementsAre(AllOf(HasSubstr("run-0002.metrics.h5"), HasSubstr("is damaged"))));
  EXPECT_THAT(repair(m_master), ElementsAre(AllOf(HasSubstr("is damaged"), HasSubstr("set aside"))));
  EXPECT_TRUE(fs::exists(runFile("set-aside/run-0002.metrics.h5")));
  EXPECT_TRUE(fs::exists(runFile("set-aside/run-0002.tensors.h5")));
}

TEST_F(SessionCare, ARunOfAnotherSessionIsNamedAndLeftWhereItIs) {
  const std::string other = m_folder.file("other.ulps");
  ASSERT_TRUE(add(other, tests::sampleSession(), WriteMode::create, "other").ok());
  for (const std::string kind : {"metrics", "tensors"}) fs::copy_file(other + ".d/run-0001." + kind + ".h5", m_master + ".d/run-0005." + kind + ".h5");
  EXPECT_THAT(open(m_master).notes, ElementsAre(AllOf(HasSubstr("run-0005"), HasSubstr("another session"))));
  EXPECT_THAT(repair(m_master), ElementsAre(HasSubstr("left as it is")));
  EXPECT_TRUE(fs::exists(runFile("run-0005.metrics.h5")));
}

TEST_F(SessionCare, RepairRemovesPartsOfInterruptedWritesAndNothingElse) {
  for (const std::string& name : {m_master + ".part", runFile("run-0002.metrics.h5.part"), runFile("notes.part"), runFile("notes.txt")}) tests::writeFile(name, "x");
  EXPECT_THAT(repair(m_master), ElementsAre(HasSubstr("s.ulps.part"), HasSubstr("run-0002.metrics.h5.part")));
  EXPECT_FALSE(fs::exists(m_master + ".part"));
  EXPECT_TRUE(fs::exists(runFile("notes.part")));
  EXPECT_TRUE(fs::exists(runFile("notes.txt")));
}

TEST_F(SessionCare, RepairTouchesNothingWhileAWriterHoldsTheLock) {
  tests::writeFile(m_master + ".part", "being written");
  const auto held = storage::WriteLock::take(m_master + ".d");
  ASSERT_TRUE(held.ok());
  const auto repaired = storage::repairSession(m_master);
  ASSERT_FALSE(repaired.ok());
  EXPECT_THAT(repaired.error().message(), HasSubstr("is being written by process"));
  EXPECT_TRUE(fs::exists(m_master + ".part"));
}

TEST_F(SessionCare, AReaderLeavesAloneWhatAWriterHasHalfDone) {
  loseSecondMaster();
  const auto held = storage::WriteLock::take(m_master + ".d");
  ASSERT_TRUE(held.ok());
  const auto complete = open(m_master);
  EXPECT_THAT(idsOf(complete.session), ElementsAre("run_0001", "run_0002")) << "a run once seen does not vanish while another is added";
  EXPECT_THAT(complete.notes, ElementsAre(AllOf(HasSubstr("run_0002"), HasSubstr("a writer is at work"))));
  EXPECT_THAT(complete.session.runs[1].warnings, ElementsAre("second"));
  fs::remove(runFile("run-0002.tensors.h5"));
  const auto half = open(m_master);
  EXPECT_THAT(idsOf(half.session), ElementsAre("run_0001"));
  EXPECT_THAT(half.notes, IsEmpty());
}

TEST_F(SessionCare, MissingFilesAreNamedOneLineEach) {
  fs::remove(runFile("run-0001.tensors.h5"));
  EXPECT_THAT(open(m_master).notes, ElementsAre(AllOf(HasSubstr("run-0001.tensors.h5: is missing"), HasSubstr("outputs"))));
  EXPECT_THAT(repair(m_master), ElementsAre(HasSubstr("is missing")));
}

TEST_F(SessionCare, ASessionRenamedWithItsFolderOpensAndRepairMakesOtherReadersFindIt) {
  const std::string renamed = m_folder.file("new name.ulps");
  fs::rename(m_master, renamed);
  fs::rename(m_master + ".d", renamed + ".d");
  const auto opened = open(renamed);
  EXPECT_TRUE(storage::readMetrics(renamed, opened.session, "run_0001").ok());
  EXPECT_THAT(opened.notes, ElementsAre(AllOf(HasSubstr("was renamed"), HasSubstr("s.ulps.d"), HasSubstr("ulpscope repair"))));
  const std::string read = "import h5py\nh5py.File('new name.ulps')['run_0001/divergence/rel_l2'][()]\n";
  EXPECT_FALSE(tests::python(m_folder, read));
  EXPECT_THAT(repair(renamed), ElementsAre("links for h5py and silx now name new name.ulps.d, before s.ulps.d"));
  EXPECT_TRUE(tests::python(m_folder, read));
  EXPECT_THAT(open(renamed).notes, IsEmpty());
}

TEST_F(SessionCare, AMasterRenamedWithoutItsFolderOpensWithOneLineThatSaysWhatToRename) {
  const std::string renamed = m_folder.file("b.ulps");
  fs::rename(m_master, renamed);
  const auto opened = open(renamed);
  EXPECT_THAT(idsOf(opened.session), ElementsAre("run_0001"));
  ASSERT_EQ(opened.notes.size(), 1U);
  EXPECT_THAT(opened.notes[0], AllOf(HasSubstr("b.ulps.d: is missing"), HasSubstr("1 run"), HasSubstr("rename " + m_master + ".d to it")));
  const auto written = add(renamed, m_session, WriteMode::append, "second");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message(), HasSubstr("rename " + m_master + ".d"));
  EXPECT_FALSE(storage::repairSession(renamed).ok());
  EXPECT_FALSE(fs::exists(renamed + ".d"));
  EXPECT_THAT(open(m_master = renamed).notes[0], HasSubstr("is missing"));
}

// --- killed between every pair of steps ---

int stepsLeft = 0;
void killAtStep(const char*) {
  if (stepsLeft-- == 0) ::raise(SIGKILL);
}

// Runs `body` in a child that is killed after step 0, 1, 2, ...; `check` looks after each kill. Gives the number of kills.
template <typename Body, typename Check>
int killAtEveryStep(Body body, Check check) {
  for (int step = 0;; ++step) {
    const pid_t child = ::fork();
    if (child == 0) {
      stepsLeft = step;
      storage::afterStep = killAtStep;
      ::_exit(body() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "step " << step;
    if (!WIFSIGNALED(status)) return step;
    check(step);
  }
}

TEST_F(SessionCare, AWriterKilledBetweenAnyTwoStepsLosesAtMostItsOwnRun) {
  std::size_t known = 1, adopted = 0;
  const int kills = killAtEveryStep([&] { return add(m_master, m_session, WriteMode::append, "killed").ok(); },
                                    [&](int step) {
                                      SCOPED_TRACE(step);
                                      const auto opened = open(m_master);
                                      ASSERT_GE(opened.session.runs.size(), known);
                                      adopted += static_cast<std::size_t>(std::count_if(opened.notes.begin(), opened.notes.end(), [](const std::string& note) { return note.find("is complete") != std::string::npos; }));
                                      for (const std::string& id : idsOf(opened.session)) {
                                        ASSERT_TRUE(storage::readMetrics(m_master, opened.session, id).ok()) << id;
                                        ASSERT_TRUE(storage::readOutputs(m_master, opened.session, id).ok()) << id;
                                      }
                                      known = opened.session.runs.size();
                                    });
  EXPECT_GE(kills, 16);
  EXPECT_GT(adopted, 0U);
  repair(m_master);
  const auto last = open(m_master);
  EXPECT_THAT(last.notes, IsEmpty());
  EXPECT_EQ(last.session.runs.size(), known + 1);
  for (const auto& entry : fs::recursive_directory_iterator(m_folder.path())) EXPECT_NE(entry.path().extension(), ".part") << entry.path();
}

TEST_F(SessionCare, ARepairKilledBetweenAnyTwoStepsCanBeRepeated) {
  loseSecondMaster();
  const std::string master = tests::readFile(m_master);
  const auto prepare = [&] {
    tests::writeFile(m_master, master);
    tests::writeFile(m_master + ".part", "x");
    tests::writeFile(runFile("run-0009.tensors.h5"), "half");
  };
  prepare();
  const int kills = killAtEveryStep([&] { return storage::repairSession(m_master).ok(); },
                                    [&](int) {
                                      EXPECT_THAT(idsOf(open(m_master).session), ElementsAre("run_0001", "run_0002"));
                                      prepare();
                                    });
  EXPECT_GE(kills, 7);
  EXPECT_THAT(idsOf(open(m_master).session), ElementsAre("run_0001", "run_0002"));
}

}  // namespace
