// Writing: nothing is overwritten, lost or left half done, whatever fails and whoever else writes.
#include "core/storage/atomic_file.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <unistd.h>

#include <csignal>
#include <set>

using namespace ulpscope;
using storage::WriteMode;
using testing::HasSubstr;

namespace fs = std::filesystem;

namespace {

base::Result<session::Session> add(const std::string& master, const session::Session& session, WriteMode mode,
                                   const std::string& warning = "") {
  auto sample = tests::sampleRun();
  sample.run.warnings = {warning};
  return storage::addRun(master, session, sample.run, sample.metrics, sample.outputs, mode);
}

// Every name below `folder`, sorted.
std::vector<std::string> filesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) names.push_back(entry.path().lexically_relative(folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

class SessionWrite : public testing::Test {
 protected:
  session::Session create() {
    auto written = add(m_master, tests::sampleSession(), WriteMode::create, "first");
    EXPECT_TRUE(written.ok()) << written.error().message();
    return written.ok() ? written.value() : session::Session{};
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
};

TEST_F(SessionWrite, RefusesToCreateOverAnExistingSession) {
  create();
  const std::string before = tests::readFile(m_master);
  const auto again = add(m_master, tests::sampleSession(), WriteMode::create);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(base::exitCode(again.error().kind), 2);
  EXPECT_THAT(again.error().message(), HasSubstr("use --append"));
  EXPECT_EQ(tests::readFile(m_master), before);
}

TEST_F(SessionWrite, AppendKeepsEarlierRuns) {
  const session::Session first = create();
  const auto second = add(m_master, first, WriteMode::append, "second");
  ASSERT_TRUE(second.ok()) << second.error().message();
  const auto read = storage::openSession(m_master);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->runs.size(), 2U);
  EXPECT_EQ(read->runs[0].warnings[0], "first");
  EXPECT_EQ(read->runs[1].warnings[0], "second");
  EXPECT_EQ(read->generation, 2);
  EXPECT_TRUE(storage::readMetrics(m_master, read.value(), "run_0001").ok());
  EXPECT_TRUE(storage::readMetrics(m_master, read.value(), "run_0002").ok());
}

TEST_F(SessionWrite, AStaleWriterMergesWithTheRunsItDoesNotKnow) {
  const session::Session stale = create();
  ASSERT_TRUE(add(m_master, stale, WriteMode::append, "second").ok());
  const auto third = add(m_master, stale, WriteMode::append, "third");
  ASSERT_TRUE(third.ok()) << third.error().message();
  ASSERT_EQ(third->runs.size(), 3U);
  EXPECT_EQ(third->runs[1].warnings[0], "second");
  EXPECT_EQ(third->runs[2].number, 3);
  EXPECT_EQ(third->generation, 3);
}

TEST_F(SessionWrite, RefusesToAppendToAnotherSessionOrOtherSamples) {
  create();
  const auto other = add(m_master, tests::sampleSession(), WriteMode::append);
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message(), HasSubstr("another session"));
  auto samples = storage::openSession(m_master);
  ASSERT_TRUE(samples.ok());
  samples.value().samples.ids = {"a", "b", "x"};
  EXPECT_FALSE(add(m_master, samples.value(), WriteMode::append).ok());
}

TEST_F(SessionWrite, AppendToNothingSaysSo) {
  const auto written = add(m_master, tests::sampleSession(), WriteMode::append);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message(), HasSubstr("does not exist"));
  EXPECT_TRUE(fs::is_empty(m_folder.path()));
}

TEST_F(SessionWrite, NeverOverwritesARunFileThatNoMasterNames) {
  fs::create_directory(m_master + ".d");
  tests::writeFile(m_master + ".d/run-0007.tensors.h5", "left by a crash");
  const session::Session session = create();
  EXPECT_EQ(session.runs[0].number, 8);
  EXPECT_EQ(tests::readFile(m_master + ".d/run-0007.tensors.h5"), "left by a crash");
}

