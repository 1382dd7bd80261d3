#include "widgets/models/training_timeline.h"

#include "core/base/number_text.h"

#include <algorithm>

namespace ulpscope::models {
namespace {

double placeAfter(std::int64_t steps) { return static_cast<double>(steps) - 0.5; }

QString goodText(bool isGood) { return isGood ? QStringLiteral("good") : QStringLiteral("not one to return to"); }

// "change 'bf16 from here': autocast, dtype: float16 -> bfloat16".
QString changeText(const session::ResumeRecord& resume) {
  if (resume.change.empty() && resume.differences.empty()) return QStringLiteral("nothing changed");
  QStringList differences;
  for (const session::RecipeDifference& difference : resume.differences) differences << qt(difference.text());
  return QStringLiteral("change '%1': %2").arg(qt(resume.change), differences.isEmpty() ? QStringLiteral("the recipe is the same") : differences.join(QStringLiteral("; ")));
}

QString rollbackText(const session::RollbackRecord& back) {
  return QStringLiteral("step %1, rule %2: %3; back to the checkpoint after %4").arg(back.step).arg(qt(back.rule), qt(back.text), qt(base::counted(back.toStep, "step")));
}

}  // namespace

std::vector<TimelineMark> timelineOf(const session::Training& training) {
  using Kind = TimelineMark::Kind;
  std::vector<TimelineMark> marks;
  for (const session::CheckpointEntry& entry : training.checkpoints)
    marks.push_back({entry.good ? Kind::goodCheckpoint : Kind::badCheckpoint, placeAfter(entry.step), {}, QStringLiteral("checkpoint after %1 (%2): %3").arg(qt(base::counted(entry.step, "step")), goodText(entry.good), qt(entry.file))});
  for (const session::ResumeRecord& resume : training.resumes)
    marks.push_back({Kind::resumed, placeAfter(resume.step), resume.change.empty() ? QStringLiteral("resumed") : qt(resume.change), QStringLiteral("resumed after %1: %2").arg(qt(base::counted(resume.step, "step")), changeText(resume))});
  if (const auto& back = training.rollback) marks.push_back({Kind::rolledBack, static_cast<double>(back->step), QStringLiteral("rolled back"), QStringLiteral("rolled back: ") + rollbackText(*back)});
  std::stable_sort(marks.begin(), marks.end(), [](const TimelineMark& a, const TimelineMark& b) { return a.at < b.at; });
  return marks;
}

CheckpointsModel::CheckpointsModel(QObject* parent)
    : RowTableModel({QStringLiteral("Steps done"), QStringLiteral("What"), QStringLiteral("Good"), QStringLiteral("File"), QStringLiteral("Details")}, parent) {}

std::vector<CheckpointsModel::Entry> CheckpointsModel::entriesOf(const session::Training& training) {
  std::vector<Entry> entries;
  const auto cells = [](std::int64_t steps, const char* what, const QString& good, const std::string& file, const QString& details) {
    return std::vector<TableCell>{countCell(steps), textCell(QLatin1String(what)), textCell(good), textCell(file), textCell(details)};
  };
  for (const session::CheckpointEntry& e : training.checkpoints)
    entries.push_back({e.step, kResume, qt(e.file), cells(e.step, "checkpoint", e.good ? QStringLiteral("yes") : QStringLiteral("no"), e.file, e.good ? QString() : goodText(false))});
  for (const session::ResumeRecord& r : training.resumes) entries.push_back({r.step, kNothing, {}, cells(r.step, "resumed", QStringLiteral("–"), r.checkpoint, changeText(r))});
  if (const auto& back = training.rollback) entries.push_back({back->step, kReplay, qt(back->caseFile), cells(back->step, "rolled back", QStringLiteral("–"), back->caseFile, rollbackText(*back))});
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.steps < b.steps; });
  return entries;
}

void CheckpointsModel::setTraining(const TrainingPointer& training) {
  m_entries = training ? entriesOf(*training) : std::vector<Entry>();
  std::vector<Row> rows;
  for (const Entry& entry : m_entries) rows.push_back({static_cast<int>(rows.size()), entry.cells});
  setRows(std::move(rows));
}

QVariant CheckpointsModel::data(const QModelIndex& index, int role) const {
  if (role < kActionRole || role > kStepsRole) return RowTableModel::data(index, role);
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Entry& entry = m_entries[static_cast<std::size_t>(index.row())];
  if (role == kActionRole) return static_cast<int>(entry.action);
  return role == kFileRole ? QVariant(entry.file) : QVariant(static_cast<qlonglong>(entry.steps));
}

}  // namespace ulpscope::models
