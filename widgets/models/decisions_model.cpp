#include "widgets/models/decisions_model.h"

#include "core/base/number_text.h"

#include <cmath>

namespace ulpscope::models {
namespace {

QStringList headersFor(const QString& low) {
  return {QStringLiteral("Sample"), QStringLiteral("FP32"), low, QStringLiteral("FP32 margin"), low + QStringLiteral(" margin"), QStringLiteral("Kind"),
          QStringLiteral("Effect"), QStringLiteral("First site over tolerance"), QStringLiteral("Flip possible"), QStringLiteral("FP32 noise")};
}

TableCell idCell(const QString& id) {
  bool isNumber = false;
  const qlonglong number = id.toLongLong(&isNumber);
  return {id, isNumber ? QVariant(number) : QVariant(id), isNumber};
}

// DecisionOrder knows NaN as such and puts it last either way.
TableCell marginCell(const session::DecisionRule& rule, double margin) {
  if (rule.errorsToFlip() == 0) return {QString(), std::nan(""), true};
  return {qt(base::shortNumber(margin)), margin, true, qt(base::exactNumber(margin))};
}

TableCell firstSiteCell(const LoadedRun& run, const session::Flip* flip) {
  const double none = static_cast<double>(run.run->sites.size());
  if (flip == nullptr) return {QString(), std::nan("")};
  if (flip->firstSiteOverTolerance < 0) return {QStringLiteral("none over tolerance"), none};
  return {qt(session::siteLabel(run.run->sites[static_cast<std::size_t>(flip->firstSiteOverTolerance)])), static_cast<double>(flip->firstSiteOverTolerance)};
}

TableCell possibleCell(const LoadedRun& run, const session::SampleDecision& decision, Outcome outcome) {
  const session::DecisionRule& rule = run.run->settings.decision;
  if (rule.errorsToFlip() == 0 || outcome == Outcome::notRun || outcome == Outcome::noDecision) return {QString(), 2};
  const QString limit = qt(base::shortNumber(rule.errorsToFlip() * decision.maxError));
  const bool may = decision.mayFlip(rule);
  const QString why = may ? QStringLiteral("The margin is at most %1 x the largest error of its scores (%2): an error of that size can flip it.")
                          : QStringLiteral("The margin is above %1 x the largest error of its scores (%2): no error of that size flips it.");
  return {may ? QStringLiteral("yes") : QStringLiteral("no"), may ? 0 : 1, false, why.arg(rule.errorsToFlip()).arg(limit)};
}

TableCell noiseCell(const session::Flip* flip) {
  if (flip == nullptr || !flip->withinNoiseFloor) return {QString(), 1};
  return {QStringLiteral("flips too"), 0, false, QStringLiteral("FP32 in another sample order and with another number of threads decides otherwise, too: AMP is not to blame.")};
}

TableCell decisionCell(const QString& name, const std::vector<session::ScoredClass>& top) {
  QStringList scores;
  for (const session::ScoredClass& c : top) scores << QStringLiteral("%1: %2").arg(c.name.empty() ? QString::number(c.index) : qt(c.name), qt(base::exactNumber(c.score)));
  return {name, {}, false, scores.isEmpty() ? name : name + u'\n' + scores.join(u'\n')};
}

std::vector<TableCell> cellsOf(const LoadedRun& run, std::int64_t sample, const SampleOutcome& outcome, const QString& unchanged) {
  const session::SampleDecision& decision = run.run->decisions[static_cast<std::size_t>(sample)];
  const session::DecisionRule& rule = run.run->settings.decision;
  const session::Flip* flip = outcome.flip;
  return {idCell(sampleId(*run.session, sample)),
          flip ? decisionCell(referenceDecision(run, *flip), flip->referenceTop) : textCell(unchanged),
          flip ? decisionCell(candidateDecision(run, *flip), flip->candidateTop) : textCell(unchanged),
          marginCell(rule, decision.referenceMargin),
          marginCell(rule, decision.candidateMargin),
          textCell(flip ? qt(flip->kind) : name(outcome.outcome)),
          {flip ? qt(flip->effect) : QString(), static_cast<int>(outcome.outcome)},
          firstSiteCell(run, flip),
          possibleCell(run, decision, outcome.outcome),
          noiseCell(flip)};
}

}  // namespace

DecisionsModel::DecisionsModel(QObject* parent) : RowTableModel(headersFor(QStringLiteral("AMP")), parent) {}

void DecisionsModel::setRun(const RunPointer& run) {
  m_run = run;
  m_decided.reset();
  refresh();
}

void DecisionsModel::setDecided(const DecidedPointer& decided) {
  m_decided = decided;
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
    setHeaders(headersFor(lowName(*m_run->run)));
    const std::vector<SampleOutcome> outcomes = sampleOutcomes(*m_run);
    DecisionFilter filter;
    filter.all = m_show == Show::all;
    for (const std::int64_t sample : samplesToShow(*m_run, filter)) {
      const SampleOutcome& outcome = outcomes[static_cast<std::size_t>(sample)];
      const QString unchanged = outcome.outcome == Outcome::same ? decidedName(*m_run, m_decided, sample) : QString();
      rows.push_back({static_cast<qlonglong>(sample), cellsOf(*m_run, sample, outcome, unchanged)});
    }
  }
  setRows(std::move(rows));
}

}  // namespace ulpscope::models
