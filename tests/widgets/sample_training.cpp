#include "sample_training.h"

#include <cmath>
#include <limits>

namespace ulpscope::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

session::LedgerLine line(std::int64_t step, double loss, double scaleBefore, double scaleAfter) {
  session::LedgerLine l;
  l.step = step;
  l.optimizer = "sgd";
  l.loss = loss;
  l.scaleBefore = scaleBefore;
  l.scaleAfter = scaleAfter;
  l.gradNorm = 2.5;
  l.clippedNorm = 1;
  l.zeroShare = 0.125;
  l.lr = 0.1;
  l.appliedUpdates = step;
  return l;
}

session::Trajectory fp32Run() {
  session::Trajectory run;
  run.name = "fp32";
  run.ledger = {line(0, 0.75, 1, 1), line(1, 0.5, 1, 1), line(2, 0.25, 1, 1)};
  run.steps = run.appliedUpdates = 3;
  return run;
}

}  // namespace

session::Trajectory recipeRun() {
  session::Trajectory run;
  run.name = "recipe";
  run.autocast = run.scaling = true;
  run.fp32 = {"head"};
  run.ledger = {line(0, 0.75, 65536, 32768), line(1, std::nan(""), 32768, 32768), line(2, 0.5, 32768, 32768)};
  session::LedgerLine& skipped = run.ledger[0];
  skipped.foundInf = skipped.skipped = true;
  skipped.gradNorm = skipped.clippedNorm = kInf;
  session::FirstNonfinite first;
  first.stage = "gradient";
  first.op = "aten::linear";
  first.modulePath = "block.fc2";
  first.source = "model.py:12";
  first.parameter = "block.fc2.weight";
  first.kind = "inf";
  skipped.firstNonfinite = run.firstNonfinite = first;
  run.alarms = {{"forward_nonfinite", 1, "the loss is not finite"}};
  run.violations = {{2, "clip", "clip_before_unscale", "sgd", "unscale first"}};
  run.finalScale = 32768;
  run.steps = 3;
  run.appliedUpdates = 2;
  run.accuracy = 0.875;
  return run;
}

session::Training sampleTraining() {
  session::Training training;
  training.recipe = "{}";
  training.runs = {recipeRun(), fp32Run()};
  session::Verdict verdict;
  verdict.status = session::JudgedAs::fail;
  verdict.criteria = {{"alarms", 1, 0, kInf, "", session::JudgedAs::fail, ""}};
  training.verdict = verdict;
  return training;
}

QStringList cells(const QAbstractItemModel& model, int row) {
  QStringList texts;
  for (int column = 0; column < model.columnCount(); ++column) texts << model.index(row, column).data().toString();
  return texts;
}

}  // namespace ulpscope::testing
