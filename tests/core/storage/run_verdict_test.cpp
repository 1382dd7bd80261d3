#include "core/storage/run_verdict.h"

#include "core/base/hashing.h"
#include "core/storage/run_writer.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace ulpscope::storage {
namespace {

using testing::HasSubstr;

session::Criteria criteria(double maxFlips) {
  return session::criteriaFromJson({{"schema", 1}, {"decisions", {{"max_flips", maxFlips}}}}).value();
}

session::Session locked(double maxFlips) {
  session::Session session = tests::sampleSession();
  const session::Criteria first = criteria(maxFlips);
  session.criteria = {{1, "2026-01-02T03:04:05Z", first.sha256, first.canonical, false, ""}};
  session.explored = session::Lineage{"other", "digits", 3, "abc", true};
  return session;
}

class LockedSession : public testing::Test {
 protected:
  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("s.ulps");
};

TEST_F(LockedSession, StandsOnTheDiskBeforeTheFirstRunAndStaysWhenThatFails) {
  {
    auto writer = RunWriter::begin(m_path, locked(0), WriteMode::create);
    ASSERT_TRUE(writer.ok()) << writer.error().message();
    const auto before = openSession(m_path);
    ASSERT_TRUE(before.ok());
    EXPECT_EQ(before->criteria.size(), 1U);
    EXPECT_TRUE(before->runs.empty());
  }
  const auto after = openSession(m_path);
  ASSERT_TRUE(after.ok()) << "a lock is never undone";
  EXPECT_EQ(after->criteria.front().sha256, criteria(0).sha256);
  EXPECT_EQ(after->explored->title, "digits");
  EXPECT_TRUE(after->criteriaAfterResults());
}

TEST_F(LockedSession, AnExploratoryOneLeavesNothingWhenItsRunFails) {
  { ASSERT_TRUE(RunWriter::begin(m_path, tests::sampleSession(), WriteMode::create).ok()); }
  EXPECT_FALSE(std::filesystem::exists(m_path));
}

TEST_F(LockedSession, ARevisionIsAddedAndSaysThatResultsWereKnown) {
  const auto sample = tests::sampleRun();
  const auto written = addRun(m_path, locked(0), sample.run, sample.metrics, sample.outputs, WriteMode::create);
  ASSERT_TRUE(written.ok()) << written.error().message();
  const auto revised = lockCriteria(m_path, criteria(2), "too strict");
  ASSERT_TRUE(revised.ok()) << revised.error().message();
  const auto read = openSession(m_path);
  ASSERT_EQ(read->criteria.size(), 2U);
  EXPECT_FALSE(read->criteria[0].afterResults);
  EXPECT_TRUE(read->criteria[1].afterResults);
  EXPECT_EQ(read->criteria[1].number, 2);
  EXPECT_EQ(read->criteria[1].reason, "too strict");
  EXPECT_EQ(read->runs.size(), 1U);
}

TEST_F(LockedSession, IsJudgedByTheLatestRevision) {
  session::Session session = locked(0);
  session.explored.reset();
  session::RunRecord run = tests::sampleRun().run;
  run.candidateError.reset();
  run.status = session::RunStatus::ok;
  run.referenceNonfinite.clear();
  run.settings.onlySamples.clear();
  run.probeCheck = "identical";
  const auto verdict = lockedVerdict(session, run, {});
  ASSERT_TRUE(verdict.ok()) << verdict.error().message();
  EXPECT_EQ(verdict->status, session::JudgedAs::fail) << verdict->reason;
  EXPECT_EQ(verdict->revision, 1);
  const session::Criteria wider = criteria(99);
  session.criteria.push_back({2, "", wider.sha256, wider.canonical, true, ""});
  EXPECT_EQ(lockedVerdict(session, run, {})->status, session::JudgedAs::pass);
}

TEST_F(LockedSession, WhoseCriteriaWereChangedIsRefused) {
  session::Session session = locked(0);
  session.criteria.front().canonical = criteria(99).canonical;
  const auto verdict = lockedVerdict(session, tests::sampleRun().run, {});
  ASSERT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.error().message(), HasSubstr("is not the text that was locked"));
}

TEST_F(LockedSession, RevisingWhatCannotBeWrittenIsAnErrorOfOneLine) {
  EXPECT_FALSE(lockCriteria(m_folder.file("none.ulps"), criteria(1), "").ok());
}

}  // namespace
}  // namespace ulpscope::storage
