#include "widgets/models/sample_outcome.h"

#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::models {
namespace {

QString decisionText(const LoadedRun& run, const session::Flip& flip, std::int64_t decision) {
  const QString name = qt(session::decisionName(run.run->settings.decision, decision, run.session->samples.classNames));
  if (flip.positions.empty()) return name;
  const auto count = flip.positions.size();
  return count == 1 ? QStringLiteral("%1 (position %2)").arg(name).arg(flip.positions.front())
                    : QStringLiteral("%1 (position %2, %3 positions flip)").arg(name).arg(flip.positions.front()).arg(count);
}

// NaN after all numbers.
bool isBefore(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

}  // namespace

QString name(Outcome outcome) { return qt(session::outcomeName(outcome)); }

std::vector<SampleOutcome> sampleOutcomes(const LoadedRun& run) { return session::sampleOutcomes(*run.session, *run.run); }

QString sampleId(const session::Session& session, std::int64_t sample) {
  const auto& ids = session.samples.ids;
  return sample >= 0 && static_cast<std::size_t>(sample) < ids.size() ? qt(ids[static_cast<std::size_t>(sample)]) : QString::number(sample);
}

QString referenceDecision(const LoadedRun& run, const session::Flip& flip) { return decisionText(run, flip, flip.referenceDecision); }
QString candidateDecision(const LoadedRun& run, const session::Flip& flip) { return decisionText(run, flip, flip.candidateDecision); }

QString decidedName(const LoadedRun& run, const DecidedPointer& decided, std::int64_t sample) {
  if (!decided || static_cast<std::size_t>(sample) >= decided->size()) return {};
  QStringList names;
  for (const std::int64_t number : (*decided)[static_cast<std::size_t>(sample)]) names << qt(session::decisionName(run.run->settings.decision, number, run.session->samples.classNames));
  return names.join(QStringLiteral(", "));
}

QString labelName(const LoadedRun& run, std::int64_t sample) {
  const auto& labels = run.session->samples.labels;
  if (static_cast<std::size_t>(sample) >= labels.size()) return {};
  return qt(session::decisionName(run.run->settings.decision, labels[static_cast<std::size_t>(sample)], run.session->samples.classNames));
}

QString lowName(const session::RunRecord& run) { return QStringLiteral("AMP ") + lowFormat(run); }

bool DecisionFilter::accepts(const SampleOutcome& outcome, double referenceMargin) const {
  if (!all && !outcome.flip && outcome.outcome != Outcome::noDecision) return false;
  return std::isinf(marginBelow) || referenceMargin < marginBelow;
}

std::vector<std::int64_t> samplesToShow(const LoadedRun& run, const DecisionFilter& filter) {
  const std::vector<SampleOutcome> outcomes = sampleOutcomes(run);
  const auto margin = [&](std::int64_t i) { return run.run->decisions[static_cast<std::size_t>(i)].referenceMargin; };
  const auto outcome = [&](std::int64_t i) -> const SampleOutcome& { return outcomes[static_cast<std::size_t>(i)]; };
  std::vector<std::int64_t> samples;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (const auto sample = static_cast<std::int64_t>(i); filter.accepts(outcomes[i], margin(sample))) samples.push_back(sample);
  std::stable_sort(samples.begin(), samples.end(), [&](std::int64_t a, std::int64_t b) {
    return outcome(a).outcome != outcome(b).outcome ? outcome(a).outcome < outcome(b).outcome : isBefore(margin(a), margin(b));
  });
  return samples;
}

}  // namespace ulpscope::models
