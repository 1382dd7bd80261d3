#include "core/report/flip_statement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace ulpscope::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using session::RunRecord;
using session::Session;

// Which of a run's samples have a decision. A sample that flips at one position is decided, whatever the others are.
class Decided {
 public:
  Decided(const Session& session, const RunRecord& run)
      : m_session(session), m_run(run), m_missing(run.noDecision.begin(), run.noDecision.end()),
        m_only(run.settings.onlySamples.begin(), run.settings.onlySamples.end()) {
    for (const session::Flip& flip : run.flips) m_flips.emplace(flip.sample, &flip);
  }

  bool asked(std::size_t i) const { return m_only.empty() || m_only.count(id(i)) > 0; }
  const session::Flip* flip(std::size_t i) const {
    const auto found = m_flips.find(static_cast<std::int64_t>(i));
    return found == m_flips.end() ? nullptr : found->second;
  }
  bool candidateMissing(std::size_t i) const { return !flip(i) && (m_missing.count(id(i)) > 0 || std::isnan(m_run.decisions[i].candidateMargin)); }
  bool referenceMissing(std::size_t i) const { return !flip(i) && std::isnan(m_run.decisions[i].referenceMargin); }
  bool decided(std::size_t i) const { return asked(i) && !candidateMissing(i) && !referenceMissing(i); }
  std::size_t count() const { return std::min(m_run.decisions.size(), m_session.samples.ids.size()); }

 private:
  const std::string& id(std::size_t i) const { return m_session.samples.ids[i]; }

  const Session& m_session;
  const RunRecord& m_run;
  std::unordered_set<std::string> m_missing, m_only;
  std::unordered_map<std::int64_t, const session::Flip*> m_flips;
};

void countFlip(const session::Flip& flip, FlipFacts& facts) {
  ++facts.flips;
  facts.positions += static_cast<std::int64_t>(flip.positions.size());
  facts.regressed += flip.effect == "regressed";
  facts.fixed += flip.effect == "fixed";
  facts.wrongToWrong += flip.effect == "wrong to wrong";
  facts.tieFlips += flip.kind != "changed";
  facts.withinNoise += flip.withinNoiseFloor;
}

void countDecided(const session::SampleDecision& d, const session::DecisionRule& rule, FlipFacts& facts) {
  ++facts.decided;
  if (rule.errorsToFlip() == 0) return;
  facts.tiedInReference += d.referenceMargin == 0;
  facts.possible += d.mayFlip(rule);
  if (!std::isfinite(d.maxError)) {
    ++facts.unbounded;
    return;
  }
  const double limit = rule.errorsToFlip() * d.maxError;
  if (!(facts.impossibleBeyond >= limit)) facts.impossibleBeyond = limit;  // NaN: the first
}

}  // namespace

FlipFacts flipFacts(const Session& session, const RunRecord& run) {
  FlipFacts facts;
  facts.largestFlipMargin = facts.impossibleBeyond = kNaN;
  const session::DecisionRule& rule = run.settings.decision;
  const Decided which(session, run);
  for (std::size_t i = 0; i < which.count(); ++i) {
    if (!which.asked(i)) continue;
    ++facts.asked;
    if (!which.decided(i)) {
      ++(which.referenceMissing(i) ? facts.noReferenceDecision : facts.noDecision);
      continue;
    }
    countDecided(run.decisions[i], rule, facts);
    const session::Flip* flip = which.flip(i);
    if (!flip) continue;
    countFlip(*flip, facts);
    const double margin = run.decisions[i].referenceMargin;
    if (rule.errorsToFlip() > 0 && !(facts.largestFlipMargin >= margin)) facts.largestFlipMargin = margin;
  }
  return facts;
}

MarginCut marginCut(const Session& session, const RunRecord& run, double below) {
  MarginCut cut;
  const Decided which(session, run);
  for (std::size_t i = 0; i < which.count(); ++i) {
    if (!which.decided(i) || !(run.decisions[i].referenceMargin < below)) continue;
    ++cut.samples;
    cut.flips += which.flip(i) != nullptr;
  }
  return cut;
}

}  // namespace ulpscope::report
