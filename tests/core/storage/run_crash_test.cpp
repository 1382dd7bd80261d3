// What a run leaves that is killed, or meets a full disk, at any moment: earlier runs whole, its own last checkpoint, and one line.
#include "core/storage/atomic_file.h"
#include "core/storage/session_care.h"
#include "core/storage/session_pack.h"
#include "tests/core/storage/captured_run.h"
#include "tests/core/storage/small_disk.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <sys/wait.h>

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

int stepsLeft = 0;
void killAtStep(const char*) {
  if (stepsLeft-- == 0) ::raise(SIGKILL);
}

class Crash : public testing::Test {
 protected:
  void firstRun() {
    auto writer = storage::RunWriter::begin(m_master, m_session, WriteMode::create);
    ASSERT_TRUE(writer.ok());
    auto ended = tests::finish(writer.value(), {m_block});
    ASSERT_FALSE(ended.ok()) << "nothing was captured";
    auto again = storage::RunWriter::begin(m_master, m_session, WriteMode::create);
    ASSERT_EQ(tests::captureAll(again.value(), {m_block}), "");
    ended = tests::finish(again.value(), {m_block});
    ASSERT_TRUE(ended.ok()) << ended.error().message();
    m_session = ended.value();
  }
  // A whole run with two checkpoints; the message of the first error.
  std::string run(WriteMode mode) {
    auto writer = storage::RunWriter::begin(m_master, m_session, mode);
    if (!writer) return writer.error().message();
    std::string said = tests::captureAll(writer.value(), {m_block});
    for (const std::int64_t samples : {1, 2})
      if (said.empty()) said = tests::checkpoint(writer.value(), samples);
    if (!said.empty()) return said;
    const auto ended = tests::finish(writer.value(), {m_block});
    return ended ? "" : ended.error().message();
  }
  // A run that is killed once it has written this many checkpoints.
  void killAfterCheckpoints(int checkpoints, WriteMode mode) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto writer = storage::RunWriter::begin(m_master, m_session, mode);
      if (!writer || !tests::captureAll(writer.value(), {m_block}).empty()) ::_exit(1);
      for (int i = 1; i <= checkpoints; ++i)
        if (!tests::checkpoint(writer.value(), i).empty()) ::_exit(2);
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  }
  std::string file(const std::string& name) const { return m_master + ".d/" + name; }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
  session::Session m_session = tests::sampleSession();
  tests::Captured m_block = tests::randomCapture(base::DType::float16, {3, 700000});
};

void expectInterrupted(const std::string& master, const std::string& runId, std::int64_t samples) {
  const auto opened = storage::openSession(master);
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  const session::RunRecord* run = opened->run(runId);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->status, session::RunStatus::partial);
  EXPECT_EQ(run->samplesComplete, samples);
  EXPECT_THAT(run->warnings, Contains(HasSubstr("was interrupted: it holds " + std::to_string(samples) + " of 3 samples")));
  const auto metrics = storage::readMetrics(master, opened.value(), runId);
  ASSERT_TRUE(metrics.ok()) << metrics.error().message();
  EXPECT_EQ(metrics.value()[session::Metric::maxAbs].values[3], 4.0F);
  const auto outputs = storage::readOutputs(master, opened.value(), runId);
  ASSERT_FALSE(outputs.ok());
  EXPECT_THAT(outputs.error().message(), AllOf(HasSubstr(runId), HasSubstr("was interrupted before its outputs were written")));
  EXPECT_FALSE(storage::readCapture(master, opened.value(), runId, 0, storage::RunSide::reference).ok());
}

