#include "widgets/models/training_models.h"

#include "core/base/number_text.h"
#include "core/report/training_text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::models {
namespace {

using session::LedgerLine;
using session::Trajectory;

constexpr double kMostGrouped = 1e9;  // longer numbers are no longer read by their digits

TableCell percentCell(double share) { return {std::isnan(share) ? QStringLiteral("–") : qt(base::shortNumber(100 * share)) + QStringLiteral(" %"), std::isnan(share) ? -HUGE_VAL : share, true}; }

TableCell scaleCell(double scale) { return {scaleText(scale), std::isnan(scale) ? -HUGE_VAL : scale, true}; }

std::vector<TableCell> cellsOf(const LedgerLine& line) {
  return {countCell(line.step),
          textCell(line.optimizer),
          numberCell(line.loss),
          scaleCell(line.scaleBefore),
          scaleCell(line.scaleAfter),
          textCell(line.foundInf ? QStringLiteral("yes") : QStringLiteral("no")),
          textCell(line.skipped ? QStringLiteral("▼ skipped") : line.applied ? QStringLiteral("applied") : QStringLiteral("not stepped")),
          numberCell(line.gradNorm),
          numberCell(line.clippedNorm),
          percentCell(line.zeroShare),
          numberCell(line.lr),
          countCell(line.appliedUpdates),
          textCell(line.firstNonfinite ? qt(report::firstNonfiniteText(*line.firstNonfinite)) : QStringLiteral("–"))};
}

QString onOff(bool isOn) { return isOn ? QStringLiteral("on") : QStringLiteral("off"); }

QString firstText(const Trajectory& run) {
  return run.firstNonfinite ? QStringLiteral("step %1: %2").arg(run.firstNonfinite->step).arg(qt(report::firstNonfiniteText(*run.firstNonfinite))) : QStringLiteral("–");
}

}  // namespace

QString scaleText(double scale) { return qt(scale >= 1 && scale < kMostGrouped ? base::groupedNumber(scale) : base::shortNumber(scale)); }

LedgerModel::LedgerModel(QObject* parent)
    : RowTableModel({QStringLiteral("Step"), QStringLiteral("Optimizer"), QStringLiteral("Loss"), QStringLiteral("Scale before"), QStringLiteral("Scale after"), QStringLiteral("Found inf"),
                     QStringLiteral("Update"), QStringLiteral("Gradient norm"), QStringLiteral("Clipped norm"), QStringLiteral("Zero share"), QStringLiteral("lr"), QStringLiteral("Updates"),
                     QStringLiteral("First non-finite")}, parent) {}

void LedgerModel::setLedger(const std::vector<LedgerLine>& ledger) {
  m_ledger = ledger;
  std::vector<Row> rows;
  for (const LedgerLine& line : m_ledger) rows.push_back({static_cast<int>(rows.size()), cellsOf(line)});
  setRows(std::move(rows));
}

int LedgerModel::rowOfStep(std::int64_t step) const {
  const auto found = std::find_if(m_ledger.begin(), m_ledger.end(), [step](const LedgerLine& line) { return line.step == step; });
  return found == m_ledger.end() ? -1 : static_cast<int>(found - m_ledger.begin());
}

QVariant LedgerModel::data(const QModelIndex& index, int role) const {
  if (role < kStepRole || role > kSkippedRole) return RowTableModel::data(index, role);
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const LedgerLine& line = lineAt(index.row());
  if (role == kStepRole) return static_cast<qlonglong>(line.step);
  if (role == kSkippedRole) return line.skipped;
  return line.firstNonfinite && !line.firstNonfinite->op.empty() ? QVariant(qt(line.firstNonfinite->modulePath)) : QVariant();
}

TrajectoriesModel::TrajectoriesModel(QObject* parent)
    : RowTableModel({QStringLiteral("Trajectory"), QStringLiteral("Autocast"), QStringLiteral("Scaling"), QStringLiteral("FP32 regions"), QStringLiteral("Skipped"), QStringLiteral("Applied"),
                     QStringLiteral("Final loss"), QStringLiteral("Final scale"), QStringLiteral("Accuracy"), QStringLiteral("Alarms"), QStringLiteral("First non-finite"), QStringLiteral("Ended early")}, parent) {}

