// Trainings that keep their number from the start, their folders of checkpoints, and what a crash leaves of them.
#include "core/storage/checkpoint_folders.h"
#include "core/storage/session_care.h"
#include "core/storage/session_pack.h"
#include "core/storage/session_paths.h"
#include "core/storage/training_store.h"
#include "tests/core/storage/sample_checkpoint.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

using namespace ulpscope;
using storage::WriteMode;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

namespace {

class CheckpointFolders : public testing::Test {
 protected:
  CheckpointFolders() {
    m_session = storage::newSession("digits");
    m_session.samples.ids = {"a", "b"};
    m_session.samples.sha256 = "inputs";
    m_session.model.fingerprint.weightsSha256 = "weights";
  }
  int reserve(WriteMode mode) {
    const auto number = storage::reserveTraining(m_master, mode);
    EXPECT_TRUE(number.ok()) << number.error().message();
    return number ? number.value() : -1;
  }
  std::string add(session::Training training, WriteMode mode) {
    const auto added = storage::addTraining(m_master, m_session, std::move(training), mode);
    return added ? "" : added.error().message();
  }
  std::string add(int number, WriteMode mode) {
    session::Training training;
    training.number = number;
    return add(training, mode);
  }
  // A checkpoint of the training, as its record names it.
  session::CheckpointEntry write(int number, std::int64_t step) {
    storage::TrainingCheckpoint checkpoint = tests::sampleCheckpoint();
    checkpoint.step = step;
    const std::string name = storage::checkpointFileName(step);
    const auto sum = storage::writeCheckpoint(folder(number) + "/" + name, checkpoint);
    EXPECT_TRUE(sum.ok()) << sum.error().message();
    return {step, name, sum ? sum.value() : "", true};
  }
  std::vector<int> numbers() {
    std::vector<int> numbers;
    const auto session = storage::openSession(m_master);
    EXPECT_TRUE(session.ok()) << session.error().message();
    for (const auto& entry : session->trainings) {
      numbers.push_back(entry.number);
      const auto training = storage::readTraining(m_master, session.value(), entry.number);
      EXPECT_TRUE(training.ok() && training->number == entry.number);
    }
    return numbers;
  }
  std::vector<std::string> repaired(const std::string& master) {
    const auto lines = storage::repairSession(master);
    EXPECT_TRUE(lines.ok()) << lines.error().message();
    return lines ? lines.value() : std::vector<std::string>{};
  }
  // The first training of a session, killed when it had written these checkpoints and a part of the next.
  void killFirstTraining() {
    const pid_t child = ::fork();
    if (child == 0) {
      if (reserve(WriteMode::create) != 1) ::_exit(1);
      write(1, 20);
      write(1, 40);
      tests::writeFile(folder(1) + "/step-00000060.h5.part", "half");
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  void expectKept() {
    for (const char* name : {"step-00000020.h5", "step-00000040.h5"}) EXPECT_TRUE(storage::readCheckpoint(folder(1) + "/" + name).ok()) << name;
    EXPECT_TRUE(fs::exists(folder(1) + "/step-00000060.h5.part")) << "nothing is deleted";
  }
  std::string folder(int number) const { return storage::checkpointFolderPath(m_master, number); }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("t.ulps");
  session::Session m_session;
};

TEST_F(CheckpointFolders, HaveTheirNames) {
  EXPECT_EQ(folder(1), m_master + ".d/train-0001.checkpoints");
  EXPECT_EQ(storage::checkpointFileName(40), "step-00000040.h5");
  EXPECT_EQ(storage::checkpointFileName(1234567890123), "step-1234567890123.h5");
  EXPECT_EQ(storage::caseFileName(47), "case-00000047.json");
  EXPECT_EQ(storage::trainingNumberOfCheckpoints("train-0012.checkpoints"), 12);
  for (const char* name : {"train-12.checkpoints", "train-0000.checkpoints", "train-0012.checkpoint", "train-0012.json", "xtrain-0012.checkpoints", "train-00x2.checkpoints", "train--012.checkpoints", ""})
    EXPECT_EQ(storage::trainingNumberOfCheckpoints(name), std::nullopt) << name;
  EXPECT_EQ(storage::stepOfCheckpointFile("step-00000040.h5"), 40);
  EXPECT_EQ(storage::stepOfCheckpointFile("step-1234567890123.h5"), 1234567890123);
  for (const char* name : {"step-40.h5", "step-000000040.h5", "step-00000040.h5.part", "step-.h5", "step-0000004x.h5", "step-99999999999999999999.h5", "case-00000040.h5", ""})
    EXPECT_EQ(storage::stepOfCheckpointFile(name), std::nullopt) << name;
}

TEST_F(CheckpointFolders, KeepANumberForATraining) {
  EXPECT_EQ(reserve(WriteMode::create), 1);
  EXPECT_TRUE(fs::is_directory(folder(1)));
  EXPECT_FALSE(fs::exists(m_master));
  EXPECT_EQ(reserve(WriteMode::share), 2);
  EXPECT_EQ(add(2, WriteMode::share), "");
  EXPECT_EQ(add(0, WriteMode::append), "") << "one that was not kept";
  EXPECT_THAT(numbers(), ElementsAre(2, 3));
  EXPECT_EQ(reserve(WriteMode::append), 4);
  EXPECT_EQ(add(1, WriteMode::append), "") << "the first to begin is the last to end";
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3));
  EXPECT_EQ(add(0, WriteMode::append), "");
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 5)) << "4 is still somebody's";
}