TEST_F(SessionWrite, MakesRunFilesReadOnlyAndKeepsTheMastersPermissions) {
  const session::Session session = create();
  const auto mode = [](const std::string& path) {
    struct stat info {};
    ::stat(path.c_str(), &info);
    return info.st_mode & 0777;
  };
  EXPECT_EQ(mode(m_master + ".d/run-0001.metrics.h5") & 0222, 0U);
  EXPECT_EQ(mode(m_master + ".d/run-0001.tensors.h5") & 0222, 0U);
  fs::permissions(m_master, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(add(m_master, session, WriteMode::append).ok());
  EXPECT_EQ(mode(m_master), 0600U);
}

TEST_F(SessionWrite, LeavesAReadOnlyMasterAlone) {
  const session::Session session = create();
  const std::string before = tests::readFile(m_master);
  fs::permissions(m_master, fs::perms::owner_read);
  const auto written = add(m_master, session, WriteMode::append);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message(), HasSubstr("is read-only"));
  EXPECT_EQ(tests::readFile(m_master), before);
  EXPECT_FALSE(fs::exists(m_master + ".d/run-0002.metrics.h5"));
}

TEST_F(SessionWrite, ANameThatIsAFolderIsRefused) {
  fs::create_directory(m_master);
  for (const WriteMode mode : {WriteMode::create, WriteMode::append}) {
    const auto written = add(m_master, tests::sampleSession(), mode);
    ASSERT_FALSE(written.ok());
    EXPECT_THAT(written.error().message(), HasSubstr("is a folder"));
  }
  EXPECT_EQ(filesIn(m_folder.path()), std::vector<std::string>{"s.ulps"});
}

TEST_F(SessionWrite, AMissingParentFolderIsNamed) {
  const auto written = add(m_folder.file("none/s.ulps"), tests::sampleSession(), WriteMode::create);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message(), HasSubstr(m_folder.file("none")));
}

TEST_F(SessionWrite, AFileOrLinkInPlaceOfTheSessionsFolderIsRefused) {
  tests::writeFile(m_master + ".d", "a file");
  EXPECT_FALSE(add(m_master, tests::sampleSession(), WriteMode::create).ok());
  EXPECT_EQ(tests::readFile(m_master + ".d"), "a file");
  fs::remove(m_master + ".d");
  fs::create_directory(m_folder.file("elsewhere"));
  fs::create_directory_symlink(m_folder.file("elsewhere"), m_master + ".d");
  EXPECT_FALSE(add(m_master, tests::sampleSession(), WriteMode::create).ok());
  EXPECT_TRUE(fs::is_empty(m_folder.file("elsewhere")));
}

TEST_F(SessionWrite, CheckWritableAnswersBeforeARunAndLeavesNothing) {
  EXPECT_TRUE(storage::checkWritable(m_master, WriteMode::create).ok());
  EXPECT_TRUE(fs::is_empty(m_folder.path()));
  EXPECT_FALSE(storage::checkWritable(m_master, WriteMode::append).ok());
  create();
  EXPECT_FALSE(storage::checkWritable(m_master, WriteMode::create).ok());
  EXPECT_TRUE(storage::checkWritable(m_master, WriteMode::append).ok());
  EXPECT_FALSE(storage::checkWritable(m_folder.file("none/s.ulps"), WriteMode::create).ok());
}

TEST_F(SessionWrite, AWriterThatWaitsTooLongSaysWhoHoldsTheLock) {
  const auto held = storage::WriteLock::take(m_master + ".d");
  ASSERT_TRUE(held.ok());
  const auto second = storage::WriteLock::take(m_master + ".d", std::chrono::milliseconds(50));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message(), HasSubstr("process " + std::to_string(::getpid()) + " on "));
}

// Runs `body` in a child process; gives its exit status, or -signal.
template <typename Body>
int inChild(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// A limit on file size stands in for a full disk: write() fails after so many bytes, at every size in turn.
TEST_F(SessionWrite, AFullDiskLeavesTheOldSessionAndNoHalfFiles) {
  const session::Session session = create();
  const auto largest = fs::file_size(m_master);
  const std::string before = tests::readFile(m_master);
  const auto names = filesIn(m_folder.path());
  for (const rlim_t limit : {rlim_t{0}, rlim_t{4096}, static_cast<rlim_t>(fs::file_size(m_master + ".d/run-0001.tensors.h5")), static_cast<rlim_t>(largest)}) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(inChild([&] {
                std::signal(SIGXFSZ, SIG_IGN);
                const rlimit size{limit, limit};
                ::setrlimit(RLIMIT_FSIZE, &size);
                const auto written = add(m_master, session, WriteMode::append);
                return !written.ok() && written.error().message().find("free some space") != std::string::npos ? 0 : 1;
              }),
              0);
    EXPECT_EQ(tests::readFile(m_master), before);
    EXPECT_EQ(filesIn(m_folder.path()), names);
  }
}

