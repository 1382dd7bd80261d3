// Names, baseline and deleted runs as the command line meets them: what the window wrote counts here too.
#include "core/storage/run_edit.h"
#include "core/storage/session_store.h"
#include "program.h"
#include "tests/core/report/schema_validator.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using storage::RunEdit;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliDeletedRuns : public testing::Test {
 protected:
  // Three runs of one op site over two samples; the second keeps fc in FP32.
  void SetUp() override {
    session::Session session = storage::newSession("digits");
    session.samples.ids = {"a", "b"};
    for (int i = 0; i < 3; ++i) {
      session::RunRecord run;
      run.sites.resize(1);
      run.sites[0].op = "aten::linear";
      if (i == 1) run.settings.fp32 = {"fc"};
      storage::RunMetrics metrics;
      metrics[session::Metric::maxAbs] = metrics[session::Metric::relL2] = {1, 2, {0.5F, 1.0F}};
      metrics.flags = {0, 0};
      auto written = storage::addRun(master(), session, run, metrics, {}, i == 0 ? storage::WriteMode::create : storage::WriteMode::append);
      ASSERT_TRUE(written.ok()) << written.error().message();
      session = std::move(written).value();
    }
    m_id = session.id;
    m_folder.write("limits.json", R"({"schema": 1, "nonfinite": {"max_samples": 0}})");
  }
  std::string master() const { return m_folder.path("s.ulps"); }
  void edit(RunEdit::Kind kind, const char* run, const char* name = "") { ASSERT_TRUE(storage::editRun(master(), m_id, {kind, run, name}).ok()); }
  json comparison(const std::vector<std::string>& words) {
    const Finished done = ulpscope(m_folder, words);
    EXPECT_EQ(done.code, 0) << done.err;
    const json document = json::parse(done.out);
    std::ifstream stream(ULPSCOPE_COMPARISON_SCHEMA);
    EXPECT_THAT(schemaFaults(json::parse(stream), document), testing::IsEmpty());
    return document;
  }

  Folder m_folder;
  std::string m_id;
};

TEST_F(CliDeletedRuns, CompareTakesTheBaselineAndNamesWhatDiffers) {
  EXPECT_EQ(comparison({"compare", "s.ulps", "--json", "-"})["a"]["run_id"], "run_0002");
  edit(RunEdit::Kind::baseline, "run_0001");
  edit(RunEdit::Kind::rename, "run_0002", "fc kept");
  const json document = comparison({"compare", "s.ulps", "--json", "-"});
  EXPECT_EQ(document["a"]["run_id"], "run_0001");
  EXPECT_EQ(document["b"]["run_id"], "run_0003");
  EXPECT_EQ(document["policy_changes"], json::array());
  EXPECT_EQ(comparison({"compare", "s.ulps", "1", "2", "--json", "-"})["policy_changes"], json({"+ fc in FP32"}));
  EXPECT_THAT(ulpscope(m_folder, {"compare", "s.ulps", "1", "2"}).out, HasSubstr("B: s.ulps run_0002 'fc kept' (FP16, FP32: fc)\nfrom A to B: + fc in FP32\n"));
  edit(RunEdit::Kind::baseline, "run_0003");
  EXPECT_EQ(comparison({"compare", "s.ulps", "--json", "-"})["b"]["run_id"], "run_0002") << "the latest other than the baseline";
}

TEST_F(CliDeletedRuns, NeitherCheckNorCompareKnowsADeletedRun) {
  edit(RunEdit::Kind::remove, "run_0003");
  EXPECT_EQ(comparison({"compare", "s.ulps", "--json", "-"})["b"]["run_id"], "run_0002");
  const Finished named = ulpscope(m_folder, {"compare", "s.ulps", "1", "3"});
  EXPECT_EQ(named.code, 2);
  EXPECT_EQ(named.err, "ulpscope: 3: was deleted from s.ulps; bring it back with `ulpscope repair s.ulps --restore 3`, or name 'run_0001' or 'run_0002'\n");
  const Finished checked = ulpscope(m_folder, {"check", "s.ulps", "--criteria", "limits.json"});
  EXPECT_THAT(checked.out, AllOf(HasSubstr("s.ulps run_0002"), HasSubstr("3 candidates tried on these samples, 1 of them deleted since"))) << checked.err;
  EXPECT_EQ(json::parse(ulpscope(m_folder, {"check", "s.ulps", "--criteria", "limits.json", "--json", "-"}).out)["candidates_tried"], 3);
}

TEST_F(CliDeletedRuns, ARunIsRestoredOrPurgedForGood) {
  edit(RunEdit::Kind::remove, "run_0002");
  edit(RunEdit::Kind::remove, "run_0003");
  const Finished restored = ulpscope(m_folder, {"repair", "s.ulps", "--restore", "2"});
  EXPECT_EQ(restored.code, 0) << restored.err;
  EXPECT_EQ(restored.out, "restored run_0002 (FP16, FP32: fc)\n");
  const Finished again = ulpscope(m_folder, {"repair", "s.ulps", "--restore", "2"});
  EXPECT_EQ(again.code, 2);
  EXPECT_EQ(again.err, "ulpscope: --restore 2: is no deleted run of s.ulps; it has 1 deleted run\n");
  EXPECT_EQ(ulpscope(m_folder, {"repair", "s.ulps"}).out, "s.ulps: nothing to repair\n");
  EXPECT_TRUE(m_folder.has("s.ulps.d/run-0003.metrics.h5"));
  EXPECT_EQ(ulpscope(m_folder, {"repair", "s.ulps", "--purge"}).out, "removed the files of run_0003 for good\n");
  EXPECT_FALSE(m_folder.has("s.ulps.d/run-0003.metrics.h5"));
  EXPECT_TRUE(m_folder.has("s.ulps.d/run-0002.metrics.h5"));
  EXPECT_EQ(ulpscope(m_folder, {"repair", "s.ulps", "--purge"}).out, "s.ulps: nothing to repair or purge\n");
  EXPECT_EQ(ulpscope(m_folder, {"repair", "s.ulps", "--purge", "--restore", "3"}).code, 2);
}

TEST_F(CliDeletedRuns, ASessionOfDeletedRunsOnlySaysSo) {
  for (const char* run : {"run_0001", "run_0002", "run_0003"}) edit(RunEdit::Kind::remove, run);
  const Finished checked = ulpscope(m_folder, {"check", "s.ulps", "--criteria", "limits.json"});
  EXPECT_EQ(checked.code, 5);
  EXPECT_EQ(checked.err, "ulpscope: s.ulps: holds no run: 3 runs deleted; bring one back with `ulpscope repair s.ulps --restore RUN`\n");
}

}  // namespace
}  // namespace ulpscope::test
