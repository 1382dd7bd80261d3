#include "core/storage/scan_store.h"

#include "core/storage/session_care.h"
#include "core/storage/session_pack.h"
#include "core/storage/training_store.h"
#include "tests/core/session/sample_scan.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

using namespace ulpscope;
using session::Session;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

namespace fs = std::filesystem;

class ScanStore : public testing::Test {
 protected:
  ScanStore() {
    m_session = storage::newSession("digits");
    m_session.samples.ids = {"a", "b"};
    m_session.samples.sha256 = "inputs";
    m_session.model.fingerprint.weightsSha256 = "weights";
    storage::RunMetrics metrics;
    metrics[session::Metric::maxAbs] = {0, 2, {}};
    metrics[session::Metric::relL2] = {0, 2, {}};
    auto made = storage::addRun(m_path, m_session, {}, metrics, {}, storage::WriteMode::create);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message());
    m_session = std::move(made).value();
  }
  std::string add(const session::Scan& scan) {
    auto added = storage::addScan(m_path, m_session, scan);
    return added ? "" : added.error().message();
  }
  storage::OpenedSession opened() {
    auto session = storage::openWithNotes(m_path);
    EXPECT_TRUE(session.ok()) << session.error().message();
    return std::move(session).value();
  }
  std::string fileOf(int number) const { return m_path + ".d/scan-000" + std::to_string(number) + ".json"; }
  std::string readFault(int number) {
    const auto read = storage::readScan(m_path, opened().session, number);
    return read ? "" : read.error().message();
  }
  void rewrite(int number, const std::string& text) const {
    fs::permissions(fileOf(number), fs::perms::owner_write, fs::perm_options::add);
    std::ofstream(fileOf(number), std::ios::binary) << text;
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("s.ulps");
  Session m_session;
};

TEST_F(ScanStore, AddsScansAndReadsThemBack) {
  EXPECT_EQ(add(tests::sampleScan()), "");
  EXPECT_EQ(add(tests::sampleScan(session::ScanKind::plane)), "") << "though the session was written since it was read";
  const auto now = opened();
  EXPECT_THAT(now.notes, IsEmpty());
  ASSERT_EQ(now.session.scans.size(), 2U);
  EXPECT_EQ(now.session.scans[1].number, 2);
  EXPECT_THAT(now.session.scans[1].title, HasSubstr("1 of 3 points flip"));
  EXPECT_EQ(now.session.generation, m_session.generation + 2);
  EXPECT_EQ(now.session.runs.size(), 1U);
  const auto scan = storage::readScan(m_path, now.session, 2);
  ASSERT_TRUE(scan.ok()) << scan.error().message();
  session::Scan expected = tests::sampleScan(session::ScanKind::plane);
  expected.number = 2;
  EXPECT_EQ(toJson(scan.value()), toJson(expected));
  EXPECT_THAT(readFault(3), HasSubstr("has no scan 3"));
}

TEST_F(ScanStore, RefusesASessionThatIsAnotherNow) {
  m_session.model.fingerprint.weightsSha256 = "others";
  EXPECT_THAT(add(tests::sampleScan()), HasSubstr("holds another model or other samples"));
  m_session.id = "another";
  EXPECT_THAT(add(tests::sampleScan()), HasSubstr("is another session than the one that was opened"));
  EXPECT_THAT(opened().session.scans, IsEmpty());
  m_path = m_folder.file("none.ulps");
  EXPECT_THAT(add(tests::sampleScan()), HasSubstr("does not exist"));
  EXPECT_FALSE(fs::exists(m_path + ".d"));
}

TEST_F(ScanStore, LeavesNothingWhereTheSessionIsReadOnly) {
  fs::permissions(m_path, fs::perms::owner_read);
  EXPECT_THAT(add(tests::sampleScan()), HasSubstr("is read-only"));
  EXPECT_FALSE(fs::exists(fileOf(1)));
}

