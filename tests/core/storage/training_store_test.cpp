#include "core/storage/training_store.h"
#include "core/base/hashing.h"
#include "core/storage/run_writer.h"
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

// The master as it was before the second training was named: what a crash, or a writer that knows no trainings, leaves.
TEST_F(TrainingStore, AdoptsACompleteTrainingThatNoMasterNames) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  const std::string before = tests::readFile(m_path);
  EXPECT_EQ(add(training("bfloat16"), WriteMode::append), "");
  const Session named = opened();
  std::filesystem::remove(m_path);
  tests::writeFile(m_path, before);
  const auto found = storage::openWithNotes(m_path);
  ASSERT_EQ(found->session.trainings.size(), 2U);
  EXPECT_EQ(found->session.trainings[1].title, named.trainings[1].title);
  EXPECT_EQ(found->session.trainings[1].sha256, named.trainings[1].sha256);
  EXPECT_THAT(found->notes, ElementsAre(HasSubstr("train-0002.json: is complete, but t.ulps does not name it yet")));
  EXPECT_TRUE(storage::readTraining(m_path, found->session, 2).ok());
  EXPECT_THAT(storage::repairSession(m_path).value(), ElementsAre("adopted training 2, which was complete but not named"));
  EXPECT_EQ(opened().trainings.size(), 2U);
  EXPECT_THAT(storage::repairSession(m_path).value(), IsEmpty());
}

TEST_F(TrainingStore, LeavesATrainingOfAnotherSessionWhereItIs) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  const std::string other = m_folder.file("other.ulps");
  ASSERT_TRUE(storage::addTraining(other, storage::newSession("other"), training("float16"), WriteMode::create).ok());
  std::filesystem::copy_file(other + ".d/train-0001.json", m_path + ".d/train-0002.json");
  const auto found = storage::openWithNotes(m_path);
  EXPECT_EQ(found->session.trainings.size(), 1U);
  EXPECT_THAT(found->notes, ElementsAre("train-0002.json: says that it is training 1")) << "renamed by hand";
  std::filesystem::remove(m_path + ".d/train-0002.json");
  ASSERT_TRUE(storage::addTraining(other, storage::openSession(other).value(), training("float16"), WriteMode::append).ok());
  std::filesystem::copy_file(other + ".d/train-0002.json", m_path + ".d/train-0002.json");
  EXPECT_THAT(storage::repairSession(m_path).value(), ElementsAre("train-0002.json: belongs to another session; left as it is"));
  EXPECT_EQ(storage::openSession(m_path)->trainings.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(m_path + ".d/train-0002.json"));
}

TEST_F(TrainingStore, RepairNamesADamagedFileAndRemovesParts) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  const std::string file = m_path + ".d/train-0001.json";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  std::ofstream(file, std::ios::app) << " ";
  tests::writeFile(m_path + ".d/train-0008.json.part", "{");
  EXPECT_THAT(storage::repairSession(m_path).value(),
              ElementsAre(HasSubstr("removed " + m_path + ".d/train-0008.json.part, left by an interrupted write"), HasSubstr("train-0001.json: is damaged: its SHA-256 is not the one that the session names")));
  EXPECT_FALSE(std::filesystem::exists(m_path + ".d/train-0008.json.part"));
}

TEST_F(TrainingStore, SaysWhatAMissingFolderHeld) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  std::filesystem::rename(m_path + ".d", m_folder.file("elsewhere"));
  EXPECT_THAT(storage::openWithNotes(m_path)->notes, ElementsAre(HasSubstr("t.ulps.d: is missing; it holds the records of 1 training")));
  EXPECT_THAT(add(training("float16"), WriteMode::append), HasSubstr("is missing; it holds the records of 1 training"));
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

// A session without a run is not one that holds nothing.
TEST_F(TrainingStore, SurvivesARunThatFails) {
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  const std::string before = tests::readFile(m_path);
  {
    auto run = storage::RunWriter::begin(m_path, opened(), WriteMode::append);
    ASSERT_TRUE(run.ok()) << run.error().message();
  }
  EXPECT_EQ(tests::readFile(m_path), before);
  EXPECT_TRUE(storage::readTraining(m_path, opened(), 1).ok());
}

TEST_F(TrainingStore, StaysWhereTheRunThatMadeItsSessionFails) {
  {
    auto run = storage::RunWriter::begin(m_path, m_session, WriteMode::share);
    ASSERT_TRUE(run.ok()) << run.error().message();
    EXPECT_EQ(add(training("float16"), WriteMode::append), "");
  }
  ASSERT_TRUE(std::filesystem::exists(m_path));
  EXPECT_TRUE(storage::readTraining(m_path, opened(), 1).ok());
}

