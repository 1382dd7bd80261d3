#include "core/base/hashing.h"
#include "core/report/benchmark_text.h"
#include "core/session/criteria.h"
#include "core/storage/benchmark_store.h"
#include "core/storage/run_verdict.h"
#include "fake_engine.h"
#include "sample_session.h"
#include "tests/support/sample_benchmark.h"
#include "widgets/views/benchmark_panel.h"

#include <QPushButton>
#include <QTest>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ulpscope {
namespace {

using session::JudgedAs;
using testing::waitFor;

constexpr const char* kCriteria = R"({"decisions":{"max_flips":0},"schema":1})";

session::Session locked() {
  session::Session session = testing::sampleSession();
  session.criteria = {{1, "2026-01-01T00:00:00Z", base::sha256(kCriteria), kCriteria, false, ""}};
  return session;
}

session::RunRecord nativeRun(JudgedAs status) {
  session::RunRecord run = testing::sampleRun(testing::Sick::no);
  run.settings.mode = session::Mode::native;
  run.settings.autocast = base::DType::bfloat16;
  run.verdict = session::Verdict{status, "", {{"decisions.max_flips", 3, 0, 3, "c", status, ""}}, 1, base::sha256(kCriteria)};
  return run;
}

class Benchmark : public ::testing::Test {
 protected:
  Benchmark() : m_bench(m_folder.filePath(QStringLiteral("demos"))), m_panel(m_bench) { m_panel.show(); }
  ~Benchmark() override { qunsetenv("ULPSCOPE_ENGINE"); }

  void write(const session::Session& session, const session::RunRecord& run) {
    m_path = m_folder.filePath(QStringLiteral("s.ulps"));
    const auto written = storage::addRun(m_path.toStdString(), session, run, testing::sampleMetrics(testing::Sick::no), {}, storage::WriteMode::create);
    ASSERT_TRUE(written.ok()) << written.error().message();
  }
  void open(const session::Session& session, const session::RunRecord& run) {
    write(session, run);
    show();
  }
  void show() {
    m_bench.openSession(m_path);
    ASSERT_TRUE(waitFor([this] { return m_bench.runB() != nullptr; }));
  }
  std::string state() const { return m_panel.state().toStdString(); }
  bool says(const char* text) const { return m_panel.state().contains(QString::fromUtf8(text)); }

  // An engine that answers each part: memory at once, the times with `answer`.
  void answerTimes(const nlohmann::json& answer) {
    const nlohmann::json memory = {{"memory", session::toJson(session::PeakMemory{1 << 20, 3 << 20, 3, ""})}};
    for (const auto& [name, result] : {std::pair("memory.json", memory), std::pair("times.json", answer)}) {
      QFile file(m_folder.filePath(QString::fromLatin1(name)));
      ASSERT_TRUE(file.open(QIODevice::WriteOnly));
      file.write(QByteArray::fromStdString(nlohmann::json{{"id", 2}, {"result", result}}.dump() + "\n"));
    }
    const QByteArray folder = m_folder.path().toUtf8();
    testing::installFakeEngine(m_folder, (QByteArray("read hello; echo '{\"id\": 1, \"result\": {\"protocol\": 1}}'; read run; echo \"$run\" >> '") + folder + "/asked'\n" +
                                          "case \"$run\" in *'\"part\":\"times\"'*) cat '" + folder + "/times.json';; *) cat '" + folder + "/memory.json';; esac\nread more")
                                             .constData());
  }
  std::vector<nlohmann::json> asked() {
    QFile file(m_folder.filePath(QStringLiteral("asked")));
    std::vector<nlohmann::json> requests;
    if (!file.open(QIODevice::ReadOnly)) return requests;
    for (const QByteArray& line : file.readAll().split('\n'))
      if (!line.isEmpty()) requests.push_back(nlohmann::json::parse(line.toStdString()).at("params"));
    return requests;
  }
  void measure() {
    QTest::mouseClick(m_panel.runButton(), Qt::LeftButton);
    ASSERT_TRUE(waitFor([this] { return !m_panel.isRunning(); }));
  }

