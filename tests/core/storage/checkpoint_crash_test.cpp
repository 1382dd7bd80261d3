// A checkpoint whose writer is killed, or meets a full disk, at any moment: it is there whole or not at all, and earlier ones stay.
#include "core/storage/atomic_file.h"
#include "tests/core/storage/sample_checkpoint.h"
#include "tests/core/storage/small_disk.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <random>

using namespace ulpscope;
using testing::HasSubstr;

namespace fs = std::filesystem;

namespace {

int stepsLeft = 0;
void killAtStep(const char*) {
  if (stepsLeft-- == 0) ::raise(SIGKILL);
}
void killNow(int) { ::raise(SIGKILL); }

void killAfter(std::int64_t microseconds) {
  std::signal(SIGALRM, killNow);
  itimerval timer{};
  timer.it_value.tv_sec = microseconds / 1000000;
  timer.it_value.tv_usec = std::max<std::int64_t>(1, microseconds % 1000000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

class CheckpointCrash : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(storage::writeCheckpoint(m_earlier, tests::sampleCheckpoint()).ok());
    m_before = tests::readFile(m_earlier);
    for (int i = 0; i < 40; ++i) m_checkpoint.parameters.push_back(tests::tensorOf("layers." + std::to_string(i), base::DType::float32, {40000}, i));
  }
  // Whether the writing child was killed; it does `prepare` first.
  bool writeInChild(const std::function<void()>& prepare) {
    const pid_t child = ::fork();
    if (child == 0) {
      prepare();
      ::_exit(storage::writeCheckpoint(m_path, m_checkpoint).ok() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
  }
  // Of a killed writer: absent, or whole and what it should be. Clears up by writing it again, which must work.
  void expectWholeOrAbsent(const std::string& expected) {
    EXPECT_EQ(tests::readFile(m_earlier), m_before);
    const bool isThere = fs::exists(m_path);
    isThere ? ++m_whole : ++m_absent;
    if (!isThere) {
      EXPECT_THAT(storage::readCheckpoint(m_path).error().message(), HasSubstr("does not exist"));
      EXPECT_FALSE(storage::readCheckpoint(m_path + ".part").ok());
      const auto again = storage::writeCheckpoint(m_path, m_checkpoint);
      ASSERT_TRUE(again.ok()) << again.error().message();
    }
    const auto read = storage::readCheckpoint(m_path);
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_TRUE(tests::allOf(read.value()) == expected);
    EXPECT_FALSE(fs::exists(m_path + ".part"));
    fs::remove(m_path);
  }

  tests::ScratchFolder m_folder;
  std::string m_earlier = m_folder.file("step-00000020.h5"), m_path = m_folder.file("step-00000040.h5"), m_before;
  storage::TrainingCheckpoint m_checkpoint = tests::sampleCheckpoint();
  int m_whole = 0, m_absent = 0;
};

TEST_F(CheckpointCrash, BetweenAnyTwoStepsLeavesItWholeOrAbsent) {
  const std::string expected = tests::allOf(m_checkpoint);
  int step = 0;
  while (writeInChild([&] { stepsLeft = step, storage::afterStep = killAtStep; })) {
    SCOPED_TRACE(step++);
    expectWholeOrAbsent(expected);
  }
  EXPECT_EQ(step, 5);
  EXPECT_EQ(m_whole, 2) << "renamed, folder synced";
  EXPECT_EQ(m_absent, 3);
}

TEST_F(CheckpointCrash, At50RandomMomentsOfTheWriteLeavesItWholeOrAbsent) {
  using Clock = std::chrono::steady_clock;
  const std::string expected = tests::allOf(m_checkpoint);
  const auto begin = Clock::now();
  ASSERT_FALSE(writeInChild([] {}));
  const auto length = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
  fs::remove(m_path);
  std::mt19937 random(8);
  std::uniform_int_distribution<std::int64_t> moment(0, length);
  int killed = 0, tries = 0;
  for (; killed < 50 && tries < 1000; ++tries) {
    SCOPED_TRACE(tries);
    killed += writeInChild([at = moment(random)] { killAfter(at); });
    expectWholeOrAbsent(expected);
  }
  EXPECT_EQ(killed, 50);
  EXPECT_GT(m_absent, 10);
}

// The disk is made larger page by page; every child must end by itself with one line and leave nothing, until one succeeds.
TEST_F(CheckpointCrash, AFullDiskIsOneLineAndLeavesNothing) {
  fs::create_directory(m_folder.file("small"));
  m_path = m_folder.file("small/step-00000040.h5");
  m_checkpoint.parameters.resize(3);
  int full = 0;
  bool written = false;
  for (std::size_t pages = 1; !written && pages < 400; pages += 3) {
    SCOPED_TRACE(pages);
    const pid_t child = ::fork();
    if (child == 0) {
      tests::enterSmallDisk(m_folder.file("small"), pages * 4096);
      const auto said = storage::writeCheckpoint(m_path, m_checkpoint);
      if (said.ok()) ::_exit(storage::readCheckpoint(m_path).ok() ? 10 : 3);
      const std::string message = said.error().message();
      const bool clear = said.error().kind == base::ErrorKind::run && message.find("free some space") != std::string::npos && message.find('\n') == std::string::npos;
      ::_exit(!clear ? 1 : fs::is_empty(m_folder.file("small")) ? 0 : 2);
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
