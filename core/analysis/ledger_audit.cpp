#include "core/analysis/ledger_audit.h"

#include "core/analysis/audit_meaning.h"
#include "core/session/recipe_changes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>

namespace ulpscope::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::LedgerState;
using session::LedgerValue;
using session::RecordedLine;
using session::RecordedTraining;

struct LinePair {
  const RecordedLine* uninterrupted;
  const RecordedLine* resumed;
};
using StepLines = std::map<std::int64_t, std::vector<LinePair>>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

const LedgerValue* valueOf(const RecordedLine& line, LedgerState state) {
  const auto found = line.values.find(state);
  return found == line.values.end() ? nullptr : &found->second;
}

// Of the step, not of one optimizer in it.
bool isCommon(LedgerState state) {
  constexpr LedgerState kCommon[] = {LedgerState::rows, LedgerState::rng, LedgerState::weights, LedgerState::buffers, LedgerState::scaleBefore, LedgerState::growthTracker,
                                     LedgerState::scaleAfter, LedgerState::schedulerSteps};
  return std::find(std::begin(kCommon), std::end(kCommon), state) != std::end(kCommon);
}

bool sameBits(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same(const LedgerValue& a, const LedgerValue& b) {
  const auto *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  return x && y ? sameBits(*x, *y) : a == b;
}

double distance(const LedgerValue& a, const LedgerValue& b) {
  const auto *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  if (!x || !y) return 0;
  return std::isfinite(*x) && std::isfinite(*y) ? std::fabs(*y - *x) : kInfinite;
}

double relativeDistance(const LedgerValue& a, const LedgerValue& b) {
  const auto *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  if (!x || !y || !std::isfinite(*x) || !std::isfinite(*y)) return kInfinite;
  const double larger = std::max(std::fabs(*x), std::fabs(*y));
  return larger == 0 ? 0 : std::fabs(*y - *x) / larger;
}

std::set<std::int64_t> stepsOf(const RecordedTraining& training) {
  std::set<std::int64_t> steps;
  for (const RecordedLine& line : training.lines) steps.insert(line.step);
  return steps;
}

std::set<std::string> optimizersOf(const RecordedTraining& training) {
  std::set<std::string> optimizers;
  for (const RecordedLine& line : training.lines) optimizers.insert(line.optimizer);
  return optimizers;
}

// Lines of the same step and optimizer, in the uninterrupted record's order.
StepLines pairUp(const AuditedRuns& runs) {
  std::map<std::pair<std::int64_t, std::string>, const RecordedLine*> resumed;
  for (const RecordedLine& line : runs.resumed.lines) resumed[{line.step, line.optimizer}] = &line;
  StepLines pairs;
  for (const RecordedLine& line : runs.uninterrupted.lines)
    if (const auto found = resumed.find({line.step, line.optimizer}); found != resumed.end()) pairs[line.step].push_back({&line, found->second});
  return pairs;
}

class Auditor {
 public:
  Auditor(const AuditedRuns& runs, StepLines pairs) : m_runs(runs), m_pairs(std::move(pairs)) {}

  LedgerAudit audit() {
    m_audit.firstStep = m_pairs.begin()->first;
    m_audit.lastStep = m_pairs.rbegin()->first;
    m_audit.steps = static_cast<std::int64_t>(m_pairs.size());
    m_audit.resumedAt = m_runs.resumed.resumedAt;
    countSteps();
    for (const LedgerState state : session::ledgerStates()) m_audit.states.push_back(auditOf(state));
    lookForFirst();
    compareSettings();
    return std::move(m_audit);
  }

 private:
  AuditedRuns m_runs;
  StepLines m_pairs;
  LedgerAudit m_audit;

  void countSteps() {
    const auto a = stepsOf(m_runs.uninterrupted), b = stepsOf(m_runs.resumed);
    const auto lacking = [&](const std::set<std::int64_t>& steps) {
      return std::count_if(steps.begin(), steps.end(), [&](std::int64_t step) { return step > m_audit.firstStep && step < m_audit.lastStep && m_pairs.count(step) == 0; });
    };
    m_audit.onlyUninterrupted = lacking(a);
    m_audit.onlyResumed = lacking(b);
    m_audit.bothBeginAtZero = *a.begin() == 0 && *b.begin() == 0 && !m_audit.resumedAt;
  }

  // A count that each record begins for itself is held against the first compared line's.
  std::optional<double> offsetOf(LedgerState state, const std::string& optimizer) const {
    if (state != LedgerState::appliedUpdates) return std::nullopt;
    for (const auto& [step, lines] : m_pairs)
      for (const LinePair& line : lines) {
        const auto *a = valueOf(*line.uninterrupted, state), *b = valueOf(*line.resumed, state);
        if (a && b && line.resumed->optimizer == optimizer) return std::get<double>(*a) - std::get<double>(*b);
      }
    return std::nullopt;
  }

  bool agree(const LinePair& line, LedgerState state) const {
    const auto *a = valueOf(*line.uninterrupted, state), *b = valueOf(*line.resumed, state);
    if (const auto offset = offsetOf(state, line.resumed->optimizer)) return std::get<double>(*a) - std::get<double>(*b) == *offset;
    return same(*a, *b);
  }
  static bool bothHave(const LinePair& line, LedgerState state) { return valueOf(*line.uninterrupted, state) && valueOf(*line.resumed, state); }

  StateAudit auditOf(LedgerState state) const {
    StateAudit found;
    found.state = state;
    for (const auto& [step, lines] : m_pairs)
      for (const LinePair& line : lines) {
        found.inUninterrupted = found.inUninterrupted || valueOf(*line.uninterrupted, state);
        found.inResumed = found.inResumed || valueOf(*line.resumed, state);
        if (bothHave(line, state)) addTo(found, line);
      }
    return found;
  }

  void addTo(StateAudit& found, const LinePair& line) const {
    ++found.compared;
    if (agree(line, found.state)) return;
    ++found.different;
    if (!found.firstStep) found.firstStep = line.resumed->step;
    const double far = distance(*valueOf(*line.uninterrupted, found.state), *valueOf(*line.resumed, found.state));
    if (far <= found.largest) return;
    found.largest = far;
    found.largestStep = line.resumed->step;
  }

  bool differs(const LinePair& line, LedgerState state) const { return bothHave(line, state) && !agree(line, state); }

  // The counts of scheduler and growth stand after the step: they say how it began where both did the same with the update.
  std::vector<LedgerState> orderIn(const std::vector<LinePair>& lines) const {
    std::vector<LedgerState> order = session::ledgerStates();
    const bool sameEnd = std::none_of(lines.begin(), lines.end(), [&](const LinePair& line) { return differs(line, LedgerState::skipped) || differs(line, LedgerState::applied) || differs(line, LedgerState::foundInf); });
    if (!sameEnd) return order;
    for (const LedgerState count : {LedgerState::growthTracker, LedgerState::schedulerSteps}) {
      order.erase(std::find(order.begin(), order.end(), count));
      order.insert(std::find(order.begin(), order.end(), LedgerState::lr), count);
    }
    return order;
  }

  void lookForFirst() {
    for (const auto& [step, lines] : m_pairs)
      for (const LedgerState state : orderIn(lines))
        for (const LinePair& line : lines)
          if (differs(line, state)) return describe(state, line);
  }

  void describe(LedgerState state, const LinePair& line) {
    const auto &a = *valueOf(*line.uninterrupted, state), &b = *valueOf(*line.resumed, state);
    AuditFinding finding;
    finding.step = line.resumed->step;
    if (!isCommon(state)) finding.optimizer = line.resumed->optimizer;
    finding.state = state;
    finding.uninterrupted = session::valueText(state, a);
    finding.resumed = session::valueText(state, b);
    AuditPlace place{whenOf(finding.step), state, relativeDistance(a, b), {}, {}};
    const auto& lines = m_pairs.at(finding.step);
    for (const StateAudit& other : m_audit.states) {
      if (other.compared == 0) place.unrecorded.insert(other.state);
      const auto in = [&](auto&& holds) { return std::any_of(lines.begin(), lines.end(), [&](const LinePair& l) { return holds(l, other.state); }); };
      const bool parts = in([&](const LinePair& l, LedgerState s) { return differs(l, s); });
      if (parts && other.state != state) finding.further.push_back(other.state);
      if (!parts && in(bothHave)) place.agreeing.insert(other.state);
    }
    finding.meaning = meaningOf(place);
    m_audit.first = std::move(finding);
  }

  AuditPlace::When whenOf(std::int64_t step) const {
    const std::int64_t resume = m_runs.resumed.resumedAt.value_or(m_audit.firstStep);
    if (step < resume) return AuditPlace::When::beforeResume;
    auto at = m_pairs.lower_bound(resume);
    if (step == at->first) return AuditPlace::When::first;
    return step == std::next(at)->first ? AuditPlace::When::second : AuditPlace::When::later;
  }

  void compareSettings() {
    for (const auto& [key, value] : m_runs.uninterrupted.settings)
      if (const auto found = m_runs.resumed.settings.find(key); found != m_runs.resumed.settings.end() && found->second != value) m_audit.settings.push_back({key, value, found->second});
    if (m_runs.uninterrupted.recipe && m_runs.resumed.recipe) compareRecipes();
    compareOptimizers();
  }

  void compareRecipes() {
    const auto changes = session::changesBetween(*m_runs.uninterrupted.recipe, *m_runs.resumed.recipe);
    const auto shown = [](const std::string& value) { return value.empty() ? std::string("not there") : value; };
    for (const auto* list : {&changes.forbidden, &changes.experimental})
      for (const session::RecipeDifference& d : *list) m_audit.settings.push_back({"recipe, " + d.key, shown(d.before), shown(d.after)});
  }

  void compareOptimizers() {
    const auto a = optimizersOf(m_runs.uninterrupted), b = optimizersOf(m_runs.resumed);
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(m_audit.unmatchedOptimizers));
  }
};

std::string rangeText(const RecordedTraining& training) {
  return training.lines.empty() ? "none" : std::to_string(training.lines.front().step) + " to " + std::to_string(training.lines.back().step);
}

}  // namespace

Result<LedgerAudit> auditLedgers(const AuditedRuns& runs) {
  StepLines pairs = pairUp(runs);
  if (pairs.empty())
    return Error{ErrorKind::inconclusive, "have no step of one optimizer in common: uninterrupted " + rangeText(runs.uninterrupted) + ", resumed " + rangeText(runs.resumed), "the two records",
                 "count steps from the training's first in both, and name the optimizers alike"};
  LedgerAudit audit = Auditor(runs, std::move(pairs)).audit();
  if (std::none_of(audit.states.begin(), audit.states.end(), [](const StateAudit& state) { return state.compared > 0; }))
    return Error{ErrorKind::inconclusive, "have no state in common, so nothing was compared", "the two records", "record the same states in both, the loss at least"};
  return audit;
}

}  // namespace ulpscope::analysis
