#include "widgets/models/tensor_tables.h"

#include "core/analysis/element_text.h"
#include "core/analysis/precision_ladder.h"
#include "core/base/float_formats.h"
#include "core/base/number_text.h"

#include <cmath>
#include <set>

namespace ulpscope::models {
namespace {

TableCell valueCell(const std::string& text, double value) { return {qt(text), std::isnan(value) ? -HUGE_VAL : value, true}; }

TableCell ulpCell(std::int64_t ulps) { return ulps < 0 ? TableCell{QStringLiteral("-"), static_cast<qlonglong>(-1), true} : countCell(ulps); }

QString noteOf(const analysis::LadderRung& rung) {
  if (rung.overflows) return QStringLiteral("overflows");
  if (rung.flushed) return QStringLiteral("becomes 0");
  if (rung.subnormal) return QStringLiteral("subnormal");
  if (rung.error == 0) return QStringLiteral("exact");
  return {};
}

QString headroomText(double bits) {
  if (std::isnan(bits)) return QStringLiteral("-");
  if (std::isinf(bits)) return bits > 0 ? QStringLiteral("all") : QStringLiteral("none");
  return QStringLiteral("%1 bits").arg(qt(base::shortNumber(bits)));
}

// What stands for a number where there is none to give.
TableCell numberOrDash(double value) { return std::isnan(value) ? TableCell{QStringLiteral("-"), -HUGE_VAL, true} : numberCell(value); }

}  // namespace

WorstModel::WorstModel(QObject* parent)
    : RowTableModel({QStringLiteral("Index"), QStringLiteral("FP32/AMP"), QStringLiteral("AMP"), QStringLiteral("Difference"), QStringLiteral("ULP")}, parent) {}

void WorstModel::setLook(const TensorLookPointer& look, analysis::WorstBy by) {
  std::vector<Row> rows;
  if (look) {
    const analysis::TensorView reference = look->reference().value, candidate = look->candidate().value;
    const analysis::WorstElements& worst = by == analysis::WorstBy::ulp ? look->byUlp : look->byDifference;
    for (const analysis::WorstElement& w : worst.elements) {
      TableCell index{qt(render::indexText(look->indexOf(w.element))), static_cast<qlonglong>(w.element), false};
      TableCell a = valueCell(analysis::elementText(reference, w.element), w.pair.reference), b = valueCell(analysis::elementText(candidate, w.element), w.pair.candidate);
      a.tooltip = QStringLiteral("FP32 %1\nAMP %2").arg(a.text, b.text);
      rows.push_back({static_cast<qlonglong>(w.element), {index, a, b, numberCell(w.pair.difference), ulpCell(w.ulps)}});
    }
  }
  setRows(std::move(rows));
}

std::vector<ExponentLimit> exponentLimits(base::DType low) {
  const base::FormatLimits limits = base::limits(low);
  return {{QStringLiteral("largest finite"), std::ilogb(limits.maxFinite)},
          {QStringLiteral("smallest normal"), std::ilogb(limits.minNormal)},
          {QStringLiteral("smallest subnormal"), std::ilogb(limits.minSubnormal)}};
}

ExponentSpan exponentSpan(const TensorLook& look) {
  const analysis::ExponentHistogram &a = look.referenceExponents, &b = look.candidateExponents;
  if (a.counts.empty()) return b.counts.empty() ? ExponentSpan{} : ExponentSpan{b.firstExponent, b.endExponent()};
  if (b.counts.empty()) return {a.firstExponent, a.endExponent()};
  return {std::min(a.firstExponent, b.firstExponent), std::max(a.endExponent(), b.endExponent())};
}

ExponentModel::ExponentModel(QObject* parent)
    : RowTableModel({QStringLiteral("|x| from"), QStringLiteral("FP32"), QStringLiteral("AMP"), QStringLiteral("Limit")}, parent) {}

void ExponentModel::setLook(const TensorLookPointer& look) {
  std::vector<Row> rows;
  if (look) {
    const analysis::ExponentHistogram &a = look->referenceExponents, &b = look->candidateExponents;
    const std::vector<ExponentLimit> limits = exponentLimits(look->run->run->settings.autocast);
    const auto limitAt = [&](int exponent) {
      for (const ExponentLimit& limit : limits)
        if (limit.exponent == exponent) return limit.name;
      return QString();
    };
    const ExponentSpan span = exponentSpan(*look);
    std::set<int, std::greater<>> exponents;
    for (int e = span.first; e < span.end; ++e) exponents.insert(e);
    for (const ExponentLimit& limit : limits) exponents.insert(limit.exponent);
    for (const int e : exponents) {
      TableCell from{powerOfTwoText(e), e, false, qt(base::shortNumber(std::ldexp(1.0, e)))};
      rows.push_back({e, {from, countCell(a.at(e)), countCell(b.at(e)), textCell(limitAt(e))}});
    }
    setHeaders({QStringLiteral("|x| from"), QStringLiteral("FP32"), QStringLiteral("AMP"), QStringLiteral("%1 limit").arg(lowFormat(*look->run->run))});
    const auto addClass = [&](const char* key, const QString& name, std::int64_t reference, std::int64_t candidate) {
      rows.push_back({QLatin1String(key), {{name, -4000, false}, countCell(reference), countCell(candidate), textCell(QString())}});
    };
    addClass("zero", QStringLiteral("zero"), a.zeros, b.zeros);
    addClass("nan", QStringLiteral("NaN"), a.nan, b.nan);
    addClass("infinite", QStringLiteral("±inf"), a.infinite, b.infinite);
  }
  setRows(std::move(rows));
}

LadderModel::LadderModel(QObject* parent)
    : RowTableModel({QStringLiteral("Format"), QStringLiteral("Value"), QStringLiteral("Note"), QStringLiteral("ULP, error"), QStringLiteral("Headroom"),
                     QStringLiteral("Error"), QStringLiteral("Bits")}, parent) {}

void LadderModel::setValue(double value) {
  std::vector<Row> rows;
  for (const analysis::LadderRung& rung : analysis::precisionLadder(value)) {
    const std::string text = rung.name == "FP64" ? base::roundTripNumber(rung.value) : base::exactNumber(rung.value);
    TableCell headroom{headroomText(rung.headroomBits), std::isnan(rung.headroomBits) ? -HUGE_VAL : rung.headroomBits, true};
    TableCell shown = valueCell(text, rung.value), ulps = numberOrDash(rung.ulps);
    const TableCell error = numberOrDash(rung.error);
    shown.tooltip = noteOf(rung).isEmpty() ? shown.text : shown.text + u'\n' + noteOf(rung);
    ulps.tooltip = QStringLiteral("%1 ULP off\nerror %2").arg(ulps.text, error.text);
    rows.push_back({qt(rung.name), {textCell(rung.name), shown, textCell(noteOf(rung)), ulps, headroom, error, textCell(rung.bits)}});
  }
  setRows(std::move(rows));
}

void LadderModel::clear() { setRows({}); }

}  // namespace ulpscope::models