TEST_F(ScanStore, SaysWhatBecameOfAFile) {
  EXPECT_EQ(add(tests::sampleScan()), "");
  rewrite(1, "{}");
  EXPECT_THAT(readFault(1), HasSubstr("scan-0001.json: is damaged"));
  fs::remove(fileOf(1));
  EXPECT_THAT(readFault(1), HasSubstr("scan-0001.json: is missing; it holds scan 1"));
  EXPECT_THAT(opened().notes, ElementsAre(HasSubstr("scan-0001.json: is missing")));
  fs::create_symlink("/etc/hostname", fileOf(1));
  EXPECT_NE(readFault(1), "");
}

TEST_F(ScanStore, AdoptsAScanThatNoMasterNames) {
  const std::string before = m_folder.file("before.ulps");
  fs::copy_file(m_path, before);
  EXPECT_EQ(add(tests::sampleScan()), "");
  fs::copy_file(before, m_path, fs::copy_options::overwrite_existing);
  const auto now = opened();
  ASSERT_EQ(now.session.scans.size(), 1U);
  EXPECT_THAT(now.notes, ElementsAre(HasSubstr("scan-0001.json: is complete, but s.ulps does not name it yet")));
  const auto repaired = storage::repairSession(m_path);
  ASSERT_TRUE(repaired.ok());
  EXPECT_THAT(repaired.value(), testing::Contains(HasSubstr("adopted scan 1")));
  EXPECT_THAT(opened().notes, IsEmpty());
}

// A file in the session's folder that says what no scan of it says: named, set aside by the next writer, and never taken.
TEST_F(ScanStore, SetsAsideWhatIsNoScan) {
  const std::string deep(200'000, '[');
  for (const std::string& text : {std::string("{}"), std::string("no json"), deep, toJson(tests::sampleScan()).dump()}) {
    std::ofstream(fileOf(1), std::ios::binary) << text;
    EXPECT_THAT(opened().session.scans, IsEmpty());
    EXPECT_THAT(opened().notes, ElementsAre(HasSubstr("scan-0001.json: "))) << text.substr(0, 40);
    const auto repaired = storage::repairSession(m_path);
    ASSERT_TRUE(repaired.ok());
    EXPECT_FALSE(fs::exists(fileOf(1)));
  }
  EXPECT_EQ(add(tests::sampleScan()), "");
  EXPECT_EQ(opened().session.scans.front().number, 2) << "a number that was set aside is not used again";
}

TEST_F(ScanStore, LeavesAScanOfAnotherSessionWhereItIs) {
  nlohmann::json foreign = toJson(tests::sampleScan());
  foreign["number"] = 1;
  foreign["session_id"] = "another";
  std::ofstream(fileOf(1), std::ios::binary) << foreign.dump();
  EXPECT_THAT(opened().notes, ElementsAre(HasSubstr("scan-0001.json: belongs to another session")));
  ASSERT_TRUE(storage::repairSession(m_path).ok());
  EXPECT_TRUE(fs::exists(fileOf(1)));
}

TEST_F(ScanStore, ARunAndATrainingKeepTheScans) {
  EXPECT_EQ(add(tests::sampleScan()), "");
  storage::RunMetrics metrics;
  metrics[session::Metric::maxAbs] = {0, 2, {}};
  metrics[session::Metric::relL2] = {0, 2, {}};
  auto more = storage::addRun(m_path, opened().session, {}, metrics, {}, storage::WriteMode::append);
  ASSERT_TRUE(more.ok()) << more.error().message();
  EXPECT_EQ(more->scans.size(), 1U);
  session::Training training;
  training.recipe = "{}";
  ASSERT_TRUE(storage::addTraining(m_path, more.value(), training, storage::WriteMode::append).ok());
  EXPECT_EQ(opened().session.scans.size(), 1U);
  EXPECT_EQ(opened().session.trainings.size(), 1U);
}

TEST_F(ScanStore, TravelsInAPack) {
  EXPECT_EQ(add(tests::sampleScan()), "");
  const auto packed = storage::packSession(m_path, m_folder.file("s.zip"), storage::Tensors::included);
  ASSERT_TRUE(packed.ok()) << packed.error().message();
  m_path = m_folder.file("there.ulps");
  const auto unpacked = storage::unpackSession(m_folder.file("s.zip"), m_path);
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message();
  EXPECT_EQ(readFault(1), "");
}

}  // namespace
