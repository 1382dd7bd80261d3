// The trial read forks while other threads of the window work: no lock they hold may stop it, and if one did, it ends.
#include "core/base/hashing.h"
#include "core/storage/integrity.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <locale>
#include <sstream>
#include <thread>

using namespace ulpscope;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

class SessionThreads : public testing::Test {
 protected:
  void SetUp() override {
    const auto sample = tests::sampleRun();
    auto written = storage::addRun(m_master, tests::sampleSession(), sample.run, sample.metrics, sample.outputs, storage::WriteMode::create);
    ASSERT_TRUE(written.ok()) << written.error().message();
  }
  // Without its digest the file must be tried in a child.
  void cutDigest() {
    const std::string whole = tests::readFile(m_master);
    tests::writeFile(m_master, whole.substr(0, whole.rfind("\nULPSCOPE SHA-256 ")));
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
};

// Keeps the locks of malloc, of iostreams' locales and of OpenSSL busy.
void work(const std::atomic<bool>& stop) {
  while (!stop) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 200; ++i) texts.emplace_back(1 + i * 37 % 5000, 'x');
    std::ostringstream stream;
    stream << std::locale().name() << base::sha256(texts.back());
  }
}

TEST_F(SessionThreads, FilesOfOtherProgramsOpenWhileThreadsAllocateHashAndOpen) {
  cutDigest();
  constexpr int kWorkers = 4, kOpeners = 3, kOpenings = 25;
  std::atomic<bool> stop = false;
  std::atomic<int> opened = 0;
  std::vector<std::thread> workers, openers;
  for (int i = 0; i < kWorkers; ++i) workers.emplace_back([&] { work(stop); });
  for (int i = 0; i < kOpeners; ++i)
    openers.emplace_back([&] {
      for (int k = 0; k < kOpenings; ++k) opened += storage::openSession(m_master).ok() && !storage::hdf5Version().empty();
    });
  for (std::thread& opener : openers) opener.join();
  stop = true;
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(opened, kOpeners * kOpenings);
}

TEST_F(SessionThreads, WritersAndReadersInOneProcessLoseNothing) {
  constexpr int kRuns = 6;
  const auto session = storage::openSession(m_master);
  ASSERT_TRUE(session.ok());
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kRuns; ++i) {
    threads.emplace_back([&] {
      const auto sample = tests::sampleRun();
      failures += !storage::addRun(m_master, session.value(), sample.run, sample.metrics, sample.outputs, storage::WriteMode::append).ok();
    });
    threads.emplace_back([&] { failures += !storage::openSession(m_master).ok(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(storage::openSession(m_master)->runs.size(), 1U + kRuns);
}

// A child that waits for a lock that another thread held at the fork: in the child nobody will ever release it.
TEST_F(SessionThreads, ATrialThatWaitsForALockForEverEndsAsAnError) {
  std::mutex held;
  std::atomic<bool> locked = false, stop = false;
  std::thread holder([&] {
    const std::scoped_lock lock(held);
    locked = true;
    while (!stop) std::this_thread::sleep_for(1ms);
  });
  while (!locked) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  const auto status = storage::tryInChild(
      m_master,
      [&] {
        const std::scoped_lock lock(held);
        return base::success();
      },
      300ms);
  const auto took = std::chrono::steady_clock::now() - start;
  stop = true;
  holder.join();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(), HasSubstr("does not come to an end"));
  EXPECT_GE(took, 300ms);
  EXPECT_LT(took, 30s);
}

TEST_F(SessionThreads, ATrialThatRunsForEverEndsAsAnError) {
  const auto status = storage::tryInChild(
      m_master,
      [] {
        for (std::atomic<int> spin = 0;; ++spin) {
        }
        return base::success();
      },
      200ms);
  EXPECT_FALSE(status.ok());
}

std::atomic<int> forks = 0;
void countFork() { ++forks; }

TEST_F(SessionThreads, AnIntactFileOfOursNeedsNoChild) {
  ASSERT_EQ(::pthread_atfork(countFork, nullptr, nullptr), 0);
  forks = 0;
  ASSERT_TRUE(storage::openSession(m_master).ok());
  EXPECT_EQ(forks, 0);
  cutDigest();
  ASSERT_TRUE(storage::openSession(m_master).ok());
  EXPECT_EQ(forks, 1);
}

}  // namespace
