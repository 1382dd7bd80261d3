#include "widgets/models/training_models.h"

#include "core/base/number_text.h"
#include "core/report/training_text.h"
#include "widgets/models/training_summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ulpscope::models {
namespace {

using session::LedgerLine;
using session::Trajectory;

TableCell percentCell(double share) { return {std::isnan(share) ? QStringLiteral("–") : qt(base::shortNumber(100 * share)) + QStringLiteral(" %"), std::isnan(share) ? -HUGE_VAL : share, true}; }

TableCell scaleCell(double scale) { return {scaleText(scale), std::isnan(scale) ? -HUGE_VAL : scale, true}; }

QString outcomeText(const LedgerLine& line) {
  if (!line.has("applied")) return QStringLiteral("–");
  return line.skipped ? QStringLiteral("▼ skipped") : line.applied ? QStringLiteral("applied") : QStringLiteral("not stepped");
}

// A cell of what the line has; what a recorded loop does not say is no number.
TableCell cellOf(const LedgerLine& line, const char* key, TableCell cell) { return line.has(key) ? std::move(cell) : TableCell{QStringLiteral("–"), -HUGE_VAL, cell.isNumber, QStringLiteral("not recorded")}; }

TableCell firstCell(const LedgerLine& line) {
  if (!line.firstNonfinite) return textCell(QStringLiteral("–"));
  TableCell cell = textCell(firstNonfiniteBrief(*line.firstNonfinite));
  cell.tooltip = qt(report::firstNonfiniteText(*line.firstNonfinite));
  return cell;
}

std::vector<TableCell> cellsOf(const LedgerLine& line) {
  return {countCell(line.step),
          textCell(line.optimizer),
          cellOf(line, "applied", textCell(outcomeText(line))),
          firstCell(line),
          cellOf(line, "loss", numberCell(line.loss)),
          cellOf(line, "scale_before", scaleCell(line.scaleBefore)),
          cellOf(line, "scale_after", scaleCell(line.scaleAfter)),
          cellOf(line, "grad_norm", numberCell(line.gradNorm)),
          cellOf(line, "zero_share", percentCell(line.zeroShare)),
          cellOf(line, "clipped_norm", numberCell(line.clippedNorm)),
          cellOf(line, "found_inf", textCell(line.foundInf ? QStringLiteral("yes") : QStringLiteral("no"))),
          cellOf(line, "lr", numberCell(line.lr)),
          cellOf(line, "applied_updates", countCell(line.appliedUpdates))};
}

// The same of a whole trajectory, by its last step.
TableCell cellIn(const Trajectory& run, const char* key, TableCell cell) { return run.recordsLast(key) ? std::move(cell) : TableCell{QStringLiteral("–"), -HUGE_VAL, cell.isNumber, QStringLiteral("not recorded")}; }

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

QString onOff(bool isOn) { return isOn ? QStringLiteral("on") : QStringLiteral("off"); }

QString firstText(const Trajectory& run) {
  return run.firstNonfinite ? QStringLiteral("step %1: %2").arg(run.firstNonfinite->step).arg(qt(report::firstNonfiniteText(*run.firstNonfinite))) : QStringLiteral("–");
}

}  // namespace

QString firstNonfiniteBrief(const session::FirstNonfinite& first) {
  const QString what = QStringLiteral("%1 in the %2").arg(qt(first.kind), qt(first.stage));
  const QString where = !first.parameter.empty() && (first.op.empty() || first.ofParameter) ? qt(first.parameter) : first.op.empty() ? qt(first.source) : modulePathText(qt(first.modulePath));
  return where.isEmpty() ? what : QStringLiteral("%1, %2").arg(what, where);
}

LedgerModel::LedgerModel(QObject* parent)
    : RowTableModel({QStringLiteral("Step"), QStringLiteral("Optimizer"), QStringLiteral("Update"), QStringLiteral("First non-finite"), QStringLiteral("Loss"), QStringLiteral("Scale before"),
                     QStringLiteral("Scale after"), QStringLiteral("Grad. norm"), QStringLiteral("Zero share"), QStringLiteral("Clipped norm"), QStringLiteral("Found inf"), QStringLiteral("lr"),
                     QStringLiteral("Updates")}, parent) {}

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

