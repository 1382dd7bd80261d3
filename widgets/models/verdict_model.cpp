#include "widgets/models/verdict_model.h"

#include <algorithm>

namespace ulpscope::models {
namespace {

// Shape says the same as the word.
QString statusText(session::JudgedAs status) {
  const QString sign = status == session::JudgedAs::pass ? QStringLiteral("✓ ") : status == session::JudgedAs::fail ? QStringLiteral("✕ ") : QStringLiteral("– ");
  return sign + qt(session::name(status));
}

}  // namespace

VerdictModel::VerdictModel(QObject* parent)
    : RowTableModel({QStringLiteral("Criterion"), QStringLiteral("Status"), QStringLiteral("Measured"), QStringLiteral("Limit"), QStringLiteral("Measured / limit"),
                     QStringLiteral("Worst sample"), QStringLiteral("Note")}, parent) {}

void VerdictModel::setRun(const RunPointer& run) {
  std::vector<Row> rows;
  if (run && run->run->verdict) {
    const auto& ids = run->session->samples.ids;
    for (const session::CriterionResult& c : run->run->verdict->criteria) {
      const auto worst = c.worstSample.empty() ? ids.end() : std::find(ids.begin(), ids.end(), c.worstSample);
      const qlonglong sample = worst == ids.end() ? -1 : static_cast<qlonglong>(worst - ids.begin());
      rows.push_back({sample, {textCell(c.id), textCell(statusText(c.status)), numberCell(c.measured), numberCell(c.limit), numberCell(c.ratio), textCell(c.worstSample), textCell(c.note)}});
    }
  }
  setRows(std::move(rows));
}

}  // namespace ulpscope::models
