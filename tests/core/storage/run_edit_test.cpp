// Names, baseline, deleting and restoring: one write of the master each, nothing of a run's own is touched, and no try is hidden.
#include "core/storage/run_edit.h"

#include "core/storage/atomic_file.h"
#include "core/storage/run_verdict.h"
#include "core/storage/session_care.h"
#include "core/storage/session_pack.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace ulpscope;
using storage::RunEdit;
using storage::WriteMode;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

namespace {

constexpr auto kShort = std::chrono::milliseconds(50);

class RunEdits : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i) add(i == 0 ? WriteMode::create : WriteMode::append);
  }
  void add(WriteMode mode) {
    auto sample = tests::sampleRun();
    const auto now = mode == WriteMode::create ? tests::sampleSession() : open();
    const auto written = storage::addRun(m_master, now, sample.run, sample.metrics, sample.outputs, mode);
    ASSERT_TRUE(written.ok()) << written.error().message();
  }
  session::Session open() {
    auto opened = storage::openSession(m_master);
    EXPECT_TRUE(opened.ok()) << opened.error().message();
    return opened.ok() ? opened.value() : session::Session{};
  }
  std::vector<std::string> ids() {
    std::vector<std::string> ids;
    for (const session::RunRecord& run : open().runs) ids.push_back(run.id());
    return ids;
  }
  session::Session edit(RunEdit::Kind kind, const std::string& runId, const std::string& name = {}) {
    auto edited = storage::editRun(m_master, open().id, {kind, runId, name});
    EXPECT_TRUE(edited.ok()) << edited.error().message();
    return edited.ok() ? edited.value() : session::Session{};
  }
  std::string refusal(RunEdit::Kind kind, const std::string& runId) {
    const std::string before = tests::readFile(m_master);
    const auto edited = storage::editRun(m_master, open().id, {kind, runId}, kShort);
    EXPECT_FALSE(edited.ok());
    EXPECT_EQ(tests::readFile(m_master), before);
    return edited.ok() ? "" : edited.error().message();
  }
  std::string runFile(const char* name) const { return m_master + ".d/" + name; }
  // All files but the master and the lock, byte for byte.
  std::map<std::string, std::string> runFiles() {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(m_master + ".d"))
      if (entry.path().filename() != "lock") files[entry.path().filename()] = tests::readFile(entry.path());
    return files;
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
};

TEST_F(RunEdits, ANamePersistsAndH5pyReadsIt) {
  const auto session = edit(RunEdit::Kind::rename, "run_0002", " wo in FP32, größer\n");
  EXPECT_EQ(session.generation, 4);
  EXPECT_EQ(open().runName(2), "wo in FP32, größer");
  EXPECT_TRUE(tests::python(m_folder, "import h5py\nf = h5py.File('s.ulps')\nassert f['run_0002'].attrs['name'] == 'wo in FP32, größer'\n"
                                      "assert 'name' not in f['run_0001'].attrs and 'baseline' not in f.attrs\nassert f.attrs['file_format'] == 'ulpscope-session/3'\n"));
  edit(RunEdit::Kind::rename, "run_0002", "");
  EXPECT_TRUE(open().runNames.empty());
}

TEST_F(RunEdits, ANameIsOneLineOfWholeCharacters) {
  EXPECT_EQ(session::cleanRunName("\x1b[31mred\x7f\t"), "[31mred");
  EXPECT_EQ(session::cleanRunName("   "), "");
  const std::string longName = session::cleanRunName(std::string(119, 'x') + "öö");
  EXPECT_EQ(longName, std::string(119, 'x')) << "an ö cut in two would be no UTF-8";
}

TEST_F(RunEdits, TheBaselinePersistsAndStepsBackWhileItsRunIsDeleted) {
  edit(RunEdit::Kind::baseline, "run_0001");
  EXPECT_EQ(open().baseline()->id(), "run_0001");
  EXPECT_TRUE(tests::python(m_folder, "import h5py\nassert h5py.File('s.ulps').attrs['baseline'] == 'run_0001'\n"));
  edit(RunEdit::Kind::remove, "run_0001");
  EXPECT_EQ(open().baseline(), nullptr);
  edit(RunEdit::Kind::restore, "run_0001");
  EXPECT_EQ(open().baseline()->id(), "run_0001");
  edit(RunEdit::Kind::baseline, "");
  EXPECT_EQ(open().baseline(), nullptr);
}

TEST_F(RunEdits, ADeletedRunIsNoRunOfTheSessionAndItsFilesStayAsTheyAre) {
  const auto before = runFiles();
  edit(RunEdit::Kind::remove, "run_0002");
  EXPECT_THAT(ids(), ElementsAre("run_0001", "run_0003"));
  EXPECT_EQ(open().deletedRun("run_0002")->run.number, 2);
  EXPECT_EQ(runFiles(), before);
  EXPECT_FALSE(storage::readMetrics(m_master, open(), "run_0002").ok());
  EXPECT_THAT(storage::openWithNotes(m_master)->notes, IsEmpty()) << "its files are no leftovers";
  EXPECT_THAT(storage::repairSession(m_master).value(), IsEmpty());
  EXPECT_EQ(runFiles(), before);
  EXPECT_TRUE(tests::python(m_folder, "import h5py, re\nf = h5py.File('s.ulps')\nassert re.fullmatch(r'\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ', f['run_0002'].attrs['deleted'])\n"
                                      "assert f.attrs['default'] == 'run_0003' and 'deleted' not in f['run_0003'].attrs\n"));
}