TEST_F(Crash, TheLastCheckpointOfAKilledRunIsShownAndRepairPutsItInPlace) {
  firstRun();
  const std::string before = tests::readFile(m_master);
  killAfterCheckpoints(2, WriteMode::append);
  expectInterrupted(m_master, "run_0002", 2);
  EXPECT_THAT(storage::openWithNotes(m_master)->notes, ElementsAre(AllOf(HasSubstr("run_0002"), HasSubstr("was interrupted"))));
  EXPECT_EQ(tests::readFile(m_master), before) << "reading wrote";
  const auto lines = storage::repairSession(m_master);
  ASSERT_TRUE(lines.ok()) << lines.error().message();
  EXPECT_THAT(lines.value(), ElementsAre(AllOf(HasSubstr("removed"), HasSubstr("run-0002.tensors.h5.part")), "adopted run_0002, which was interrupted"));
  EXPECT_TRUE(fs::exists(file("run-0002.metrics.h5")));
  expectInterrupted(m_master, "run_0002", 2);
  EXPECT_THAT(storage::openWithNotes(m_master)->notes, IsEmpty());
  EXPECT_THAT(storage::repairSession(m_master).value(), IsEmpty());
  const auto packed = storage::packSession(m_master, m_folder.file("p.zip"), storage::Tensors::included);
  ASSERT_TRUE(packed.ok()) << packed.error().message();
  EXPECT_THAT(packed->notes, IsEmpty());
  fs::create_directory(m_folder.file("there"));
  const auto unpacked = storage::unpackSession(m_folder.file("p.zip"), m_folder.file("there/s.ulps"));
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message();
  expectInterrupted(m_folder.file("there/s.ulps"), "run_0002", 2);
  const auto there = storage::openSession(m_folder.file("there/s.ulps"));
  EXPECT_TRUE(storage::readCapture(m_folder.file("there/s.ulps"), there.value(), "run_0001", 0, storage::RunSide::candidate).ok());
}

TEST_F(Crash, TheFirstRunOfASessionThatIsKilledLeavesASessionWithItsCheckpoint) {
  killAfterCheckpoints(1, WriteMode::create);
  expectInterrupted(m_master, "run_0001", 1);
  m_session = storage::openSession(m_master).value();
  EXPECT_EQ(run(WriteMode::append), "");
  expectInterrupted(m_master, "run_0001", 1);
  const auto opened = storage::openWithNotes(m_master);
  EXPECT_THAT(opened->notes, IsEmpty());
  EXPECT_EQ(opened->session.runs.size(), 2U);
  EXPECT_FALSE(fs::exists(file("run-0001.tensors.h5.part")));
}

TEST_F(Crash, BeforeItsFirstCheckpointLeavesNothingOnceClearedUp) {
  killAfterCheckpoints(0, WriteMode::create);
  ASSERT_TRUE(fs::exists(file("run-0001.tensors.h5.part")));
  const auto lines = storage::removeDeadParts(m_master);
  ASSERT_TRUE(lines.ok()) << lines.error().message();
  EXPECT_THAT(lines.value(), ElementsAre(HasSubstr("run-0001.tensors.h5.part")));
  EXPECT_FALSE(fs::exists(m_master + ".d"));
  EXPECT_FALSE(fs::exists(m_master));
  EXPECT_THAT(storage::removeDeadParts(m_master).value(), IsEmpty());
  killAfterCheckpoints(0, WriteMode::create);
  EXPECT_THAT(storage::repairSession(m_master).value(), ElementsAre(HasSubstr("run-0001.tensors.h5.part"))) << "repair does it as well";
  EXPECT_FALSE(fs::exists(m_master + ".d"));
}

