#include "core/storage/benchmark_store.h"

#include "core/storage/run_edit.h"
#include "core/storage/run_verdict.h"
#include "core/storage/session_care.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/sample_benchmark.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace ulpscope;
using storage::RunEdit;
using storage::WriteMode;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class BenchmarkStore : public testing::Test {
 protected:
  BenchmarkStore() { addRun(tests::sampleSession(), WriteMode::create); }
  void addRun(const session::Session& session, WriteMode mode) {
    const auto sample = tests::sampleRun();
    const auto written = storage::addRun(m_master, session, sample.run, sample.metrics, sample.outputs, mode);
    ASSERT_TRUE(written.ok()) << written.error().message();
  }
  session::Session opened() {
    const auto session = storage::openWithNotes(m_master);
    EXPECT_TRUE(session.ok()) << session.error().message();
    EXPECT_THAT(session->notes, IsEmpty());
    return session->session;
  }
  base::Result<session::Session> add(double ratio = 2) { return storage::addBenchmark(m_master, opened().id, tests::sampleBenchmark(ratio)); }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
};

TEST_F(BenchmarkStore, KeepsEachWithItsNumberAndAllItsConditions) {
  const std::int64_t generation = opened().generation;
  ASSERT_TRUE(add(2).ok());
  const auto second = add(0.5);
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_EQ(second->benchmarks.back().number, 2);
  const session::Session now = opened();
  EXPECT_EQ(now.generation, generation + 2);
  ASSERT_EQ(now.benchmarks.size(), 2U);
  session::Benchmark expected = tests::sampleBenchmark(0.5);
  expected.number = 2;
  EXPECT_EQ(session::toJson(now.benchmarks[1]), session::toJson(expected));
}

TEST_F(BenchmarkStore, OutlivesWhateverElseIsWrittenToTheSession) {
  const session::Session before = opened();
  ASSERT_TRUE(add().ok());
  addRun(before, WriteMode::append);    // by who read the session before
  addRun(opened(), WriteMode::append);  // and by who knows of it
  ASSERT_TRUE(storage::editRun(m_master, before.id, {RunEdit::Kind::rename, "run_0001", "a name"}).ok());
  const session::Session now = opened();
  EXPECT_EQ(now.runs.size(), 3U);
  ASSERT_EQ(now.benchmarks.size(), 1U);
  EXPECT_EQ(session::toJson(now.benchmarks[0].conditions), session::toJson(tests::sampleBenchmark().conditions));
}

TEST_F(BenchmarkStore, IsRefusedByAnotherSessionAndWithoutItsRun) {
  EXPECT_THAT(storage::addBenchmark(m_master, "another", tests::sampleBenchmark()).error().message(), HasSubstr("is another session than the one whose run was timed"));
  addRun(opened(), WriteMode::append);
  ASSERT_TRUE(storage::editRun(m_master, opened().id, {RunEdit::Kind::remove, "run_0001"}).ok());
  const auto deleted = add();
  ASSERT_FALSE(deleted.ok());
  EXPECT_THAT(deleted.error().message(), HasSubstr("run_0001: was deleted while it was timed"));
  EXPECT_THAT(opened().benchmarks, IsEmpty());
}

session::Criteria criteriaOf(const std::string& json) { return session::criteriaFromText(json).value(); }

TEST_F(BenchmarkStore, StandsOnTheVerdictByTheCriteriaThatAreLockedNow) {
  const auto verdict = [&] { return storage::standingVerdict(m_master, opened(), *opened().run("run_0001")).value(); };
  EXPECT_FALSE(verdict().has_value()) << "exploratory";
  ASSERT_TRUE(storage::lockCriteria(m_master, criteriaOf(R"({"schema": 1, "decisions": {"max_flips": 0}})"), "").ok());
  const auto first = verdict();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->revision, 1);
  ASSERT_TRUE(storage::lockCriteria(m_master, criteriaOf(R"({"schema": 1, "decisions": {"max_flips": 9}})"), "agreed").ok());
  EXPECT_EQ(verdict()->revision, 2);
  EXPECT_NE(verdict()->sha256, first->sha256);
}

}  // namespace