bool LedgerModel::isRedundant(Column column) const {
  const auto all = [this](const auto& holds) { return std::all_of(m_ledger.begin(), m_ledger.end(), holds); };
  switch (column) {
    case kOptimizer: return all([this](const LedgerLine& line) { return line.optimizer == m_ledger.front().optimizer; });
    case kClippedNorm: return all([](const LedgerLine& line) { return !line.has("clipped_norm") || isSame(line.clippedNorm, line.gradNorm); });
    case kFirst: return all([](const LedgerLine& line) { return !line.firstNonfinite; });
    case kFoundInf: return all([](const LedgerLine& line) { return !line.has("found_inf") || line.foundInf == line.skipped; });
    case kZeroShare: return all([](const LedgerLine& line) { return !line.has("zero_share"); });
    default: return false;
  }
}

QString LedgerModel::lineText(int row) const {
  const LedgerLine& line = lineAt(row);
  const QString outcome = !line.has("applied") ? QStringLiteral("whether it was applied is not recorded") : line.skipped ? QStringLiteral("skipped") : outcomeText(line);
  const QString head = QStringLiteral("Step %1, %2: %3").arg(line.step).arg(qt(line.optimizer), outcome);
  return line.firstNonfinite ? QStringLiteral("%1. %2").arg(head, qt(report::firstNonfiniteText(*line.firstNonfinite))) : head;
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
                       cellIn(run, "skipped", countCell(static_cast<std::int64_t>(run.mostSkipped()))), cellIn(run, "applied", countCell(run.appliedUpdates)), cellIn(run, "loss", numberCell(run.finalLoss())),
                       cellIn(run, "scale_after", scaleCell(run.finalScale)), percentCell(run.accuracy.value_or(std::nan(""))),
                       countCell(static_cast<std::int64_t>(run.alarms.size())), textCell(firstText(run)), textCell(run.error.empty() ? QStringLiteral("no") : qt(run.error))}});
  setRows(std::move(rows));
}

TrainingFindingsModel::TrainingFindingsModel(QObject* parent)
    : RowTableModel({QStringLiteral("Step"), QStringLiteral("Kind"), QStringLiteral("Name"), QStringLiteral("Where"), QStringLiteral("What")}, parent) {}

void TrainingFindingsModel::setRun(const TrainingPointer& training, std::size_t run) {
  std::vector<Row> rows;
  const auto add = [&rows](std::int64_t step, const char* kind, const std::string& name, const QString& what, const QString& where) {
    rows.push_back({static_cast<qlonglong>(step), {step < 0 ? TableCell{QStringLiteral("–"), -1, true} : countCell(step), textCell(QLatin1String(kind)), textCell(name), textCell(where), textCell(what)}});
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

bool TrainingFindingsModel::hasPlaces() const {
  for (int row = 0; row < rowCount(); ++row)
    if (!index(row, kWhere).data().toString().isEmpty()) return true;
  return false;
}

QVariant TrainingFindingsModel::data(const QModelIndex& index, int role) const {
  if (role != Qt::ToolTipRole && role != Qt::AccessibleDescriptionRole) return RowTableModel::data(index, role);
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto text = [&](Column column) { return index.siblingAtColumn(column).data().toString(); };
  QString sentence = QStringLiteral("%1: %2").arg(text(kName).isEmpty() ? text(kKind) : QStringLiteral("%1 %2").arg(text(kKind), text(kName)), text(kWhat));
  if (text(kStep) != QStringLiteral("–")) sentence = QStringLiteral("step %1, %2").arg(text(kStep), sentence);
  if (!text(kWhere).isEmpty()) sentence += QStringLiteral(" (%1)").arg(text(kWhere));
  return role == Qt::ToolTipRole ? QStringLiteral("<p>%1</p>").arg(sentence.toHtmlEscaped()) : sentence;
}

}  // namespace ulpscope::models