TEST_F(RunEdits, RestoringBringsTheRunBackBitForBit) {
  edit(RunEdit::Kind::rename, "run_0003", "last");
  const std::string all = tests::allOf(open());
  const auto files = runFiles();
  edit(RunEdit::Kind::remove, "run_0003");
  ASSERT_THAT(ids(), ElementsAre("run_0001", "run_0002"));
  edit(RunEdit::Kind::restore, "run_0003");
  auto now = open();
  EXPECT_EQ(now.generation, 6);
  now.generation = 4;
  EXPECT_EQ(tests::allOf(now), all);
  EXPECT_EQ(now.runName(3), "last");
  EXPECT_EQ(runFiles(), files);
  EXPECT_TRUE(storage::readMetrics(m_master, now, "run_0003").ok());
  EXPECT_TRUE(storage::readOutputs(m_master, now, "run_0003").ok());
}

TEST_F(RunEdits, ADeletedRunStillCountsAsTried) {
  ASSERT_EQ(open().candidatesTried(), 3);
  edit(RunEdit::Kind::remove, "run_0002");
  EXPECT_EQ(open().candidatesTried(), 3);
  EXPECT_EQ(open().candidatesDeleted(), 1);
  ASSERT_TRUE(storage::purgeDeleted(m_master).ok());
  EXPECT_EQ(open().candidatesTried(), 3) << "not even purging hides a try";
  EXPECT_EQ(open().candidatesDeleted(), 1);
}

TEST_F(RunEdits, CriteriaLockedAfterEveryRunWasDeletedAreStillWrittenAfterResults) {
  for (const char* id : {"run_0001", "run_0002", "run_0003"}) edit(RunEdit::Kind::remove, id);
  ASSERT_THAT(ids(), IsEmpty());
  session::Criteria criteria;
  criteria.canonical = "{}";
  const auto locked = storage::lockCriteria(m_master, criteria, "");
  ASSERT_TRUE(locked.ok()) << locked.error().message();
  EXPECT_TRUE(locked->criteria.front().afterResults);
  EXPECT_EQ(locked->deleted.size(), 3U);
}

TEST_F(RunEdits, ANumberIsNeverUsedAgain) {
  edit(RunEdit::Kind::remove, "run_0003");
  add(WriteMode::append);
  EXPECT_THAT(ids(), ElementsAre("run_0001", "run_0002", "run_0004"));
  edit(RunEdit::Kind::remove, "run_0004");
  ASSERT_TRUE(storage::purgeDeleted(m_master).ok());
  add(WriteMode::append);
  EXPECT_THAT(ids(), ElementsAre("run_0001", "run_0002", "run_0005"));
}

TEST_F(RunEdits, ARunAddedByOneWhoKnewTheSessionBeforeKeepsNamesAndDeletions) {
  const session::Session old = open();
  edit(RunEdit::Kind::rename, "run_0001", "first");
  edit(RunEdit::Kind::remove, "run_0002");
  auto sample = tests::sampleRun();
  ASSERT_TRUE(storage::addRun(m_master, old, sample.run, sample.metrics, sample.outputs, WriteMode::append).ok());
  EXPECT_THAT(ids(), ElementsAre("run_0001", "run_0003", "run_0004"));
  EXPECT_EQ(open().runName(1), "first");
}

TEST_F(RunEdits, PurgingRemovesTheFilesOfDeletedRunsOnly) {
  edit(RunEdit::Kind::rename, "run_0002", "gone soon");
  edit(RunEdit::Kind::remove, "run_0002");
  EXPECT_THAT(storage::purgeDeleted(m_master).value(), ElementsAre("removed the files of run_0002 for good"));
  EXPECT_FALSE(fs::exists(runFile("run-0002.metrics.h5")));
  EXPECT_FALSE(fs::exists(runFile("run-0002.tensors.h5")));
  EXPECT_TRUE(fs::exists(runFile("run-0001.metrics.h5")));
  EXPECT_THAT(ids(), ElementsAre("run_0001", "run_0003"));
  EXPECT_THAT(refusal(RunEdit::Kind::restore, "run_0002"), HasSubstr("removed for good"));
  EXPECT_THAT(storage::purgeDeleted(m_master).value(), IsEmpty());
  EXPECT_TRUE(tests::python(m_folder, "import h5py, json\nf = h5py.File('s.ulps')\nassert 'run_0002' not in f\n"
                                      "assert json.loads(f['validation'][()])['purged'] == [{'number': 2, 'whole': True}]\n"));
}

