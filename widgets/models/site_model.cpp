#include "widgets/models/site_model.h"

#include "core/base/float_formats.h"
#include "core/base/number_text.h"
#include "widgets/models/badge.h"
#include "widgets/models/nonfinite_model.h"

#include <cmath>

namespace ulpscope::models {
namespace {

using session::Metric;

constexpr int kLongId = 40;  // characters

QString opText(const session::SiteSummary& site) {
  QString text = qt(site.op);
  if (!site.overload.empty()) text += u'.' + qt(site.overload);
  if (site.occurrence > 1) text += QStringLiteral("#%1").arg(site.occurrence);
  return text;
}

void addIntroduced(std::vector<Fact>& facts, const session::SiteSummary& site) {
  if (site.values.has(Metric::introducedRelL2))
    facts.push_back({QStringLiteral("introduced by this op"), qt(base::shortNumber(site.values[Metric::introducedRelL2])), false});
}

// The rest of what was measured, worst over samples; what was not evaluated is left out.
void addFurther(std::vector<Fact>& facts, const session::SiteSummary& site) {
  for (const Metric metric : {Metric::inheritedRelL2, Metric::meanAbs, Metric::maxRel, Metric::cosineDistance, Metric::sqnr, Metric::maxUlp,
                              Metric::shareOverTolerance, Metric::shareFlushed, Metric::shareSubnormalReference, Metric::shareSubnormalCandidate}) {
    if (!site.values.has(metric)) continue;
    const QString unit = qt(session::unit(metric));
    facts.push_back({qt(session::label(metric)), qt(base::shortNumber(site.values[metric])) + (unit.isEmpty() ? QString() : u' ' + unit)});
  }
  if (site.noiseFloorRelL2) facts.push_back({QStringLiteral("FP32's own noise"), qt(base::shortNumber(*site.noiseFloorRelL2))});
  if (site.candidateErrorToFp64 && site.referenceErrorToFp64)
    facts.push_back({QStringLiteral("against float64"), QStringLiteral("AMP %1, FP32 %2").arg(qt(base::shortNumber(*site.candidateErrorToFp64)), qt(base::shortNumber(*site.referenceErrorToFp64)))});
}

// "fc2: " for a site below the module shown.
QString placeText(const session::SiteSummary& site, const QString& modulePath) {
  const QString path = qt(site.modulePath);
  if (path == modulePath) return {};
  return (modulePath.isEmpty() ? path : path.mid(modulePath.size() + 1)) + QStringLiteral(": ");
}

QString policyClassText(const std::string& policyClass) {
  if (policyClass.empty() || policyClass == "none") return QStringLiteral("on no autocast list");
  return policyClass == "off" ? QStringLiteral("off: inside a region kept in FP32") : qt(policyClass);
}

void addRange(std::vector<Fact>& facts, const LoadedRun& run, const session::SiteSummary& site) {
  const auto addBounds = [&](const QString& name, Metric min, Metric max) {
    if (site.values.has(min) && site.values.has(max))
      facts.push_back({name, QStringLiteral("%1 to %2").arg(qt(base::groupedNumber(site.values[min])), qt(base::groupedNumber(site.values[max])))});
  };
  addBounds(QStringLiteral("FP32 range"), Metric::referenceMin, Metric::referenceMax);
  addBounds(QStringLiteral("AMP range"), Metric::candidateMin, Metric::candidateMax);
  if (!base::isInexact(site.candidateDtype)) return;
  const base::FormatLimits limits = base::limits(run.run->settings.autocast);
  const bool isLow = site.candidateDtype == run.run->settings.autocast;  // kept wider, it has nothing to fear from them
  const QString low = run.run->settings.autocast == base::DType::bfloat16 ? QStringLiteral("bfloat16") : QStringLiteral("float16");
  const double referenceMax = site.values[Metric::referenceMaxAbs];
  facts.push_back({QStringLiteral("FP32 max |x|"), qt(base::groupedNumber(referenceMax)), isLow && referenceMax > limits.maxFinite});
  facts.push_back({QStringLiteral("AMP max |x|"), qt(base::groupedNumber(site.values[Metric::candidateMaxAbs])), false});
  facts.push_back({low + QStringLiteral(" max"), qt(base::groupedNumber(limits.maxFinite)), false});
  if (site.values.has(Metric::headroomBits))
    facts.push_back({QStringLiteral("headroom"), QStringLiteral("%1 bits").arg(qt(base::shortNumber(site.values[Metric::headroomBits]))),
                     isLow && site.values[Metric::headroomBits] < 0});
}

// At one sample, from the metrics file; nothing when it is not loaded.
void addSample(std::vector<Fact>& facts, const LoadedRun& run, std::int64_t site, std::int64_t sample) {
  if (!run.metrics || sample < 0 || sample >= run.metrics->samples() || site >= run.metrics->sites()) return;
  const std::vector<render::ModuleRow> only{{{}, {}, {site}}};
  const auto& ids = run.session->samples.ids;
  const QString id = static_cast<std::size_t>(sample) < ids.size() ? qt(ids[static_cast<std::size_t>(sample)]) : QString::number(sample);
  for (const Metric metric : {Metric::relL2, Metric::maxAbs}) {
    const render::Cell cell = render::moduleHeatmap(only, *run.metrics, metric).at(0, sample);
    const QString name = metric == Metric::relL2 ? QStringLiteral("relative L2, %1") : QStringLiteral("max abs, %1");
    facts.push_back({name.arg(id.size() > kLongId ? id.left(kLongId) + QStringLiteral("…") : id), qt(render::cellText(cell)), render::isNonfinite(cell.kind)});
  }
}

}  // namespace

QString shapeText(const std::vector<std::int64_t>& shape) {
  QStringList parts;
  for (const std::int64_t n : shape) parts << QString::number(n);
  return u'[' + parts.join(QStringLiteral(", ")) + u']';
}

SiteModel::SiteModel(QObject* parent)
    : RowTableModel({QStringLiteral("Op site"), QStringLiteral("Worst error"), QStringLiteral("Dtype"), QStringLiteral("Policy")}, parent) {}

void SiteModel::setModule(const RunPointer& run, const QString& modulePath) {
  std::vector<Row> rows;
  if (run) {
    const std::vector<std::int64_t>& own = run->sitesOf(modulePath);
    for (const std::int64_t index : own.empty() ? run->sitesWithin(modulePath) : own) {
      const session::SiteSummary& site = run->run->sites[static_cast<std::size_t>(index)];
      const Badge badge = siteBadge(site, run->tolerance());
      const bool isView = !site.viewOf.empty();
      TableCell error{isView ? QStringLiteral("view") : badge.text(), static_cast<double>(static_cast<int>(badge.kind)) * 1e12 + badge.ratio, true, badge.accessibleText()};
      rows.push_back({static_cast<qlonglong>(index), {textCell(placeText(site, modulePath) + opText(site)), error, textCell(base::name(site.candidateDtype)), textCell(site.policyClass)}});
    }
  }
  setRows(std::move(rows));
}

std::vector<Fact> siteFacts(const LoadedRun& run, std::int64_t index, std::int64_t sample) {
  const session::SiteSummary& site = run.run->sites[static_cast<std::size_t>(index)];
  std::vector<Fact> facts;
  facts.push_back({QStringLiteral("op site"), opText(site)});
  if (!site.viewOf.empty()) facts.push_back({QStringLiteral("view of"), qt(site.viewOf)});
  facts.push_back({QStringLiteral("relative L2 error"), qt(base::shortNumber(site.values[Metric::relL2])), !(site.values[Metric::relL2] <= run.tolerance())});
  facts.push_back({QStringLiteral("max abs error"), qt(base::shortNumber(site.values[Metric::maxAbs]))});
  addIntroduced(facts, site);
  addFurther(facts, site);
  addSample(facts, run, index, sample);
  addRange(facts, run, site);
  facts.push_back({QStringLiteral("non-finite in AMP only"), countsText(site.candidateOnly), site.candidateOnly.total() > 0});
  if (site.reference.total() > 0) facts.push_back({QStringLiteral("non-finite in FP32"), countsText(site.reference)});
  facts.push_back({QStringLiteral("over tolerance"), qt(base::counted(site.elementsOverTolerance, "element"))});
  facts.push_back({QStringLiteral("dtype FP32 → AMP"), qt(base::name(site.referenceDtype)) + QStringLiteral(" → ") + qt(base::name(site.candidateDtype))});
  facts.push_back({QStringLiteral("shape, first batch"), shapeText(site.shape)});
  facts.push_back({QStringLiteral("policy"), policyClassText(site.policyClass)});
  if (!site.source.empty()) facts.push_back({QStringLiteral("source"), qt(site.source)});
  return facts;
}

std::int64_t siteToShow(const LoadedRun& run, const Selection& selection) {
  if (!selection.modulePath()) return -1;
  return selection.site() >= 0 ? selection.site() : run.worstSite(*selection.modulePath());
}

QString diagnosisText(const LoadedRun& run, std::int64_t site) {
  for (const session::NonfiniteFinding& finding : run.run->nonfiniteOrigins)
    if (finding.site == site && site >= 0) return qt(finding.diagnosis);
  return {};
}

QString operandsText(const LoadedRun& run, std::int64_t site) {
  QStringList lines;
  for (const auto* findings : {&run.run->nonfiniteOrigins, &run.run->referenceNonfinite})
    for (const session::NonfiniteFinding& finding : *findings) {
      if (finding.site != site || site < 0 || !lines.isEmpty()) continue;
      for (const session::OperandRange& operand : finding.operands)
        lines << QStringLiteral("%1: %2, %3 to %4, max |x| %5")
                     .arg(qt(operand.name), qt(base::name(operand.dtype)), qt(base::groupedNumber(operand.range.min)), qt(base::groupedNumber(operand.range.max)),
                          qt(base::groupedNumber(operand.range.maxAbs)));
    }
  return lines.join(u'\n');
}

}  // namespace ulpscope::models