TEST_F(CheckpointFolders, AreNotMadeWhereNoTrainingCouldBeStored) {
  EXPECT_EQ(add(0, WriteMode::create), "");
  const auto refused = storage::reserveTraining(m_master, WriteMode::create);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, base::ErrorKind::usage);
  EXPECT_FALSE(storage::reserveTraining(m_folder.file("none.ulps"), WriteMode::append).ok());
  EXPECT_FALSE(storage::reserveTraining(m_folder.file("none/t.ulps"), WriteMode::create).ok());
  EXPECT_FALSE(fs::exists(m_folder.file("none.ulps.d")));
  EXPECT_THAT(storage::checkpointFolders(m_master), IsEmpty());
  tests::writeFile(m_master + ".d/train-9999.json", "the last");
  EXPECT_THAT(storage::reserveTraining(m_master, WriteMode::append).error().message(), HasSubstr("holds as many trainings as a session can"));
}

TEST_F(CheckpointFolders, ATrainingWhoseNumberSomebodyTookIsRefusedAndChangesNothing) {
  EXPECT_EQ(add(0, WriteMode::create), "");
  const int number = reserve(WriteMode::append);
  tests::writeFile(storage::trainingFilePath(m_master, number), "of somebody else");
  const std::string before = tests::readFile(m_master);
  session::Training training;
  training.number = number;
  const auto added = storage::addTraining(m_master, m_session, training, WriteMode::append);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().kind, base::ErrorKind::run);
  EXPECT_THAT(added.error().message(), HasSubstr("train-0002.json: stands already"));
  EXPECT_THAT(add(1, WriteMode::append), HasSubstr("train-0001.json: stands already"));
  EXPECT_EQ(tests::readFile(m_master), before);
  EXPECT_EQ(tests::readFile(storage::trainingFilePath(m_master, number)), "of somebody else");
}

TEST_F(CheckpointFolders, ProcessesAtOnceKeepNumbersOfTheirOwn) {
  constexpr int kProcesses = 4, kEach = 10;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::string numbers;
      for (int k = 0; k < kEach; ++k) numbers += std::to_string(reserve(WriteMode::share)) + "\n";
      tests::writeFile(m_folder.file("numbers" + std::to_string(i)), numbers);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  std::multiset<int> numbers;
  for (int i = 0; i < kProcesses; ++i) {
    std::stringstream text(tests::readFile(m_folder.file("numbers" + std::to_string(i))));
    for (int number = 0; text >> number;) numbers.insert(number);
  }
  ASSERT_EQ(numbers.size(), static_cast<std::size_t>(kProcesses * kEach));
  int expected = 0;
  for (const int number : numbers) EXPECT_EQ(number, ++expected);
  EXPECT_EQ(storage::checkpointFolders(m_master).size(), numbers.size());
}

TEST_F(CheckpointFolders, AreGivenBackOnlyWhereTheyAreEmpty) {
  EXPECT_EQ(reserve(WriteMode::create), 1);
  storage::releaseTraining(m_master, 1);
  EXPECT_FALSE(fs::exists(m_master + ".d")) << "as if nothing had been";
  storage::releaseTraining(m_master, 1);
  EXPECT_TRUE(fs::is_empty(m_folder.path()));
  EXPECT_EQ(reserve(WriteMode::create), 1);
  EXPECT_EQ(reserve(WriteMode::create), 2);
  write(2, 8);
  storage::releaseTraining(m_master, 2);
  storage::releaseTraining(m_master, 1);
  EXPECT_FALSE(fs::exists(folder(1)));
  EXPECT_TRUE(storage::readCheckpoint(folder(2) + "/step-00000008.h5").ok());
  EXPECT_EQ(add(0, WriteMode::create), "");
  EXPECT_EQ(reserve(WriteMode::append), 4);
  storage::releaseTraining(m_master, 4);
  EXPECT_FALSE(fs::exists(folder(4)));
  EXPECT_THAT(numbers(), ElementsAre(3)) << "the session stands";
}