TEST_F(RunEdits, APackedSessionLeavesTheFilesOfDeletedRunsOutAndSaysSo) {
  edit(RunEdit::Kind::remove, "run_0002");
  const auto packed = storage::packSession(m_master, "", storage::Tensors::included);
  ASSERT_TRUE(packed.ok()) << packed.error().message();
  EXPECT_THAT(packed->notes, ElementsAre(AllOf(HasSubstr("run_0002"), HasSubstr("deleted"))));
  const auto unpacked = storage::unpackSession(packed->path, m_folder.file("t.ulps"));
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message();
  EXPECT_FALSE(fs::exists(m_folder.file("t.ulps.d/run-0002.metrics.h5")));
  EXPECT_EQ(storage::openSession(m_folder.file("t.ulps"))->candidatesTried(), 3);
}

TEST_F(RunEdits, RefusesWhatCannotBeMeantAndWritesNothing) {
  EXPECT_THAT(refusal(RunEdit::Kind::rename, "run_0009"), HasSubstr("is no run of this session"));
  EXPECT_THAT(refusal(RunEdit::Kind::restore, "run_0009"), HasSubstr("is no run of this session"));
  edit(RunEdit::Kind::remove, "run_0002");
  EXPECT_THAT(refusal(RunEdit::Kind::rename, "run_0002"), HasSubstr("is deleted"));
  EXPECT_THAT(refusal(RunEdit::Kind::baseline, "run_0002"), HasSubstr("is deleted"));
  const auto other = storage::editRun(m_master, "another id", {RunEdit::Kind::remove, "run_0001"});
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message(), HasSubstr("is another session"));
}

TEST_F(RunEdits, WhatStandsAsAskedIsNotWrittenAgain) {
  edit(RunEdit::Kind::remove, "run_0002");
  const std::string before = tests::readFile(m_master);
  EXPECT_EQ(edit(RunEdit::Kind::remove, "run_0002").generation, 4);
  EXPECT_EQ(edit(RunEdit::Kind::restore, "run_0001").generation, 4);
  EXPECT_EQ(edit(RunEdit::Kind::baseline, "").generation, 4);
  EXPECT_EQ(tests::readFile(m_master), before);
}

TEST_F(RunEdits, SaysWhoHoldsTheLock) {
  EXPECT_EQ(storage::lockHolder(m_master), "");
  const auto held = storage::WriteLock::take(m_master + ".d");
  ASSERT_TRUE(held.ok());
  EXPECT_THAT(storage::lockHolder(m_master), HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_THAT(refusal(RunEdit::Kind::remove, "run_0001"), HasSubstr("is being written by process"));
}

TEST_F(RunEdits, SaysWhyNothingCanBeWritten) {
  EXPECT_EQ(storage::whyReadOnly(m_master), "");
  fs::permissions(m_master, fs::perms::owner_read);
  EXPECT_THAT(storage::whyReadOnly(m_master), HasSubstr("is read-only"));
  EXPECT_THAT(refusal(RunEdit::Kind::remove, "run_0001"), HasSubstr("is read-only"));
}

// As a user without rights, since root may write everywhere.
TEST_F(RunEdits, SaysWhichFolderAnotherUserMayNotWriteTo) {
  fs::permissions(m_folder.path(), fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(m_master, fs::perms::all);
  constexpr uid_t kNobody = 65534;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(2);
    if (::getuid() != kNobody) fs::permissions(m_folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    ::_exit(storage::whyReadOnly(m_master).find(m_folder.path() + ": is a folder that this user may not write to") == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  fs::permissions(m_folder.path(), fs::perms::owner_all);
  EXPECT_EQ(status, 0);
}

TEST_F(RunEdits, AFullDiskChangesNothing) {
  const auto session = open();
  const std::string before = tests::readFile(m_master);
  const auto files = runFiles();
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{5000, 5000};
    ::setrlimit(RLIMIT_FSIZE, &size);
    const auto edited = storage::editRun(m_master, session.id, {RunEdit::Kind::remove, "run_0001"});
    ::_exit(!edited.ok() && edited.error().message().find("free some space") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(tests::readFile(m_master), before);
  EXPECT_EQ(runFiles(), files);
  EXPECT_FALSE(fs::exists(m_master + ".part"));
}

int stepsLeft = 0;
void killAtStep(const char*) {
  if (stepsLeft-- == 0) ::raise(SIGKILL);
}

TEST_F(RunEdits, APurgeKilledBetweenAnyTwoStepsCanBeRepeatedAndHidesNoTry) {
  edit(RunEdit::Kind::remove, "run_0002");
  int kills = 0;
  for (;; ++kills) {
    const pid_t child = ::fork();
    if (child == 0) {
      stepsLeft = kills;
      storage::afterStep = killAtStep;
      ::_exit(storage::purgeDeleted(m_master).ok() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_THAT(ids(), ElementsAre("run_0001", "run_0003"));
    EXPECT_EQ(open().candidatesTried(), 3);
    EXPECT_THAT(storage::openWithNotes(m_master)->notes, IsEmpty());
    if (!WIFSIGNALED(status)) break;
  }
  EXPECT_GE(kills, 3);
  EXPECT_FALSE(fs::exists(runFile("run-0002.metrics.h5")));
  EXPECT_FALSE(fs::exists(runFile("run-0002.tensors.h5")));
}

}  // namespace
