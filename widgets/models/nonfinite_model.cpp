#include "widgets/models/nonfinite_model.h"

#include "core/base/number_text.h"

namespace ulpscope::models {

QString countsText(const session::NonfiniteCounts& counts) {
  QStringList parts;
  const auto add = [&parts](std::int64_t count, const char* what) {
    if (count > 0) parts << qt(base::groupedInteger(count)) + u' ' + QLatin1String(what);
  };
  add(counts.nan, "NaN");
  add(counts.plusInf, "+inf");
  add(counts.minusInf, "-inf");
  return parts.isEmpty() ? QStringLiteral("none") : parts.join(QStringLiteral(", "));
}

QString samplesText(const session::NonfiniteFinding& finding) {
  return finding.wholeBatch ? QStringLiteral("whole batch") : shortList(finding.sampleIds);
}

NonfiniteModel::NonfiniteModel(QObject* parent)
    : RowTableModel({QStringLiteral("Stage"), QStringLiteral("Op"), QStringLiteral("Cause"), QStringLiteral("Module"),
                     QStringLiteral("Samples"), QStringLiteral("Elements"), QStringLiteral("Source")}, parent) {}

void NonfiniteModel::setRun(const RunPointer& run) {
  std::vector<Row> rows;
  if (run) {
    for (const session::NonfiniteFinding& f : run->run->nonfiniteOrigins) {
      TableCell samples{samplesText(f), static_cast<qlonglong>(f.sampleIds.size()), false};
      TableCell elements{countsText(f.counts), static_cast<qlonglong>(f.counts.total()), false};
      const QString op = qt(f.op) + (f.occurrence > 1 ? QStringLiteral("#%1").arg(f.occurrence) : QString());
      rows.push_back({static_cast<int>(rows.size()),
                      {textCell(f.stage), textCell(op), textCell(f.cause), textCell(modulePathText(qt(f.modulePath))), samples, elements, textCell(f.source)}});
    }
  }
  setRows(std::move(rows));
}

}  // namespace ulpscope::models
