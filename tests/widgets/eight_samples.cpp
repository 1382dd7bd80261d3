#include "eight_samples.h"

#include <cmath>
#include <limits>

namespace ulpscope::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

session::Flip flip(std::int64_t sample, const std::string& id, const std::string& effect) {
  session::Flip f;
  f.sample = sample;
  f.sampleId = id;
  f.referenceDecision = 0;
  f.candidateDecision = 2;
  f.kind = "changed";
  f.effect = effect;
  f.firstSiteOverTolerance = sample == 4 ? -1 : 0;
  f.withinNoiseFloor = id == "fix";
  return f;
}

}  // namespace

session::RunRecord eightDecisions() {
  session::RunRecord run = sampleRun(Sick::no);
  run.samplesComplete = 8;
  run.decisions = {{0.5, 0.49, 0.01}, {0.02, 0.01, 0.02}, {0.3, kNan, kInf}, {0.009, 0.02, 0.02}, {0.004, 0.003, 0.02}, {kNan, kNan, kNan}, {0.001, 0.0012, 0.0004}, {0.03, 0.02, 0.02}};
  run.flips = {flip(3, "fix", "fixed"), flip(4, "w2w", "wrong to wrong"), flip(1, "reg2", "regressed"), flip(7, "reg1", "regressed")};
  run.noDecision = {"nan"};
  return run;
}

session::Session eightSamples() {
  session::Session s = sampleSession();
  s.samples.ids = {"same", "reg2", "nan", "fix", "w2w", "fp32nan", "late", "reg1"};
  return s;
}

models::RunPointer loadedEight() {
  auto session = std::make_shared<session::Session>(eightSamples());
  session->runs = {eightDecisions()};
  return models::makeLoadedRun(session, session->runs.front(), nullptr, {});
}

QStringList idsOf(const QAbstractItemModel& model) {
  QStringList ids;
  for (int row = 0; row < model.rowCount(); ++row) ids << model.index(row, 0).data().toString();
  return ids;
}

}  // namespace ulpscope::testing
