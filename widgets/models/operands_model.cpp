#include "widgets/models/operands_model.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::models {
namespace {

using session::Metric;
using session::SiteOperand;
using From = SiteOperand::From;

const QString kNone = QStringLiteral("–");

// None: no dtype of ours, or the run had no such operand.
QString dtypeText(const std::optional<base::DType>& dtype) { return dtype ? qt(base::name(*dtype)) : kNone; }

QString producerText(const session::SiteSummary& site) {
  const QString label = qt(session::siteLabel(site));
  return site.output > 0 ? label + QStringLiteral(", output %1").arg(site.output) : label;
}

TableCell fromCell(const LoadedRun& run, const SiteOperand& operand) {
  TableCell cell;
  switch (operand.from) {
    case From::site:
      cell = textCell(producerText(run.run->sites[static_cast<std::size_t>(operand.site)]));
      cell.tooltip = cell.text + QStringLiteral("\nEnter or a double click shows that op site");
      return cell;
    case From::parameter: return textCell(QStringLiteral("parameter ") + qt(operand.origin));
    case From::input: return textCell(QStringLiteral("input ") + qt(operand.origin));
    case From::unknown: break;
  }
  cell = textCell(QStringLiteral("unknown"));
  cell.tooltip = QStringLiteral("A constant, what no compared op made, or what the two runs took from different places");
  return cell;
}

// "float16 → float32": as it comes, and what the policy casts it to.
TableCell candidateCell(const SiteOperand& operand) {
  TableCell cell = textCell(dtypeText(operand.candidateDtype));
  if (!operand.castTo) return cell;
  cell.text += QStringLiteral(" → ") + qt(base::name(*operand.castTo));
  cell.tooltip = QStringLiteral("%1 as it comes, cast to %2 by the policy").arg(dtypeText(operand.candidateDtype), qt(base::name(*operand.castTo)));
  return cell;
}

TableCell maxCell(const LoadedRun& run, const SiteOperand& operand, Metric metric) {
  TableCell cell{kNone, -HUGE_VAL, true, QStringLiteral("Measured where an op made it")};
  if (operand.from != From::site) return cell;
  const session::SiteSummary& site = run.run->sites[static_cast<std::size_t>(operand.site)];
  if (site.values.has(metric)) return {qt(base::groupedNumber(site.values[metric])), site.values[metric], true, {}};
  cell.tooltip = site.viewOf.empty() ? QStringLiteral("Nothing finite to measure there") : QStringLiteral("A view: its numbers are those of what it views");
  return cell;
}

}  // namespace

OperandsModel::OperandsModel(QObject* parent)
    : RowTableModel({QStringLiteral("Operand"), QStringLiteral("From"), QStringLiteral("FP32"), QStringLiteral("AMP"), QStringLiteral("FP32 max |x|"),
                     QStringLiteral("AMP max |x|")}, parent) {}

void OperandsModel::setSite(const RunPointer& run, std::int64_t site) {
  std::vector<Row> rows;
  const auto* operands = run && site >= 0 ? &run->run->sites[static_cast<std::size_t>(site)].operands : nullptr;
  if (operands && *operands)
    for (const SiteOperand& operand : (*operands)->listed)
      rows.push_back({static_cast<qlonglong>(operand.from == From::site ? operand.site : -1),
                      {textCell(operand.name), fromCell(*run, operand), textCell(dtypeText(operand.referenceDtype)), candidateCell(operand),
                       maxCell(*run, operand, Metric::referenceMaxAbs), maxCell(*run, operand, Metric::candidateMaxAbs)}});
  setRows(std::move(rows));
}

QString operandsNote(const LoadedRun& run, std::int64_t site) {
  if (site < 0) return {};
  const auto& sites = run.run->sites;
  const auto& operands = sites[static_cast<std::size_t>(site)].operands;
  if (!operands) {
    const bool others = std::any_of(sites.begin(), sites.end(), [](const session::SiteSummary& s) { return s.operands.has_value(); });
    return others ? QStringLiteral("Operands are recorded in the first batch, which did not reach this op site.") : QStringLiteral("This run did not record operands: an older Ulpscope made it.");
  }
  if (operands->count == 0) return QStringLiteral("This op takes no tensors.");
  const auto listed = static_cast<std::int64_t>(operands->listed.size());
  if (listed == operands->count) return {};
  return QStringLiteral("The first %1 of %2.").arg(qt(base::groupedInteger(listed)), qt(base::counted(operands->count, "operand")));
}

}  // namespace ulpscope::models