  QTemporaryDir m_folder;
  QString m_path;
  views::Workbench m_bench;
  views::BenchmarkPanel m_panel;
};

TEST_F(Benchmark, IsOffWithoutARun) {
  EXPECT_EQ(state(), "Off: there is no run. Open a session, or run a model.");
  EXPECT_FALSE(m_panel.runButton()->isEnabled());
  EXPECT_TRUE(m_panel.headline().isEmpty());
}

TEST_F(Benchmark, SaysWhyItIsOffAndWhatToDo) {
  session::RunRecord emulated = nativeRun(JudgedAs::pass);
  emulated.settings.mode = session::Mode::emulated;
  open(locked(), emulated);
  EXPECT_EQ(state(), "Off: run 1 is emulated, so nothing can be claimed about speed; validate and time LibTorch's own autocast on this processor instead (mode native, BF16).");
  EXPECT_FALSE(m_panel.runButton()->isEnabled());
}

TEST_F(Benchmark, IsOffForWhatWasRecorded) {
  session::RunRecord recorded = nativeRun(JudgedAs::pass);
  recorded.settings.mode = session::Mode::recorded;
  open(locked(), recorded);
  EXPECT_TRUE(says("Off: run 1 was recorded in another PyTorch: there is no model here to time")) << state();
}

TEST_F(Benchmark, IsOffWithoutCriteria) {
  session::RunRecord run = nativeRun(JudgedAs::pass);
  run.verdict.reset();
  open(testing::sampleSession(), run);
  EXPECT_TRUE(says("Off: run 1 has no verdict: no criteria are locked")) << state();
}

TEST_F(Benchmark, NamesTheCriterionThatFailed) {
  open(locked(), nativeRun(JudgedAs::fail));
  EXPECT_TRUE(says("Off: run 1 fails its criteria: decisions.max_flips (measured 3, limit 0)")) << state();
  EXPECT_FALSE(m_panel.runButton()->isEnabled());
}

TEST_F(Benchmark, IsOffWhileTheChosenPolicyIsNotTheJudgedOne) {
  open(locked(), nativeRun(JudgedAs::pass));
  EXPECT_TRUE(m_panel.runButton()->isEnabled()) << state();
  m_bench.toggle(QStringLiteral("block.fc1"), models::RegionKind::inputsToFp32);
  EXPECT_TRUE(says("Off: the FP32 choice is no longer that of run 1, and what is chosen now has not been judged. Run it (F5)")) << state();
  EXPECT_FALSE(m_panel.runButton()->isEnabled());
  m_bench.undoStack().undo();
  EXPECT_TRUE(m_panel.runButton()->isEnabled()) << state();
}

TEST_F(Benchmark, IsOffUntilARevisionHasJudged) {
  write(locked(), nativeRun(JudgedAs::pass));
  ASSERT_TRUE(storage::lockCriteria(m_path.toStdString(), session::criteriaFromText(R"({"schema": 1, "decisions": {"max_flips": 9}})").value(), "agreed").ok());
  show();
  EXPECT_TRUE(says("Off: the criteria were revised since run 1 was judged. Run it again (F5)")) << state();
}

TEST_F(Benchmark, MeasuresEachPartInAnEngineOfItsOwnAndShowsItsConditions) {
  open(locked(), nativeRun(JudgedAs::pass));
  EXPECT_TRUE(says("run 1 passes its criteria and may be timed")) << state();
  answerTimes({{"benchmark", session::toJson(tests::sampleBenchmark())}, {"not_stored", ""}});
  measure();
  const auto requests = asked();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0]["part"], "reference_memory");
  EXPECT_EQ(requests[1]["part"], "candidate_memory");
  EXPECT_EQ(requests[2]["part"], "times");
  EXPECT_EQ(requests[2]["run_id"], "run_0001");
  EXPECT_EQ(requests[2]["reference_memory"]["peak_bytes"], 3 << 20);
  EXPECT_EQ(requests[2]["candidate_memory"]["peak_bytes"], 3 << 20);
  EXPECT_EQ(m_panel.headline().toStdString(), report::benchmarkHeadline(tests::sampleBenchmark()));
  EXPECT_TRUE(m_panel.details().contains(QStringLiteral("BF16 instructions avx512_bf16"))) << "no number without its conditions";
}

TEST_F(Benchmark, TellsNoSpeedThatDidNotPassAgain) {
  open(locked(), nativeRun(JudgedAs::pass));
  answerTimes({{"withheld", "what was timed is not what was judged: the model draws random numbers"}, {"verdict", nullptr}});
  measure();
  EXPECT_EQ(state(), "No speed is told: what was timed is not what was judged: the model draws random numbers.");
  EXPECT_TRUE(m_panel.headline().isEmpty());
  EXPECT_TRUE(m_panel.runButton()->isEnabled());
}

TEST_F(Benchmark, SaysWhenAnEngineAnswersSomethingElse) {
  open(locked(), nativeRun(JudgedAs::pass));
  answerTimes({{"session", "x"}});
  measure();
  EXPECT_TRUE(says("Nothing was measured: ulpscope-engine: answered something else than was asked")) << state();
}

TEST_F(Benchmark, IsCancelled) {
  open(locked(), nativeRun(JudgedAs::pass));
  testing::installFakeEngine(m_folder, (QByteArray(testing::kGreets) + "exec sleep 60").constData());
  QTest::mouseClick(m_panel.runButton(), Qt::LeftButton);
  EXPECT_TRUE(m_panel.isRunning());
  EXPECT_TRUE(says("Measuring run 1: ")) << state();
  QTest::mouseClick(m_panel.cancelButton(), Qt::LeftButton);
  ASSERT_TRUE(waitFor([this] { return !m_panel.isRunning(); }));
  EXPECT_EQ(state(), "Cancelled: nothing was measured.");
}

TEST_F(Benchmark, ShowsTheLastOfTheShownRunFromItsSession) {
  write(locked(), nativeRun(JudgedAs::pass));
  const std::string id = storage::openSession(m_path.toStdString())->id;
  for (const double ratio : {2.0, 0.5}) ASSERT_TRUE(storage::addBenchmark(m_path.toStdString(), id, tests::sampleBenchmark(ratio)).ok());
  show();
  EXPECT_TRUE(m_panel.headline().startsWith(QStringLiteral("BF16 autocast is slower here"))) << m_panel.headline().toStdString();
  m_bench.closeSession();
  EXPECT_TRUE(m_panel.headline().isEmpty());
}

}  // namespace
}  // namespace ulpscope