TEST_F(Crash, ACheckpointThatDoesNotVerifyIsNamedAndSetAsideByTheNextRun) {
  firstRun();
  killAfterCheckpoints(1, WriteMode::append);
  const std::string part = file("run-0002.metrics.h5.part");
  std::string bytes = tests::readFile(part);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  fs::permissions(part, fs::perms::owner_all);
  tests::writeFile(part, bytes);
  const auto opened = storage::openWithNotes(m_master);
  EXPECT_EQ(opened->session.runs.size(), 1U);
  EXPECT_THAT(opened->notes, ElementsAre(AllOf(HasSubstr("run-0002.metrics.h5.part"), HasSubstr("is damaged"))));
  EXPECT_EQ(run(WriteMode::append), "");
  EXPECT_EQ(tests::readFile(file("set-aside/run-0002.metrics.h5.part")), bytes);
  const auto after = storage::openWithNotes(m_master);
  EXPECT_THAT(after->notes, IsEmpty());
  EXPECT_EQ(after->session.latest()->number, 3);
  EXPECT_THAT(after->session.latest()->warnings, Contains(HasSubstr("set aside")));
}

// Killed after each step in turn; the earlier run, and what is shown of the killed one, can be read each time, and repair ends it.
TEST_F(Crash, KilledBetweenAnyTwoStepsLosesAtMostWhatCameAfterTheLastCheckpoint) {
  m_block = tests::randomCapture(base::DType::float16, {3, 5000});
  firstRun();
  int step = 0, partial = 0, complete = 0;
  for (bool killed = true; killed; ++step) {
    SCOPED_TRACE(step);
    const pid_t child = ::fork();
    if (child == 0) {
      stepsLeft = step;
      storage::afterStep = killAtStep;
      ::_exit(run(WriteMode::append).empty() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    killed = WIFSIGNALED(status);
    ASSERT_TRUE(killed || WEXITSTATUS(status) == 0);
    for (const bool repaired : {false, true}) {
      ASSERT_TRUE(!repaired || storage::repairSession(m_master).ok());
      const auto opened = storage::openWithNotes(m_master);
      ASSERT_TRUE(opened.ok()) << opened.error().message();
      ASSERT_TRUE(!repaired || opened->notes.empty());
      const auto& last = opened->session.runs.back();
      if (killed && repaired) ++(last.status == session::RunStatus::partial ? partial : complete);
      ASSERT_TRUE(storage::readCapture(m_master, opened->session, "run_0001", 0, storage::RunSide::candidate).ok());
      ASSERT_TRUE(storage::readMetrics(m_master, opened->session, last.id()).ok());
      ASSERT_TRUE(last.status == session::RunStatus::partial || storage::readCapture(m_master, opened->session, last.id(), 0, storage::RunSide::candidate).ok());
    }
    for (const auto& entry : fs::recursive_directory_iterator(m_folder.path())) ASSERT_NE(entry.path().extension(), ".part") << entry.path();
  }
  EXPECT_GT(step, 30);
  EXPECT_GT(partial, 8);
  EXPECT_GT(complete, 8);
}

// The disk is made larger page by page, so that it is full in captures, checkpoints and every file of the end. Every child must end
// by itself with one line and leave nothing, until one succeeds.
TEST_F(Crash, ADiskFullAtAnyMomentIsOneLineAndLeavesNothing) {
  m_block = tests::randomCapture(base::DType::float16, {3, 5000});
  fs::create_directory(m_folder.file("small"));
  m_master = m_folder.file("small/s.ulps");
  int full = 0;
  bool written = false;
  for (std::size_t pages = 1; !written && pages < 400; pages += 5) {
    SCOPED_TRACE(pages);
    const pid_t child = ::fork();
    if (child == 0) {
      tests::enterSmallDisk(m_folder.file("small"), pages * 4096);
      const std::string said = run(WriteMode::create);
      if (said.empty()) ::exit(10);  // at_exit handlers too
      const bool clear = said.find("free some space") != std::string::npos && said.find('\n') == std::string::npos;
      if (!clear) std::fprintf(stderr, "%s\n", said.c_str());
      ::exit(!clear ? 1 : fs::is_empty(m_folder.file("small")) ? 0 : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    written = WEXITSTATUS(status) == 10;
    ASSERT_TRUE(written || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
    full += !written;
  }
  EXPECT_TRUE(written);
  EXPECT_GT(full, 5);
}

}  // namespace
