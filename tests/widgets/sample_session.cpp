#include "sample_session.h"

#include <QTest>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ulpscope::testing {
namespace {

using session::NonfiniteRole;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

session::SiteSummary site(const std::string& path, const std::string& op, double relL2, NonfiniteRole role) {
  session::SiteSummary s;
  s.modulePath = path;
  s.op = op;
  s.source = "model.py:12";
  s.candidateDtype = base::DType::float16;
  s.policyClass = "lower_precision_fp";
  s.shape = {4, 8};
  s.sampleAxis = "0";
  s.values[session::Metric::relL2] = relL2;
  s.values[session::Metric::maxAbs] = relL2 * 10;
  s.values[session::Metric::referenceMaxAbs] = role == NonfiniteRole::origin ? 81920.5 : 100;
  s.values[session::Metric::candidateMaxAbs] = 100;
  s.values[session::Metric::headroomBits] = std::log2(65504 / s.values[session::Metric::referenceMaxAbs]);
  s.worstSample = 2;
  s.role = role;
  if (role == NonfiniteRole::origin) s.candidateOnly = {0, 3, 0};
  if (role == NonfiniteRole::consequence) s.candidateOnly = {8, 0, 0};
  return s;
}

// fc1 gets the input x, fc2 what fc1 made, norm what fc2 made and a constant, head sixteen of a thousand.
void addOperands(std::vector<session::SiteSummary>& sites) {
  using From = session::SiteOperand::From;
  constexpr auto kFloat = base::DType::float32, kHalf = base::DType::float16;
  const auto weight = [](const std::string& module) { return session::SiteOperand{"weight", kFloat, kFloat, kHalf, From::parameter, -1, module + ".weight"}; };
  sites[0].operands = session::SiteOperands{{{"input", kFloat, kFloat, kHalf, From::input, -1, "x"}, weight("block.fc1")}, 2};
  sites[1].operands = session::SiteOperands{{{"input", kFloat, kHalf, {}, From::site, 0, ""}, weight("block.fc2")}, 2};
  sites[2].operands = session::SiteOperands{{{"input", kFloat, kHalf, kFloat, From::site, 1, ""}, {"weight", kFloat, {}, {}, From::unknown, -1, ""}}, 2};
  sites[3].operands = session::SiteOperands{std::vector<session::SiteOperand>(16, {"tensors", kFloat, kHalf, {}, From::site, 2, ""}), 1000};
}

session::NonfiniteFinding overflow() {
  session::NonfiniteFinding f;
  f.stage = "intermediate";
  f.site = 1;
  f.op = "aten::linear";
  f.modulePath = "block.fc2";
  f.source = "model.py:12";
  f.sampleIds = {"c"};
  f.counts = {0, 3, 0};
  f.cause = "overflow";
  f.operands = {{"input", base::DType::float16, {-900, 812, 900}}};
  f.diagnosis = "block.fc2 overflows: |x| = 81,920.5 > 65,504 in sample c.";
  return f;
}

session::Flip flipOfB() {
  session::Flip f;
  f.sampleId = "b";
  f.sample = 1;
  f.referenceDecision = 0;
  f.candidateDecision = 1;
  f.referenceMargin = 0.01;
  f.candidateMargin = 0.02;
  f.kind = "changed";
  f.effect = "regressed";
  f.firstSiteOverTolerance = 0;
  return f;
}

}  // namespace

session::Session sampleSession() {
  session::Session s = storage::newSession("sample");
  s.model.path = "/nowhere/model.ts";
  s.model.modules = {{"", "Net", {}, 0}, {"block", "Block", {}, 0}, {"block.fc1", "Linear", {}, 72}, {"block.fc2", "Linear", {}, 72},
                     {"block.norm", "LayerNorm", {}, 16}, {"head", "Linear", {}, 24}};
  s.samples.path = "/nowhere/inputs.h5";
  s.samples.ids = {"a", "b", "c", "d"};
  s.samples.classNames = {"cat", "dog", "emu"};
  return s;
}

session::RunRecord sampleRun(Sick sick) {
  const bool isSick = sick == Sick::yes;
  session::RunRecord r;
  r.number = isSick ? 1 : 2;
  r.createdUtc = "2026-01-31T14:02:07Z";
  r.policyTable = "cuda@1.13";
  r.samplesComplete = 4;
  r.settings.decision.kind = session::DecisionRule::Kind::argmax;
  if (!isSick) r.settings.fp32 = {"block.fc2"};
  const auto role = [isSick](NonfiniteRole bad) { return isSick ? bad : NonfiniteRole::none; };
  r.sites = {site("block.fc1", "aten::linear", 5e-3, NonfiniteRole::none), site("block.fc2", "aten::linear", 2e-4, role(NonfiniteRole::origin)),
             site("block.norm", "aten::layer_norm", 3e-4, role(NonfiniteRole::consequence)), site("head", "aten::linear", 5e-2, role(NonfiniteRole::consequence))};
  addOperands(r.sites);
  r.moduleOutputs = {{"block.fc1", 1, "output", 0, false}, {"block", 1, "output", 2, false}, {"", 1, "output", 3, false}};
  r.decisions = {{0.5, 0.49}, {0.01, 0.02}, {0.3, isSick ? std::nan("") : 0.31}, {0.2, 0.2}};
  r.flips = {flipOfB()};
  if (!isSick) return r;
  r.nonfiniteOrigins = {overflow()};
  r.consequenceSites = 2;
  r.noDecision = {"c"};
  return r;
}

storage::RunMetrics sampleMetrics(Sick sick) {
  storage::RunMetrics m;
  m[session::Metric::relL2] = {4, 4, {1e-4F, 5e-3F, 2e-4F, 0, 1e-4F, 2e-4F, 1e-4F, 1e-4F, 3e-4F, 1e-4F, 1e-4F, 1e-4F, 5e-2F, 1e-3F, 1e-3F, 1e-3F}};
  m[session::Metric::maxAbs] = m[session::Metric::relL2];
  m.flags.assign(16, 0);
  if (sick == Sick::no) return m;
  for (const std::size_t cell : {6U, 10U, 14U}) m[session::Metric::relL2].values[cell] = m[session::Metric::maxAbs].values[cell] = kNan;
  m.flags[6] = storage::kCellPlusInf;
  m.flags[10] = m.flags[14] = storage::kCellNan;
  return m;
}

models::RunPointer loadedSample(Sick sick) {
  auto session = std::make_shared<session::Session>(sampleSession());
  session->runs = {sampleRun(sick)};
  return models::makeLoadedRun(session, session->runs.front(), std::make_shared<const storage::RunMetrics>(sampleMetrics(sick)), {});
}

QString writeSample(const QTemporaryDir& folder, int runs) {
  const QString path = folder.filePath(QStringLiteral("sample.ulps"));
  base::Result<session::Session> session = sampleSession();
  for (int i = 0; i < runs && session.ok(); ++i) {
    const Sick sick = i == 0 ? Sick::yes : Sick::no;
    session = storage::addRun(path.toStdString(), session.value(), sampleRun(sick), sampleMetrics(sick), {}, i == 0 ? storage::WriteMode::create : storage::WriteMode::append);
  }
  EXPECT_TRUE(session.ok()) << (session.ok() ? "" : session.error().message());
  return path;
}

bool waitFor(const std::function<bool()>& condition, int limitMs) { return QTest::qWaitFor(condition, limitMs); }

}  // namespace ulpscope::testing
