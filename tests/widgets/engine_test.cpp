#include "fake_engine.h"
#include "sample_session.h"
#include "widgets/jobs/engine_process.h"

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

using testing::installFakeEngine;
using testing::kGreets;
using testing::kProgresses;

// Runs once and keeps what came out of it.
class Engine : public ::testing::Test {
 protected:
  Engine() {
    QObject::connect(&m_engine, &jobs::EngineProcess::failed, &m_engine, [this](const base::Error& error) { m_errors.push_back(error); });
    QObject::connect(&m_engine, &jobs::EngineProcess::finished, &m_engine, [this](const QString&, const QString& runId) { m_runIds << runId; });
    QObject::connect(&m_engine, &jobs::EngineProcess::logged, &m_engine, [this](const QString& line) { m_log << line; });
    QObject::connect(&m_engine, &jobs::EngineProcess::progressed, &m_engine, [this](const base::Progress&) { ++m_progressCount; });
  }
  ~Engine() override { qunsetenv("ULPSCOPE_ENGINE"); }

  void runOnce() {
    m_engine.run({});
    ASSERT_TRUE(testing::waitFor([this] { return !m_errors.empty() || !m_runIds.empty(); }));
  }
  void runScript(const QByteArray& body) {
    installFakeEngine(m_folder, body.constData());
    runOnce();
  }

  QTemporaryDir m_folder;
  jobs::EngineProcess m_engine;
  std::vector<base::Error> m_errors;
  QStringList m_runIds, m_log;
  int m_progressCount = 0;
};

TEST_F(Engine, DeliversTheResultAndWhatTheModelPrints) {
  runScript(QByteArray(kGreets) + "echo 'printed by the model' >&2\n" + kProgresses + "echo '{\"id\": 2, \"result\": {\"session\": \"/x.ulps\", \"run_id\": \"run_0001\"}}'; read more");
  EXPECT_EQ(m_runIds, QStringList{QStringLiteral("run_0001")});
  EXPECT_EQ(m_progressCount, 1);
  EXPECT_TRUE(testing::waitFor([this] { return m_log.contains(QStringLiteral("printed by the model")); }));
  EXPECT_FALSE(m_engine.isRunning());
}

TEST_F(Engine, NamesTheOpThatRanWhenItCrashes) {
  runScript(QByteArray(kGreets) + kProgresses + "kill -SEGV $$");
  ASSERT_EQ(m_errors.size(), 1U);
  EXPECT_EQ(m_errors[0].message(), "ulpscope-engine: the engine crashed (signal 11) while it ran aten::linear in block.fc1; "
                                   "earlier results are kept, the next run starts a new engine");
}

TEST_F(Engine, StartsAnewAfterACrash) {
  runScript(QByteArray(kGreets) + "exit 3");
  ASSERT_EQ(m_errors.size(), 1U);
  EXPECT_NE(m_errors[0].message().find("exit code 3"), std::string::npos);
  // Ids go on: the second engine hears hello as 3 and the run as 4.
  runScript("read hello; echo '{\"id\": 3, \"result\": {\"protocol\": 1}}'; read run; echo '{\"id\": 4, \"result\": {\"session\": \"/x\", \"run_id\": \"run_0002\"}}'; read more");
  ASSERT_TRUE(testing::waitFor([this] { return !m_runIds.isEmpty(); }));
  EXPECT_EQ(m_runIds.front(), QStringLiteral("run_0002"));
}

TEST_F(Engine, SaysWhereItLookedWhenItIsMissing) {
  qputenv("ULPSCOPE_ENGINE", "/nowhere/ulpscope-engine");
  runOnce();
  ASSERT_EQ(m_errors.size(), 1U);
  EXPECT_NE(m_errors[0].message().find("/nowhere/ulpscope-engine"), std::string::npos);
}

TEST_F(Engine, PassesOnTheRunsOwnError) {
  runScript(QByteArray(kGreets) + "echo '{\"id\": 2, \"error\": {\"code\": \"input\", \"what\": \"is not a zip\", \"which\": \"m.ts\", \"do\": \"\"}}'; read more");
  ASSERT_EQ(m_errors.size(), 1U);
  EXPECT_EQ(m_errors[0].kind, base::ErrorKind::input);
  EXPECT_EQ(m_errors[0].which, "m.ts");
}

TEST_F(Engine, StopsAnEngineThatSpeaksNonsense) {
  runScript(QByteArray(kGreets) + "echo 'hello, I am a model'; exec sleep 60");
  ASSERT_EQ(m_errors.size(), 1U);
  EXPECT_NE(m_errors[0].message().find("no message"), std::string::npos);
}

TEST_F(Engine, RefusesAnotherProtocol) {
  runScript("read hello; echo '{\"id\": 1, \"result\": {\"protocol\": 7}}'; read more");
  ASSERT_EQ(m_errors.size(), 1U);
  EXPECT_NE(m_errors[0].message().find("protocol 7"), std::string::npos);
}

TEST_F(Engine, KillsAnEngineThatDoesNotHearCancel) {
  installFakeEngine(m_folder, (QByteArray(kGreets) + kProgresses + "exec sleep 60").constData());
  m_engine.setCancelGraceMs(50);
  m_engine.run({});
  ASSERT_TRUE(testing::waitFor([this] { return m_progressCount > 0; }));
  m_engine.cancel();
  EXPECT_TRUE(m_engine.isCancelling());
  ASSERT_TRUE(testing::waitFor([this] { return !m_errors.empty(); }));
  EXPECT_EQ(m_errors[0].kind, base::ErrorKind::cancelled);
}

TEST_F(Engine, TakesOneRunAtATime) {
  installFakeEngine(m_folder, (QByteArray(kGreets) + "exec sleep 60").constData());
  m_engine.run({});
  m_engine.run({});
  ASSERT_EQ(m_errors.size(), 1U);
  EXPECT_EQ(m_errors[0].kind, base::ErrorKind::usage);
  EXPECT_TRUE(m_engine.isRunning());
}

}  // namespace
}  // namespace ulpscope
