#include "widgets/models/decisions_model.h"

#include "core/base/number_text.h"

#include <cmath>
#include <map>

namespace ulpscope::models {
namespace {

QString sampleId(const session::Session& session, std::int64_t sample) {
  const auto& ids = session.samples.ids;
  return sample >= 0 && static_cast<std::size_t>(sample) < ids.size() ? qt(ids[static_cast<std::size_t>(sample)]) : QString::number(sample);
}

TableCell idCell(const QString& id) {
  bool isNumber = false;
  const qlonglong number = id.toLongLong(&isNumber);
  return {id, isNumber ? QVariant(number) : QVariant(id), isNumber};
}

QString firstSite(const LoadedRun& run, const session::Flip& flip) {
  if (flip.firstSiteOverTolerance < 0) return QStringLiteral("none over tolerance");
  return qt(session::siteLabel(run.run->sites[static_cast<std::size_t>(flip.firstSiteOverTolerance)]));
}

TableCell marginCell(const session::DecisionRule& rule, double margin) { return rule.errorsToFlip() == 0 ? textCell(QString()) : numberCell(margin); }

std::vector<TableCell> flipCells(const LoadedRun& run, const session::Flip& flip) {
  const session::DecisionRule& rule = run.run->settings.decision;
  const auto name = [&](std::int64_t decision) { return textCell(session::decisionName(rule, decision, run.session->samples.classNames)); };
  return {idCell(qt(flip.sampleId)), textCell(flip.withinNoiseFloor ? flip.kind + ", within FP32's noise" : flip.kind), name(flip.referenceDecision),
          name(flip.candidateDecision), marginCell(rule, flip.referenceMargin), marginCell(rule, flip.candidateMargin), textCell(firstSite(run, flip)), textCell(flip.effect)};
}

std::vector<TableCell> sameCells(const LoadedRun& run, std::int64_t sample, const session::SampleDecision& decision) {
  const bool ran = run.run->ran(core(sampleId(*run.session, sample)));
  const QString kind = !ran ? QStringLiteral("not run") : std::isnan(decision.candidateMargin) || std::isnan(decision.referenceMargin) ? QStringLiteral("no decision") : QStringLiteral("same");
  return {idCell(sampleId(*run.session, sample)), textCell(kind), textCell(QString()), textCell(QString()),
          marginCell(run.run->settings.decision, decision.referenceMargin), marginCell(run.run->settings.decision, decision.candidateMargin), textCell(QString()), textCell(QString())};
}

}  // namespace

DecisionsModel::DecisionsModel(QObject* parent)
    : RowTableModel({QStringLiteral("Sample"), QStringLiteral("Kind"), QStringLiteral("FP32"), QStringLiteral("AMP"),
                     QStringLiteral("FP32 margin"), QStringLiteral("AMP margin"), QStringLiteral("First site over tolerance"), QStringLiteral("Effect")}, parent) {}

void DecisionsModel::setRun(const RunPointer& run) {
  m_run = run;
  refresh();
}

void DecisionsModel::setShow(Show show) {
  if (m_show == show) return;
  m_show = show;
  refresh();
}

void DecisionsModel::refresh() {
  std::vector<Row> rows;
  if (m_run) {
    const QString low = m_run->run->settings.autocast == base::DType::bfloat16 ? QStringLiteral("AMP BF16") : QStringLiteral("AMP FP16");
    setHeaders({QStringLiteral("Sample"), QStringLiteral("Kind"), QStringLiteral("FP32"), low, QStringLiteral("FP32 margin"),
                low + QStringLiteral(" margin"), QStringLiteral("First site over tolerance"), QStringLiteral("Effect")});
    std::map<std::int64_t, const session::Flip*> flipOf;
    for (const session::Flip& flip : m_run->run->flips) {
      flipOf[flip.sample] = &flip;
      rows.push_back({static_cast<qlonglong>(flip.sample), flipCells(*m_run, flip)});
    }
    if (m_show == Show::all) {
      for (std::size_t i = 0; i < m_run->run->decisions.size(); ++i) {
        const auto sample = static_cast<std::int64_t>(i);
        if (!flipOf.contains(sample)) rows.push_back({static_cast<qlonglong>(sample), sameCells(*m_run, sample, m_run->run->decisions[i])});
      }
    }
  }
  setRows(std::move(rows));
}

}  // namespace ulpscope::models
