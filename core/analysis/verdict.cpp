#include "core/analysis/verdict.h"

#include "core/analysis/divergence.h"
#include "core/analysis/output_limits.h"
#include "core/base/nearest_names.h"
#include "core/base/number_text.h"
#include "core/session/allowed_nonfinite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace ulpscope::analysis {
namespace {

using session::Criterion;
using session::CriterionResult;
using session::JudgedAs;
using Kind = Criterion::Kind;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Measured {
  double value = kNaN;
  std::string worstSample = {};
  std::string note = {};
};

Measured notEvaluated(const std::string& why) { return {kNaN, "", why}; }

class Judge {
 public:
  Judge(const session::Criteria& criteria, const session::RunRecord& run, const session::SampleSet& samples, const std::vector<JudgedOutput>& outputs)
      : m_criteria(criteria), m_run(run), m_samples(samples), m_outputs(outputs) {}

  Measured measure(const Criterion& c) const {
    switch (c.kind) {
      case Kind::tolerance:
      case Kind::shareOutside:
      case Kind::outputMetric: return ofOutputs(c);
      case Kind::nonfinite: return nonfinite();
      case Kind::flips:
      case Kind::flipRate:
      case Kind::flipMargin:
      case Kind::regressions: return ofFlips(c.kind);
      case Kind::accuracy:
      case Kind::accuracyDrop: return accuracy(c.kind);
      case Kind::error:
      case Kind::errorIncrease: return error(c);
      case Kind::siteMetric: return ofSites(c);
    }
    return {};
  }

 private:
  const session::Criteria& m_criteria;
  const session::RunRecord& m_run;
  const session::SampleSet& m_samples;
  const std::vector<JudgedOutput>& m_outputs;

  // The worst over the outputs that the criterion names; an output that cannot be judged leaves it unjudged.
  Measured ofOutputs(const Criterion& c) const {
    Measured worst = notEvaluated(fmt::format("the run has no output '{}'", c.target));
    for (const session::OutputSummary& summary : m_run.outputs) {
      if (!base::globMatches(c.target, summary.name)) continue;
      const auto output = std::find_if(m_outputs.begin(), m_outputs.end(), [&](const JudgedOutput& o) { return o.name == summary.name; });
      if (output == m_outputs.end()) return notEvaluated("output '" + summary.name + "' is not stored");
      const OutputMeasure found = measureOutput(*output, c, m_run.settings.autocast, m_samples.ids.size());
      if (std::isnan(found.value)) return notEvaluated("output '" + summary.name + "' has no values to compare");
      const bool worse = std::isnan(worst.value) || (c.atLeast() ? found.value < worst.value : found.value > worst.value);
      if (!worse) continue;
      worst = {found.value, found.sample < 0 ? std::string() : m_samples.ids[static_cast<std::size_t>(found.sample)], found.note};
    }
    return worst;
  }

  bool isAllowed(const session::NonfiniteFinding& finding) const {
    return std::any_of(m_criteria.allowNonfinite.begin(), m_criteria.allowNonfinite.end(), [&](const std::string& rule) { return session::explains(rule, finding); });
  }

  Measured nonfinite() const {
    std::set<std::string> samples(m_run.nonfiniteSamples.begin(), m_run.nonfiniteSamples.end());
    bool wholeBatch = false;
    for (const session::NonfiniteFinding& origin : m_run.nonfiniteOrigins) {
      if (isAllowed(origin)) continue;
      samples.insert(origin.sampleIds.begin(), origin.sampleIds.end());
      wholeBatch = wholeBatch || (origin.wholeBatch && origin.sampleIds.empty());
    }
    Measured measured{static_cast<double>(samples.size()), samples.empty() ? std::string() : *samples.begin()};
    if (wholeBatch && samples.empty()) measured = {static_cast<double>(m_run.samplesComplete), "", "samples were not told apart: all of the batch count"};
    if (m_run.settings.observe == session::Observe::outputs) measured.note = "outputs only: ops were not observed";
    return measured;
  }

  // The candidate has none where the reference has one.
  std::vector<std::string> lostDecisions() const {
    std::vector<std::string> lost;
    if (!m_criteria.noDecisionIsFlip) return lost;
    for (std::size_t i = 0; i < m_run.decisions.size() && i < m_samples.ids.size(); ++i)
      if (!std::isnan(m_run.decisions[i].referenceMargin) && std::isnan(m_run.decisions[i].candidateMargin)) lost.push_back(m_samples.ids[i]);
    return lost;
  }

  Measured ofFlips(Kind kind) const {
    const auto decided = std::count_if(m_run.decisions.begin(), m_run.decisions.end(), [](const auto& d) { return !std::isnan(d.referenceMargin); });
    if (!m_run.settings.decision.decides() || decided == 0) return notEvaluated("the run reads no decisions");
    if (kind == Kind::regressions && m_samples.labels.empty()) return notEvaluated("the samples have no labels");
    std::vector<const session::Flip*> flips;
    for (const session::Flip& flip : m_run.flips)
      if ((m_criteria.noiseFlipsCount || !flip.withinNoiseFloor) && (kind != Kind::regressions || flip.effect == "regressed")) flips.push_back(&flip);
    const std::vector<std::string> lost = lostDecisions();
    const auto largest = std::max_element(flips.begin(), flips.end(), [](const auto* a, const auto* b) { return a->referenceMargin < b->referenceMargin; });
    const std::string worst = !lost.empty() ? lost.front() : largest == flips.end() ? std::string() : (*largest)->sampleId;
    const std::string note = lost.empty() ? "" : base::counted(static_cast<std::int64_t>(lost.size()), "sample") + " without a decision counted";
    const auto count = static_cast<double>(flips.size() + lost.size());
    if (kind == Kind::flipMargin) return {!lost.empty() ? kInf : largest == flips.end() ? 0 : (*largest)->referenceMargin, worst, note};
    return {kind == Kind::flipRate ? count / static_cast<double>(decided) : count, worst, note};
  }

