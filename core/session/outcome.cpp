#include "core/session/outcome.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace ulpscope::session {
namespace {

Outcome outcomeOf(const Flip& flip) {
  if (flip.effect == "regressed") return Outcome::regressed;
  if (flip.effect == "fixed") return Outcome::fixed;
  return flip.effect.empty() ? Outcome::flipped : Outcome::wrongToWrong;
}

}  // namespace

std::string outcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::regressed: return "regressed";
    case Outcome::flipped: return "flipped";
    case Outcome::wrongToWrong: return "wrong to wrong";
    case Outcome::fixed: return "fixed";
    case Outcome::noDecision: return "no decision";
    case Outcome::same: return "same";
    case Outcome::notRun: return "not run";
  }
  return "";
}

std::vector<SampleOutcome> sampleOutcomes(const Session& session, const RunRecord& run) {
  const std::unordered_set<std::string> missing(run.noDecision.begin(), run.noDecision.end());
  const std::unordered_set<std::string> only(run.settings.onlySamples.begin(), run.settings.onlySamples.end());
  std::vector<SampleOutcome> outcomes(run.decisions.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::string id = i < session.samples.ids.size() ? session.samples.ids[i] : std::to_string(i);
    const SampleDecision& d = run.decisions[i];
    if (!only.empty() && !only.count(id)) outcomes[i].outcome = Outcome::notRun;
    else if (std::isnan(d.referenceMargin) || std::isnan(d.candidateMargin) || missing.count(id)) outcomes[i].outcome = Outcome::noDecision;
  }
  for (const Flip& flip : run.flips)
    if (flip.sample >= 0 && static_cast<std::size_t>(flip.sample) < outcomes.size()) outcomes[static_cast<std::size_t>(flip.sample)] = {outcomeOf(flip), &flip};
  return outcomes;
}

std::vector<const Flip*> flipsByOutcome(const RunRecord& run) {
  std::vector<const Flip*> flips;
  for (const Flip& flip : run.flips) flips.push_back(&flip);
  std::stable_sort(flips.begin(), flips.end(), [](const Flip* a, const Flip* b) {
    if (outcomeOf(*a) != outcomeOf(*b)) return outcomeOf(*a) < outcomeOf(*b);
    return std::isnan(b->referenceMargin) ? !std::isnan(a->referenceMargin) : a->referenceMargin < b->referenceMargin;
  });
  return flips;
}

}  // namespace ulpscope::session
