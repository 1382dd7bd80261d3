#include "widgets/models/nonfinite_model.h"

#include "core/base/number_text.h"

#include <optional>

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

namespace {

// What both tables have in common: stage, op, cause, module; samples, elements, source.
QString opText(const session::NonfiniteFinding& f) { return qt(f.op) + (f.occurrence > 1 ? QStringLiteral("#%1").arg(f.occurrence) : QString()); }
TableCell samplesCell(const session::NonfiniteFinding& f) { return {samplesText(f), static_cast<qlonglong>(f.sampleIds.size()), false}; }
TableCell elementsCell(const session::NonfiniteFinding& f) { return {countsText(f.counts), static_cast<qlonglong>(f.counts.total()), false}; }

QString rootCauseText(const session::NonfiniteFinding& f) {
  if (!f.rootCause) return QStringLiteral("–");
  return QStringLiteral("%1 in %2: %3").arg(qt(f.rootCause->op), modulePathText(qt(f.rootCause->modulePath)), qt(f.rootCause->why));
}

// An input or a parameter that no module is known of.
bool hasModule(const session::NonfiniteFinding& f) { return f.site >= 0 || !f.modulePath.empty(); }

QString firstValueText(const session::RunRecord& run, const std::optional<session::FirstValue>& first, const QString& what) {
  if (!first || first->site < 0 || static_cast<std::size_t>(first->site) >= run.sites.size()) return {};
  const session::SiteSummary& site = run.sites[static_cast<std::size_t>(first->site)];
  QString text = QStringLiteral("First %1: %2").arg(what, qt(session::siteLabel(site)));
  if (!first->sampleIds.empty()) text += QStringLiteral(" in %1 %2").arg(first->sampleIds.size() == 1 ? QStringLiteral("sample") : QStringLiteral("samples"), shortList(first->sampleIds, 3));
  return text + (site.role == session::NonfiniteRole::origin ? QStringLiteral(" (an origin)") : QStringLiteral(" (carried on from before)"));
}

}  // namespace

NonfiniteModel::NonfiniteModel(QObject* parent)
    : RowTableModel({QStringLiteral("Stage"), QStringLiteral("Op"), QStringLiteral("Cause"), QStringLiteral("Module"), QStringLiteral("Root cause"),
                     QStringLiteral("Samples"), QStringLiteral("Elements"), QStringLiteral("Source"), QStringLiteral("FP32")}, parent) {}

void NonfiniteModel::setRun(const RunPointer& run) {
  m_run = run;
  std::vector<Row> rows;
  if (run)
    for (const session::NonfiniteFinding& f : run->run->nonfiniteOrigins)
      rows.push_back({static_cast<int>(rows.size()), {textCell(f.stage), textCell(opText(f)), textCell(f.cause), textCell(modulePathText(qt(f.modulePath))), textCell(rootCauseText(f)),
                                                      samplesCell(f), elementsCell(f), textCell(f.source), TableCell{}}});
  setRows(std::move(rows));
}

void NonfiniteModel::setRegions(const Fp32Regions& regions) {
  if (m_regions == regions) return;
  m_regions = regions;
  if (rowCount() > 0) emit dataChanged(index(0, kFp32), index(rowCount() - 1, kFp32));
}

const session::NonfiniteFinding& NonfiniteModel::findingOf(const QModelIndex& index) const {
  return m_run->run->nonfiniteOrigins[static_cast<std::size_t>(RowTableModel::data(index, kKeyRole).toInt())];
}

QVariant NonfiniteModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const session::NonfiniteFinding& finding = findingOf(index);
  if (role == kPathRole) return qt(finding.modulePath);
  if (role == kRootPathRole) return finding.rootCause ? QVariant(qt(finding.rootCause->modulePath)) : QVariant();
  if (role == kRegionRole) return static_cast<int>(m_regions.stateOf(qt(finding.modulePath)));
  return index.column() == kFp32 && role != kKeyRole ? fp32Data(finding, role) : RowTableModel::data(index, role);
}

QVariant NonfiniteModel::fp32Data(const session::NonfiniteFinding& finding, int role) const {
  const QString path = qt(finding.modulePath);
  const RegionState state = m_regions.stateOf(path);
  switch (role) {
    case Qt::CheckStateRole: return !hasModule(finding) ? QVariant() : state == RegionState::off ? Qt::Unchecked : state == RegionState::partial ? Qt::PartiallyChecked : Qt::Checked;
    case kSortRole: return static_cast<int>(state);
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole: return hasModule(finding) ? regionText(m_regions, path) : QStringLiteral("It came in with the inputs: no module makes it");
    default: return {};
  }
}

Qt::ItemFlags NonfiniteModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = RowTableModel::flags(index);
  return index.isValid() && index.column() == kFp32 && hasModule(findingOf(index)) ? flags | Qt::ItemIsUserCheckable : flags;
}

bool NonfiniteModel::setData(const QModelIndex& index, const QVariant&, int role) {
  if (role != Qt::CheckStateRole || !(flags(index) & Qt::ItemIsUserCheckable)) return false;
  emit toggleRequested(qt(findingOf(index).modulePath));
  return true;
}

ReferenceNonfiniteModel::ReferenceNonfiniteModel(QObject* parent)
    : RowTableModel({QStringLiteral("Stage"), QStringLiteral("Op"), QStringLiteral("Cause"), QStringLiteral("Module"), QStringLiteral("Intended by rule"),
                     QStringLiteral("Samples"), QStringLiteral("Elements"), QStringLiteral("Source")}, parent) {}

void ReferenceNonfiniteModel::setRun(const RunPointer& run) {
  std::vector<Row> rows;
  if (run)
    for (const session::NonfiniteFinding& f : run->run->referenceNonfinite)
      rows.push_back({static_cast<int>(rows.size()), {textCell(f.stage), textCell(opText(f)), textCell(f.cause), textCell(modulePathText(qt(f.modulePath))),
                                                      f.explainedBy.empty() ? textCell(QStringLiteral("none: FP32 is no baseline with it")) : textCell(f.explainedBy), samplesCell(f), elementsCell(f), textCell(f.source)}});
  setRows(std::move(rows));
}

QString firstValuesText(const session::RunRecord& run) {
  QStringList parts;
  for (const QString& text : {firstValueText(run, run.firstNan, QStringLiteral("NaN")), firstValueText(run, run.firstInf, QStringLiteral("inf"))})
    if (!text.isEmpty()) parts << text;
  return parts.join(QStringLiteral("   ·   "));
}

QString lookedAtText(const session::RunRecord& run) {
  const QString samples = qt(base::counted(run.samplesComplete, "sample"));
  if (run.settings.observe == session::Observe::outputs)
    return QStringLiteral("the outputs of %1 only; op sites take --observe full").arg(samples) +
           (run.nonfiniteSamples.empty() ? QString() : QStringLiteral(". Outputs are non-finite in: %1").arg(shortList(run.nonfiniteSamples)));
  if (run.sites.empty()) return QStringLiteral("nothing: no op was compared, do not trust this run");
  const QString sites = qt(base::counted(static_cast<std::int64_t>(run.sites.size()), "op site"));
  QString text = QStringLiteral("every element of %1, of inputs and of parameters, in %2").arg(sites, samples);
  if (run.candidateError) text += QStringLiteral(", up to the op that raised");
  return text;
}

}  // namespace ulpscope::models