TEST_F(CheckpointFolders, OfAKilledFirstTrainingAreNamedAndBlockNothing) {
  killFirstTraining();
  const auto named = AllOf(HasSubstr("train-0001.checkpoints: holds 2 checkpoints"), HasSubstr("did not come to its end"),
                           HasSubstr("--resume " + folder(1) + "/step-00000040.h5"), Not(HasSubstr("\n")));
  EXPECT_THAT(storage::openSession(m_master).error().message(), AllOf(HasSubstr("t.ulps: does not exist; "), named));
  EXPECT_THAT(repaired(m_master), ElementsAre(named));
  EXPECT_THAT(storage::removeDeadParts(m_master).value(), IsEmpty());
  expectKept();
  EXPECT_EQ(reserve(WriteMode::create), 2);
  EXPECT_EQ(add(2, WriteMode::create), "");
  EXPECT_THAT(numbers(), ElementsAre(2));
  EXPECT_THAT(storage::openWithNotes(m_master)->notes, ElementsAre(named));
  EXPECT_THAT(repaired(m_master), ElementsAre(named));
  expectKept();
}

TEST_F(CheckpointFolders, OfAKilledFirstTrainingLeaveTheSessionToRuns) {
  killFirstTraining();
  const auto sample = tests::sampleRun();
  ASSERT_TRUE(storage::checkWritable(m_master, WriteMode::create).ok());
  const auto added = storage::addRun(m_master, tests::sampleSession(), sample.run, sample.metrics, sample.outputs, WriteMode::share);
  ASSERT_TRUE(added.ok()) << added.error().message();
  expectKept();
  EXPECT_EQ(reserve(WriteMode::append), 2);
}

TEST_F(CheckpointFolders, AreReadWhenTheSessionIsRepaired) {
  session::Training training;
  training.number = reserve(WriteMode::create);
  training.checkpoints = {write(1, 20), write(1, 40), write(1, 60)};
  EXPECT_EQ(add(training, WriteMode::create), "");
  EXPECT_THAT(repaired(m_master), IsEmpty());
  fs::remove(folder(1) + "/step-00000020.h5");
  fs::permissions(folder(1) + "/step-00000040.h5", fs::perms::owner_all);
  std::string bytes = tests::readFile(folder(1) + "/step-00000040.h5");
  bytes[bytes.size() / 2] ^= 1;
  tests::writeFile(folder(1) + "/step-00000040.h5", bytes);
  EXPECT_THAT(repaired(m_master), ElementsAre(HasSubstr("step-00000020.h5: is missing; training 1 names it"),
                                              AllOf(HasSubstr("step-00000040.h5: is damaged"), HasSubstr("not the one that training 1 names"))));
}

TEST_F(CheckpointFolders, StayWhenASessionIsPacked) {
  session::Training training;
  training.number = reserve(WriteMode::create);
  training.checkpoints = {write(1, 20), write(1, 40)};
  EXPECT_EQ(add(training, WriteMode::create), "");
  const auto packed = storage::packSession(m_master, m_folder.file("t.zip"), storage::Tensors::included);
  ASSERT_TRUE(packed.ok()) << packed.error().message();
  EXPECT_THAT(packed->notes, ElementsAre(AllOf(HasSubstr("t.ulps.d/train-0001.checkpoints: left out (2 checkpoints, "), HasSubstr("KiB)"))));
  EXPECT_EQ(packed->files, 2);
  const std::string copy = m_folder.file("copy.ulps");
  const auto unpacked = storage::unpackSession(m_folder.file("t.zip"), copy);
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message();
  EXPECT_THAT(unpacked->notes, IsEmpty());
  EXPECT_THAT(repaired(copy), ElementsAre(HasSubstr("train-0001.checkpoints: is missing; it holds 2 checkpoints (`ulpscope pack` leaves them out)")));
}

TEST_F(CheckpointFolders, ThatAreLinksOrFilesAreNone) {
  EXPECT_EQ(add(0, WriteMode::create), "");
  fs::create_directory(m_folder.file("elsewhere"));
  fs::create_directory_symlink(m_folder.file("elsewhere"), folder(2));
  tests::writeFile(folder(3), "a file");
  EXPECT_THAT(storage::checkpointFolders(m_master), IsEmpty());
  EXPECT_EQ(reserve(WriteMode::append), 4) << "their numbers are not used all the same";
  storage::releaseTraining(m_master, 2);
  storage::releaseTraining(m_master, 3);
  EXPECT_TRUE(fs::is_directory(m_folder.file("elsewhere")));
  EXPECT_EQ(tests::readFile(folder(3)), "a file");
}

}  // namespace
