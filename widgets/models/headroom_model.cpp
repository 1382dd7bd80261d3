#include "widgets/models/headroom_model.h"

#include "core/base/number_text.h"
#include "widgets/models/sample_outcome.h"

#include <cmath>

namespace ulpscope::models {
namespace {

using session::Metric;

QStringList headersFor(const QString& low) {
  return {QStringLiteral("#"), QStringLiteral("Op site"), QStringLiteral("Headroom, bits"), QStringLiteral("State"), QStringLiteral("Max |x| FP32"), QStringLiteral("Max |x| %1").arg(low),
          QStringLiteral("Dtype"), QStringLiteral("Smallest |x| FP32"), QStringLiteral("Subnormal"), QStringLiteral("Flushed to 0")};
}

// Not measured is no zero.
TableCell valueCell(double value) { return {std::isnan(value) ? QStringLiteral("–") : qt(base::groupedNumber(value)), value, true, qt(base::exactNumber(value))}; }
TableCell shareCell(double share) {
  if (std::isnan(share)) return {QStringLiteral("–"), share, true};
  return {qt(base::shortNumber(100 * share)) + QStringLiteral(" %"), share, true, qt(base::exactNumber(100 * share)) + QStringLiteral(" %")};
}
TableCell bitsCell(double bits) { return {std::isnan(bits) ? QStringLiteral("–") : qt(base::shortNumber(bits)), bits, true}; }

}  // namespace

HeadroomModel::HeadroomModel(QObject* parent) : RowTableModel(headersFor(QStringLiteral("AMP")), parent) {}

void HeadroomModel::setRun(const RunPointer& run, const std::vector<render::HeadroomSite>& sites) {
  std::vector<Row> rows;
  if (run) setHeaders(headersFor(lowName(*run->run)));
  for (const render::HeadroomSite& s : sites) {
    const session::SiteSummary& site = run->run->sites[static_cast<std::size_t>(s.site)];
    rows.push_back({static_cast<qlonglong>(s.site),
                    {countCell(static_cast<std::int64_t>(rows.size()) + 1), textCell(session::siteLabel(site)), bitsCell(s.bits), {qt(render::label(s.state)), -static_cast<int>(s.state)}, valueCell(s.referenceMax),
                     valueCell(s.candidateMax), textCell(base::name(site.candidateDtype)), bitsCell(s.referenceSmallest), shareCell(site.values[Metric::shareSubnormalCandidate]), shareCell(site.values[Metric::shareFlushed])}});
  }
  setRows(std::move(rows));
}

}  // namespace ulpscope::models
