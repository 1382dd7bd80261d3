#include "widgets/models/runs_model.h"

#include "core/base/number_text.h"

namespace ulpscope::models {

QString policyText(const session::RunRecord& run) { return qt(session::runLabel(run)); }

QString firstNonfiniteText(const session::RunRecord& run) {
  if (run.nonfiniteOrigins.empty()) return QStringLiteral("none");
  const session::NonfiniteFinding& first = run.nonfiniteOrigins.front();
  return QStringLiteral("%1: %2, %3").arg(modulePathText(qt(first.modulePath)), qt(first.op), qt(first.cause));
}

RunsModel::RunsModel(QObject* parent)
    : RowTableModel({QStringLiteral("Shown"), QStringLiteral("Run"), QStringLiteral("Policy"), QStringLiteral("First non-finite"), QStringLiteral("Origins"),
                     QStringLiteral("Flips"), QStringLiteral("No decision"), QStringLiteral("Worst error"), QStringLiteral("Seconds")}, parent) {}

void RunsModel::setSession(const std::shared_ptr<const session::Session>& session, const QString& idA, const QString& idB) {
  std::vector<Row> rows;
  if (session) {
    for (const session::RunRecord& run : session->runs) {
      const QString id = qt(run.id());
      const QString shown = id == idB ? QStringLiteral("B") : id == idA ? QStringLiteral("A") : QString();
      const bool decides = run.settings.decision.decides();
      TableCell number = countCell(run.number);
      number.tooltip = QStringLiteral("made %1").arg(qt(run.createdUtc));
      const TableCell none{QStringLiteral("–"), -1, true};
      rows.push_back({id,
                      {textCell(shown), number, textCell(policyText(run)), textCell(firstNonfiniteText(run)),
                       countCell(static_cast<std::int64_t>(run.nonfiniteOrigins.size())),
                       decides ? countCell(static_cast<std::int64_t>(run.flips.size())) : none,
                       decides ? countCell(static_cast<std::int64_t>(run.noDecision.size())) : none,
                       numberCell(worstError(run)), numberCell(run.elapsedSeconds)}});
    }
  }
  setRows(std::move(rows));
}

}  // namespace ulpscope::models