// Whoever made it, a crash for instance: it was there before the run.
TEST_F(TrainingStore, ARunThatFailsLeavesAnEmptySessionThatItDidNotMake) {
  const std::string kept = m_folder.file("kept.ulps");
  {
    auto maker = storage::RunWriter::begin(m_path, m_session, WriteMode::share);
    ASSERT_TRUE(maker.ok());
    std::filesystem::copy_file(m_path, kept);
  }
  std::filesystem::create_directory(kept + ".d");
  { auto run = storage::RunWriter::begin(kept, m_session, WriteMode::append); ASSERT_TRUE(run.ok()) << run.error().message(); }
  EXPECT_TRUE(std::filesystem::exists(kept));
}

TEST_F(TrainingStore, AnswersBeforeTheFirstStepWhetherATrainingFits) {
  EXPECT_TRUE(storage::checkTrainingFits(m_path, m_session).ok()) << "no session yet";
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  EXPECT_TRUE(storage::checkTrainingFits(m_path, m_session).ok());
  m_session.samples.sha256 = "others";
  EXPECT_THAT(storage::checkTrainingFits(m_path, m_session).error().message(), HasSubstr("t.ulps: is a session of other inputs"));
  m_session.model.fingerprint.weightsSha256 = "others";
  EXPECT_THAT(storage::checkTrainingFits(m_path, m_session).error().message(), HasSubstr("t.ulps: is a session of another model"));
}

TEST_F(TrainingStore, KeepsTheCriteriaOfTheFirstTrainingThatHadAny) {
  const std::string strict = R"({"max_skip_rate":0.1})", wide = R"({"max_skip_rate":0.9})";
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  EXPECT_TRUE(storage::criteriaForTraining(m_path, {"", ""}).value().empty()) << "none so far";
  m_session.trainingCriteria = storage::criteriaForTraining(m_path, {strict, ""}).value();
  EXPECT_EQ(add(training("float16"), WriteMode::append), "");
  ASSERT_EQ(opened().trainingCriteria.size(), 1U);
  EXPECT_EQ(opened().trainingCriteria[0].canonical, strict);
  EXPECT_TRUE(opened().trainingCriteria[0].afterResults) << "there was a training without criteria before";
  EXPECT_EQ(storage::criteriaForTraining(m_path, {strict, ""}).value().size(), 1U);
  EXPECT_EQ(storage::criteriaForTraining(m_path, {"", ""}).value().size(), 1U) << "held against the same";
  const auto refused = storage::criteriaForTraining(m_path, {wide, ""});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(refused.error().message(), testing::AllOf(HasSubstr("t.ulps: "), HasSubstr(base::sha256(strict).substr(0, 12)), HasSubstr(base::sha256(wide).substr(0, 12)), HasSubstr("--revise-criteria")));
  m_session.trainingCriteria = storage::criteriaForTraining(m_path, {wide, "the first limit was a guess"}).value();
  EXPECT_EQ(add(training("float16"), WriteMode::append), "");
  const Session revised = opened();
  ASSERT_EQ(revised.trainingCriteria.size(), 2U);
  EXPECT_EQ(revised.trainingCriteria[1].reason, "the first limit was a guess");
  EXPECT_EQ(session::afterResultsText(revised.trainingCriteria[1]), "revised after results: the first limit was a guess");
  EXPECT_FALSE(storage::criteriaForTraining(m_path, {wide, "again"}).ok()) << "nothing is revised";
}

TEST_F(TrainingStore, FindsTheCriteriaOfASessionThatWasWrittenBeforeTheyWereLocked) {
  Training judged = training("float16");
  auto recipe = nlohmann::json::parse(judged.recipe);
  recipe["criteria"] = {{"max_skip_rate", 1e-1}, {"no_alarm", false}};
  judged.recipe = recipe.dump();
  EXPECT_EQ(add(judged, WriteMode::create), "");
  EXPECT_TRUE(opened().trainingCriteria.empty());
  EXPECT_TRUE(storage::criteriaForTraining(m_path, {R"({"max_skip_rate":0.1})", ""}).ok()) << "the same limits, written otherwise";
  EXPECT_FALSE(storage::criteriaForTraining(m_path, {R"({"max_skip_rate":0.2})", ""}).ok());
}

// Two at the same time: the second was judged by what is no longer the session's.
TEST_F(TrainingStore, GivesNoVerdictByCriteriaThatAnotherTrainingReplacedMeanwhile) {
  const auto mine = storage::criteriaForTraining(m_path, {R"({"max_skip_rate":0.9})", ""}).value();
  m_session.trainingCriteria = storage::criteriaForTraining(m_path, {R"({"max_skip_rate":0.1})", ""}).value();
  EXPECT_EQ(add(training("float16"), WriteMode::create), "");
  m_session.trainingCriteria = mine;
  Training late = training("float16");
  late.verdict.emplace().status = session::JudgedAs::pass;
  EXPECT_EQ(add(late, WriteMode::append), "");
  EXPECT_EQ(opened().trainingCriteria[0].canonical, R"({"max_skip_rate":0.1})");
  const auto read = storage::readTraining(m_path, opened(), 2);
  EXPECT_EQ(read->verdict->status, session::JudgedAs::notEvaluated);
  EXPECT_THAT(read->verdict->reason, HasSubstr("meanwhile"));
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