void TrajectoriesModel::setTraining(const TrainingPointer& training) {
  std::vector<Row> rows;
  if (training)
    for (const Trajectory& run : training->runs)
      rows.push_back({static_cast<int>(rows.size()),
                      {textCell(run.name), textCell(onOff(run.autocast)), textCell(onOff(run.scaling)), textCell(run.fp32.empty() ? QStringLiteral("none") : shortList(run.fp32)),
                       countCell(static_cast<std::int64_t>(run.mostSkipped())), countCell(run.appliedUpdates), numberCell(run.finalLoss()), scaleCell(run.finalScale), percentCell(run.accuracy.value_or(std::nan(""))),
                       countCell(static_cast<std::int64_t>(run.alarms.size())), textCell(firstText(run)), textCell(run.error.empty() ? QStringLiteral("no") : qt(run.error))}});
  setRows(std::move(rows));
}

TrainingFindingsModel::TrainingFindingsModel(QObject* parent)
    : RowTableModel({QStringLiteral("Step"), QStringLiteral("Kind"), QStringLiteral("Name"), QStringLiteral("What"), QStringLiteral("Where")}, parent) {}

void TrainingFindingsModel::setRun(const TrainingPointer& training, std::size_t run) {
  std::vector<Row> rows;
  const auto add = [&rows](std::int64_t step, const char* kind, const std::string& name, const QString& what, const QString& where) {
    rows.push_back({static_cast<qlonglong>(step), {step < 0 ? TableCell{QStringLiteral("–"), -1, true} : countCell(step), textCell(QLatin1String(kind)), textCell(name), textCell(what), textCell(where)}});
  };
  if (training && run < training->runs.size()) {
    const Trajectory& shown = training->runs[run];
    for (const session::Alarm& a : shown.alarms) add(a.step, "alarm", a.id, qt(a.text), QString());
    for (const session::Violation& v : shown.violations) add(v.step, "order", v.rule, qt(v.text), v.optimizer.empty() ? qt(v.event) : QStringLiteral("%1 of %2").arg(qt(v.event), qt(v.optimizer)));
    for (const std::string& buffer : shown.poisonedBuffers) add(-1, "poisoned buffer", buffer, QStringLiteral("is not finite at the end"), QString());
    if (training->verdict)
      for (const session::CriterionResult& c : training->verdict->criteria)
        add(-1, "criterion", c.id, QStringLiteral("%1: measured %2, limit %3%4").arg(qt(session::name(c.status)), qt(base::shortNumber(c.measured)), qt(base::shortNumber(c.limit)), c.note.empty() ? QString() : QStringLiteral(" (%1)").arg(qt(c.note))), QString());
    for (const std::string& warning : training->warnings) add(-1, "warning", "", qt(warning), QString());
  }
  setRows(std::move(rows));
}

QString trajectoryTitle(const Trajectory& run) {
  const QString name = qt(run.name);
  if (name.contains(QStringLiteral("autocast"))) return name;
  return QStringLiteral("%1 (autocast %2, scaling %3)").arg(name, onOff(run.autocast), onOff(run.scaling));
}

QString trajectorySummary(const Trajectory& run) {
  QStringList parts{QStringLiteral("%1 of %2 applied").arg(qt(base::groupedInteger(run.appliedUpdates)), qt(base::counted(run.steps, "step")))};
  const QString skipped = qt(report::skippedText(run));
  parts << (skipped.isEmpty() ? QStringLiteral("none skipped") : QStringLiteral("skipped: %1").arg(skipped));
  if (!run.ledger.empty()) parts << QStringLiteral("loss %1 to %2").arg(qt(base::shortNumber(run.ledger.front().loss)), qt(base::shortNumber(run.finalLoss())));
  if (run.scaling) parts << QStringLiteral("scale %1 at the end").arg(scaleText(run.finalScale));
  if (!run.error.empty()) parts << QStringLiteral("ended early: %1").arg(qt(run.error));
  return parts.join(QStringLiteral("  ·  "));
}

QString trainingVerdictText(const session::Training& training) {
  if (!training.verdict) return {};
  return QStringLiteral("Verdict: %1%2").arg(qt(session::name(training.verdict->status)), training.verdict->reason.empty() ? QString() : QStringLiteral(": ") + qt(training.verdict->reason));
}

}  // namespace ulpscope::models