TEST_F(SessionWrite, AFullDiskLeavesNothingOfANewSession) {
  EXPECT_EQ(inChild([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit size{5000, 5000};
              ::setrlimit(RLIMIT_FSIZE, &size);
              return add(m_master, tests::sampleSession(), WriteMode::create).ok() ? 1 : 0;
            }),
            0);
  EXPECT_TRUE(fs::is_empty(m_folder.path()));
}

// As a user without rights, since root may write everywhere.
TEST_F(SessionWrite, AFolderWithoutWriteRightsIsNamedAndNothingIsLeft) {
  const session::Session session = create();
  const std::string before = tests::readFile(m_master);
  fs::permissions(m_folder.path(), fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(m_master, fs::perms::all);
  constexpr uid_t kNobody = 65534;
  const auto refused = [&](const std::string& master, WriteMode mode) {
    return inChild([&] {
      if (::getuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) return 2;
      if (::getuid() != kNobody) fs::permissions(m_folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
      const auto written = add(master, session, mode);
      return !written.ok() && written.error().message().find("Permission denied") != std::string::npos ? 0 : 1;
    });
  };
  EXPECT_EQ(refused(m_folder.file("new.ulps"), WriteMode::create), 0);
  EXPECT_EQ(refused(m_master, WriteMode::append), 0);
  fs::permissions(m_folder.path(), fs::perms::owner_all);
  EXPECT_EQ(tests::readFile(m_master), before);
  EXPECT_FALSE(fs::exists(m_folder.file("new.ulps.d")));
}

TEST_F(SessionWrite, WritersAtOnceLoseNothing) {
  constexpr int kWriters = 4, kRunsEach = 6;
  const session::Session session = create();
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool allWritten = true;
      for (int i = 0; i < kRunsEach; ++i)
        allWritten = add(m_master, session, WriteMode::append, std::to_string(writer) + "." + std::to_string(i)).ok() && allWritten;
      ::_exit(allWritten ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto read = storage::openSession(m_master);
  ASSERT_TRUE(read.ok()) << read.error().message();
  std::set<std::string> warnings;
  for (const session::RunRecord& run : read->runs) {
    warnings.insert(run.warnings[0]);
    EXPECT_TRUE(storage::readMetrics(m_master, read.value(), run.id()).ok()) << run.id();
  }
  EXPECT_EQ(warnings.size(), 1U + kWriters * kRunsEach);
  EXPECT_EQ(read->generation, 1 + kWriters * kRunsEach);
}

TEST_F(SessionWrite, OnlyOneOfTwoCreatorsMakesTheSession) {
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(add(m_master, tests::sampleSession(), WriteMode::create).ok() ? 0 : 1);
    children.push_back(child);
  }
  int created = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    created += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  EXPECT_EQ(created, 1);
  EXPECT_TRUE(storage::openSession(m_master).ok());
}

// A writer is killed at many moments of its work; what was there before stays readable and grows on.
TEST_F(SessionWrite, AKilledWriterLeavesTheSessionReadable) {
  create();
  std::size_t known = 1;
  // Later and later, until writers have got through now and then, however slow the machine is.
  for (int kills = 0; kills < 20 || (known < 4 && kills < 200); ++kills) {
    const int delayUs = kills * 15000;
    SCOPED_TRACE(delayUs);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        const auto now = storage::openSession(m_master);
        if (!now.ok() || !add(m_master, now.value(), WriteMode::append).ok()) ::_exit(1);
      }
    }
    ::usleep(static_cast<useconds_t>(delayUs));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
    const auto read = storage::openSession(m_master);
    ASSERT_TRUE(read.ok()) << read.error().message();
    ASSERT_GE(read->runs.size(), known);
    known = read->runs.size();
    ASSERT_TRUE(storage::readMetrics(m_master, read.value(), read->latest()->id()).ok());
  }
  EXPECT_GE(known, 4U) << "no writer ever got through, so the test shows nothing";
  const auto last = add(m_master, storage::openSession(m_master).value(), WriteMode::append);
  EXPECT_TRUE(last.ok()) << last.error().message();
}

}  // namespace
