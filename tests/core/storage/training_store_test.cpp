#include "core/storage/training_store.h"
#include "core/storage/session_care.h"
#include "core/storage/session_pack.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

using namespace ulpscope;
using session::Session;
using session::Training;
using storage::WriteMode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

Training training(const std::string& dtype) {
  Training t;
  t.recipe = nlohmann::json{{"model", "m.ts"}, {"inputs", "i.h5"}, {"loss", "output"}, {"steps", 2}, {"optimizers", {{{"type", "SGD"}, {"lr", 0.1}}}}, {"autocast", {{"dtype", dtype}}}}.dump();
  session::Trajectory run;
  run.name = "recipe";
  run.autocast = run.scaling = true;
  run.steps = 2;
  session::LedgerLine line;
  line.optimizer = "optimizer";
  line.skipped = true;
  run.ledger = {line, line};
  run.ledger[1].step = 1;
  run.ledger[1].skipped = false;
  t.runs = {run};
  return t;
}

class TrainingStore : public testing::Test {
 protected:
  TrainingStore() {
    m_session = storage::newSession("digits");
    m_session.samples.ids = {"a", "b"};
    m_session.samples.sha256 = "inputs";
    m_session.model.fingerprint.weightsSha256 = "weights";
  }
  std::string add(const Training& t, WriteMode mode) {
    auto added = storage::addTraining(m_path, m_session, t, mode);
    return added ? "" : added.error().message();
  }
  Session opened() {
    auto session = storage::openWithNotes(m_path);
    EXPECT_TRUE(session.ok()) << session.error().message();
    EXPECT_THAT(session->notes, IsEmpty());
    return session->session;
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("t.ulps");
  Session m_session;
};

TEST_F(TrainingStore, MakesASessionAndAddsToIt) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  EXPECT_EQ(add(training("bfloat16"), WriteMode::append), "");
  const Session session = opened();
  ASSERT_EQ(session.trainings.size(), 2U);
  EXPECT_EQ(session.trainings[0].title, "FP16, scaler, 1 of 2 steps skipped");
  EXPECT_EQ(session.trainings[1].number, 2);
  EXPECT_EQ(session.trainings[1].title, "BF16, scaler, 1 of 2 steps skipped");
  EXPECT_EQ(session.generation, 2);
  const auto read = storage::readTraining(m_path, session, 2);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->number, 2);
  EXPECT_FALSE(read->createdUtc.empty());
  EXPECT_EQ(read->runs[0].skipped().at("optimizer"), std::vector<std::int64_t>{0});
}

TEST_F(TrainingStore, RefusesWhatDoesNotBelongThere) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  EXPECT_THAT(add(training("float16"), WriteMode::create), HasSubstr("exists already; use --append"));
  m_session.samples.sha256 = "others";
  EXPECT_THAT(add(training("float16"), WriteMode::append), HasSubstr("is a session of other inputs"));
  m_session.model.fingerprint.weightsSha256 = "others";
  EXPECT_THAT(add(training("float16"), WriteMode::append), HasSubstr("is a session of another model"));
  EXPECT_EQ(opened().trainings.size(), 1U);
  m_path = m_folder.file("none/t.ulps");
  EXPECT_THAT(add(training("float16"), WriteMode::create), HasSubstr("none: does not exist"));
}

TEST_F(TrainingStore, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  const Session session = opened();
  EXPECT_THAT(storage::readTraining(m_path, session, 2).error().message(), HasSubstr("has no training 2"));
  const std::string file = m_path + ".d/train-0001.json";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  std::ofstream(file, std::ios::app) << " ";
  EXPECT_THAT(storage::readTraining(m_path, session, 1).error().message(), HasSubstr("train-0001.json: is damaged"));
  std::filesystem::remove(file);
  EXPECT_THAT(storage::readTraining(m_path, session, 1).error().message(), HasSubstr("train-0001.json: is missing"));
  EXPECT_THAT(storage::openWithNotes(m_path)->notes, ElementsAre(HasSubstr("train-0001.json: is missing; it holds training 1")));
}

// A crash between the file and the master leaves a number that is not used again.
TEST_F(TrainingStore, TakesNoNumberThatAFileHas) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  tests::writeFile(m_path + ".d/train-0002.json", "left over");
  EXPECT_EQ(add(training("float16"), WriteMode::append), "");
  EXPECT_EQ(opened().trainings[1].number, 3);
}

TEST_F(TrainingStore, TravelsInAPack) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  const auto packed = storage::packSession(m_path, m_folder.file("t.zip"), storage::Tensors::included);
  ASSERT_TRUE(packed.ok()) << packed.error().message();
  const auto unpacked = storage::unpackSession(m_folder.file("t.zip"), m_folder.file("copy.ulps"));
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message();
  const auto session = storage::openSession(m_folder.file("copy.ulps"));
  EXPECT_TRUE(storage::readTraining(m_folder.file("copy.ulps"), session.value(), 1).ok());
}

TEST_F(TrainingStore, SharesASessionWithRuns) {
  EXPECT_EQ(add(training("float16"), WriteMode::share), "");
  EXPECT_EQ(add(training("float16"), WriteMode::share), "") << "made by another meanwhile";
  const Session before = opened();
  const auto edited = storage::addTraining(m_path, before, training("float16"), WriteMode::append);
  ASSERT_TRUE(edited.ok());
  EXPECT_EQ(edited->trainings.size(), 3U);
  EXPECT_EQ(edited->id, before.id);
}

}  // namespace
