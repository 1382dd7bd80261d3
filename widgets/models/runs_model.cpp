#include "widgets/models/runs_model.h"

#include "core/base/number_text.h"
#include "core/report/run_changes.h"
#include "core/session/policy_changes.h"

#include <QDateTime>

namespace ulpscope::models {
namespace {

using Sign = RunsModel::Sign;

QString marksText(int marks) {
  QStringList parts;
  if (marks & RunsModel::kA) parts << QStringLiteral("A");
  if (marks & RunsModel::kB) parts << QStringLiteral("B");
  if (marks & RunsModel::kBaseline) parts << QStringLiteral("baseline");
  return parts.join(QStringLiteral(", "));
}

TableCell verdictCell(const session::Session& session, const session::RunRecord& run) {
  if (session.exploratory()) return {QStringLiteral("no criteria"), 4, false, verdictLine(session, run)};
  if (!run.verdict) return {QStringLiteral("none"), 3, false, verdictLine(session, run)};
  return {QStringLiteral("%1, revision %2").arg(qt(session::name(run.verdict->status))).arg(run.verdict->revision), static_cast<int>(run.verdict->status), false, verdictLine(session, run)};
}

Sign verdictSign(const session::RunRecord& run) {
  if (!run.verdict) return Sign::none;
  switch (run.verdict->status) {
    case session::JudgedAs::pass: return Sign::good;
    case session::JudgedAs::fail: return Sign::bad;
    case session::JudgedAs::notEvaluated: break;
  }
  return Sign::open;
}

QString statusText(const session::RunRecord& run) {
  return run.candidateError ? QStringLiteral("raised in %1").arg(modulePathText(qt(run.candidateError->modulePath))) : qt(session::name(run.status));
}

Sign statusSign(const session::RunRecord& run) { return run.candidateError ? Sign::bad : run.status == session::RunStatus::ok ? Sign::none : Sign::open; }

// "2026-01-31 14:02", local time; the tooltip has it as stored.
TableCell madeCell(const session::RunRecord& run) {
  const QDateTime utc = QDateTime::fromString(qt(run.createdUtc), Qt::ISODate);
  return {utc.isValid() ? utc.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm")) : qt(run.createdUtc), qt(run.createdUtc), false, qt(run.createdUtc)};
}

}  // namespace

QString policyText(const session::RunRecord& run) { return qt(session::runLabel(run)); }

QString firstNonfiniteText(const session::RunRecord& run) {
  if (run.nonfiniteOrigins.empty()) return QStringLiteral("none");
  const session::NonfiniteFinding& first = run.nonfiniteOrigins.front();
  return QStringLiteral("%1: %2, %3").arg(modulePathText(qt(first.modulePath)), qt(first.op), qt(first.cause));
}

QString policyChangesText(const std::vector<std::string>& changes) {
  QStringList parts;
  for (const std::string& change : changes) parts << qt(change).replace(QStringLiteral(" -> "), QStringLiteral(" → "));
  return parts.isEmpty() ? QStringLiteral("nothing") : parts.join(QStringLiteral(", "));
}

QString runTitle(const session::Session& session, const session::RunRecord& run) {
  const QString name = qt(session.runName(run.number)), title = QStringLiteral("run %1").arg(run.number);
  return name.isEmpty() ? title : QStringLiteral("%1 '%2'").arg(title, name);
}

RunsModel::RunsModel(QObject* parent)
    : RowTableModel({QStringLiteral("Shown"), QStringLiteral("Run"), QStringLiteral("Name"), QStringLiteral("Differs from A"), QStringLiteral("Verdict"),
                     QStringLiteral("First non-finite"), QStringLiteral("Origins"), QStringLiteral("Flips"), QStringLiteral("No decision"), QStringLiteral("Worst error"),
                     QStringLiteral("Status"), QStringLiteral("Seconds"), QStringLiteral("Made"), QStringLiteral("Policy")}, parent) {}

std::vector<TableCell> RunsModel::cellsOf(const session::RunRecord& run) const {
  const bool decides = run.settings.decision.decides();
  const TableCell none{QStringLiteral("–"), -1, true};
  const session::RunRecord* a = m_session->run(core(m_idA));
  const QString changes = !a ? QStringLiteral("–") : a == &run ? QStringLiteral("is A") : policyChangesText(session::policyChanges(a->settings, run.settings));
  const TableCell marks{marksText(marksOf(run)), -marksOf(run), false};
  return {marks, countCell(run.number), textCell(m_session->runName(run.number)), textCell(changes), verdictCell(*m_session, run), textCell(firstNonfiniteText(run)),
          countCell(static_cast<std::int64_t>(run.nonfiniteOrigins.size())), decides ? countCell(static_cast<std::int64_t>(run.flips.size())) : none,
          decides ? countCell(static_cast<std::int64_t>(run.noDecision.size())) : none, numberCell(report::worstRelL2(run)), textCell(statusText(run)),
          numberCell(run.elapsedSeconds), madeCell(run), textCell(policyText(run))};
}

void RunsModel::setSession(const std::shared_ptr<const session::Session>& session, const QString& idA, const QString& idB) {
  m_session = session;
  m_idA = idA;
  m_idB = idB;
  std::vector<Row> rows;
  if (session)
    for (const session::RunRecord& run : session->runs) rows.push_back({qt(run.id()), cellsOf(run)});
  setRows(std::move(rows));
}

void RunsModel::setNamesEditable(bool editable) { m_namesEditable = editable; }

const session::RunRecord* RunsModel::runOf(const QModelIndex& index) const { return m_session->run(core(RowTableModel::data(index, kKeyRole).toString())); }

int RunsModel::marksOf(const session::RunRecord& run) const {
  const QString id = qt(run.id());
  return (id == m_idA ? kA : 0) | (id == m_idB ? kB : 0) | (run.number == m_session->baselineNumber ? kBaseline : 0);
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == Qt::EditRole && index.column() == kName) return RowTableModel::data(index, Qt::DisplayRole);
  if (role == kMarksRole) return index.column() == kShown ? QVariant(marksOf(*runOf(index))) : QVariant();
  if (role == kSignRole && index.column() == kVerdict) return static_cast<int>(verdictSign(*runOf(index)));
  if (role == kSignRole && index.column() == kStatus) return static_cast<int>(statusSign(*runOf(index)));
  return RowTableModel::data(index, role);
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = RowTableModel::flags(index);
  return index.isValid() && index.column() == kName && m_namesEditable ? flags | Qt::ItemIsEditable : flags;
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable)) return false;
  emit renameRequested(index.data(kKeyRole).toString(), value.toString());
  return true;
}

}  // namespace ulpscope::models