  Measured accuracy(Kind kind) const {
    if (!m_run.quality || m_run.quality->labelled == 0) return notEvaluated("the samples have no labels, or the decision none to hold against them");
    const session::Quality& q = *m_run.quality;
    const std::string note = fmt::format("FP32 {} of {}, candidate {}", q.referenceCorrect, q.labelled, q.candidateCorrect);
    return {kind == Kind::accuracy ? q.candidateAccuracy() : q.referenceAccuracy() - q.candidateAccuracy(), "", note};
  }

  static double sizeOf(const session::ErrorSizes& errors, const std::string& measure) {
    return measure == "max_error" ? errors.max : measure == "mean_error" ? errors.mean : errors.rootMeanSquare;
  }

  Measured error(const Criterion& c) const {
    if (!m_run.regression || !m_run.regression->candidateToTarget || !m_run.regression->referenceToTarget)
      return notEvaluated("there are no targets to hold the output against (--decision regression)");
    const double candidate = sizeOf(*m_run.regression->candidateToTarget, c.errorMeasure);
    if (c.kind == Kind::error) return {candidate};
    const double increase = candidate - sizeOf(*m_run.regression->referenceToTarget, c.errorMeasure);
    return {increase < 0 ? 0 : increase};
  }

  Measured ofSites(const Criterion& c) const {
    const bool looked = m_run.settings.observe != session::Observe::outputs;
    Measured worst = notEvaluated(looked ? "no op site of that name was compared" : "outputs only: ops were not observed");
    for (const session::SiteSummary& site : m_run.sites) {
      if (!site.viewOf.empty() || !session::coversSite(c.target, {site.modulePath, site.op, site.overload, site.source, site.occurrence})) continue;
      const double value = site.candidateOnly.total() > 0 ? (c.atLeast() ? -kInf : kInf) : site.values[c.metric];
      if (std::isnan(value) || !(std::isnan(worst.value) || (c.atLeast() ? value < worst.value : value > worst.value))) continue;
      const bool known = c.metric == session::Metric::relL2 && site.worstSample >= 0 && static_cast<std::size_t>(site.worstSample) < m_samples.ids.size();
      worst = {value, known ? m_samples.ids[static_cast<std::size_t>(site.worstSample)] : std::string(), session::siteLabel(site)};
    }
    return worst;
  }
};

double ratioOf(double measured, double limit, bool atLeast) {
  const double over = atLeast ? limit : measured, under = atLeast ? measured : limit;
  if (std::isnan(measured) || measured < 0 || limit < 0) return kNaN;  // of negative numbers a quotient says nothing
  return under == 0 ? (over <= 0 ? 0 : kInf) : over / under;
}

CriterionResult resultOf(const Criterion& c, Measured m) {
  CriterionResult result{c.id, m.value, c.limit, ratioOf(m.value, c.limit, c.atLeast()), std::move(m.worstSample), JudgedAs::notEvaluated, std::move(m.note)};
  if (std::isnan(m.value)) return result;
  const bool passes = c.atLeast() ? m.value >= c.limit : m.value <= c.limit;
  result.status = passes ? JudgedAs::pass : JudgedAs::fail;
  return result;
}

// Why the run as a whole is not judged.
std::string notJudged(const session::Criteria& criteria, const session::RunRecord& run) {
  for (const session::NonfiniteFinding& finding : run.referenceNonfinite) {
    const bool allowed = !finding.explainedBy.empty() ||
                         std::any_of(criteria.allowNonfinite.begin(), criteria.allowNonfinite.end(), [&](const std::string& rule) { return session::explains(rule, finding); });
    if (!allowed) return "FP32 is no baseline: " + finding.diagnosis;
  }
  if (run.status != session::RunStatus::ok) return "the run is " + session::name(run.status);
  if (!run.settings.onlySamples.empty()) return "the run is over chosen samples only";
  if (run.probeCheck == "differs") return "observing changed the outputs";
  return "";
}

}  // namespace

session::Verdict judge(const session::Criteria& criteria, const session::RunRecord& run, const session::SampleSet& samples, const std::vector<JudgedOutput>& outputs) {
  session::Verdict verdict;
  verdict.sha256 = criteria.sha256;
  if (run.candidateError) {
    verdict.status = JudgedAs::fail;
    verdict.reason = fmt::format("the candidate raised in {}: {}", run.candidateError->op, run.candidateError->message);
    return verdict;
  }
  verdict.reason = notJudged(criteria, run);
  if (!verdict.reason.empty()) return verdict;
  const Judge judge(criteria, run, samples, outputs);
  for (const Criterion& criterion : criteria.list) verdict.criteria.push_back(resultOf(criterion, judge.measure(criterion)));
  const auto any = [&](JudgedAs status) { return std::any_of(verdict.criteria.begin(), verdict.criteria.end(), [&](const auto& c) { return c.status == status; }); };
  verdict.status = any(JudgedAs::fail) ? JudgedAs::fail : any(JudgedAs::notEvaluated) ? JudgedAs::notEvaluated : JudgedAs::pass;
  return verdict;
}

}  // namespace ulpscope::analysis
