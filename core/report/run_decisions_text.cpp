#include "core/report/run_observed.h"

#include "core/base/number_text.h"
#include "core/report/flip_statement.h"
#include "core/report/rate_interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using base::counted;
using base::shortNumber;
using session::DecisionRule;
using session::Flip;
using session::RunRecord;
using session::Session;

constexpr std::size_t kShownFlips = 10;

std::string marginText(const DecisionRule& rule, double margin) { return rule.errorsToFlip() == 0 ? "-" : shortNumber(margin); }

std::string flipRow(const Session& session, const RunRecord& run, const Flip& flip) {
  const DecisionRule& rule = run.settings.decision;
  const auto site = static_cast<std::size_t>(flip.firstSiteOverTolerance);
  const bool known = flip.firstSiteOverTolerance >= 0 && site < run.sites.size();
  std::string kind = flip.kind + (flip.effect.empty() ? "" : ", " + flip.effect);
  if (!flip.positions.empty()) kind += fmt::format(", {}", counted(static_cast<std::int64_t>(flip.positions.size()), "position"));
  const auto name = [&](std::int64_t decision, const std::vector<session::ScoredClass>& top) {
    const bool named = !top.empty() && top.front().index == decision && !top.front().name.empty();
    return named ? top.front().name : session::decisionName(rule, decision, session.samples.classNames);
  };
  return fmt::format("  {:<12} {:<14} {:<14} {:>11} {:>11}  {:<24} {}\n", flip.sampleId + (flip.withinNoiseFloor ? " *" : ""), name(flip.referenceDecision, flip.referenceTop),
                     name(flip.candidateDecision, flip.candidateTop), marginText(rule, flip.referenceMargin), marginText(rule, flip.candidateMargin), kind,
                     known ? siteLabel(run.sites[site]) : "-");
}

std::string flipTable(const Session& session, const RunRecord& run) {
  const std::string low = lowName(run);
  std::string text = fmt::format("  {:<12} {:<14} {:<14} {:>11} {:>11}  {:<24} {}\n", "sample", "FP32", low, "margin FP32", "margin " + low, "kind",
                                 "first site over tolerance");
  for (std::size_t i = 0; i < std::min(run.flips.size(), kShownFlips); ++i) text += flipRow(session, run, run.flips[i]);
  return text + andMore(run.flips.size(), kShownFlips);
}

// Those without one in the candidate, too, stand in noDecision.
std::vector<std::string> missingInReferenceOnly(const Session& session, const RunRecord& run) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < std::min(run.decisions.size(), session.samples.ids.size()); ++i) {
    if (!std::isnan(run.decisions[i].referenceMargin)) continue;
    const std::string& id = session.samples.ids[i];
    if (run.ran(id) && std::find(run.noDecision.begin(), run.noDecision.end(), id) == run.noDecision.end()) ids.push_back(id);
  }
  return ids;
}

// How many samples the errors that were measured could flip at all: the others keep their decision whatever the rounding did.
std::string possibleText(const RunRecord& run) {
  const DecisionRule& rule = run.settings.decision;
  if (rule.errorsToFlip() == 0) return "";
  const auto possible = std::count_if(run.decisions.begin(), run.decisions.end(), [&](const auto& d) { return !std::isnan(d.referenceMargin) && d.mayFlip(rule); });
  return fmt::format("  a flip is possible (margin at most {}max error) in {}\n", rule.errorsToFlip() == 2 ? "2 x " : "", counted(possible, "sample"));
}

std::string qualityText(const RunRecord& run) {
  if (!run.quality) return "";
  const session::Quality& q = *run.quality;
  return fmt::format("  correct by the labels: FP32 {}, {} {} of {}\n", q.referenceCorrect, lowName(run), q.candidateCorrect, q.labelled);
}

std::string errorsText(const std::string& what, const session::ErrorSizes& errors) {
  return fmt::format("  {}: mean {}, root mean square {}, max {}\n", what, shortNumber(errors.mean), shortNumber(errors.rootMeanSquare), shortNumber(errors.max));
}

std::string regressionText(const RunRecord& run) {
  if (!run.regression) return "  not evaluated\n";
  const session::Regression& r = *run.regression;
  const std::string low = lowName(run);
  std::string text = errorsText("error of " + low + " to FP32 over " + counted(r.elements, "value"), r.candidateToReference);
  if (!r.worstSample.empty()) text += fmt::format("  the largest in sample {}\n", r.worstSample);
  if (r.notEvaluated > 0) text += fmt::format("  {} not finite in one run or both, not counted above\n", counted(r.notEvaluated, "value"));
  text += fmt::format("  extreme values: FP32 {} to {}, {} {} to {}\n", shortNumber(r.reference.min), shortNumber(r.reference.max), low, shortNumber(r.candidate.min),
                      shortNumber(r.candidate.max));
  if (r.referenceToTarget) text += errorsText("error of FP32 to the targets", *r.referenceToTarget);
  if (r.candidateToTarget) text += errorsText("error of " + low + " to the targets", *r.candidateToTarget);
  return text;
}

std::string rateLine(const RunRecord& run, std::int64_t total) {
  if (total <= 0) return "  not evaluated: no sample has a decision in both runs\n";
  const auto flips = static_cast<std::int64_t>(run.flips.size());
  return fmt::format("  {} of {} flip ({})\n", flips, counted(total, "decision"),
                     run.settings.onlySamples.empty() ? rateText(std::min(flips, total), total) : std::string("chosen samples: no rate"));
}

}  // namespace

std::string decisionText(const Session& session, const RunRecord& run) {
  const DecisionRule& rule = run.settings.decision;
  if (rule.kind == DecisionRule::Kind::none) return "DECISIONS\n  none asked for (--decision argmax)\n";
  std::string text = fmt::format("DECISIONS ({})\n", rule.text());
  if (!rule.decides()) return text + regressionText(run);
  const auto missing = static_cast<std::int64_t>(run.noDecision.size());
  const auto inReference = static_cast<std::int64_t>(missingInReferenceOnly(session, run).size());
  text += rateLine(run, flipFacts(session, run).decided) + possibleText(run) + qualityText(run);
  if (missing > 0)
    text += fmt::format("  no decision for {} (scores are NaN), not counted above: {}\n", counted(missing, "sample"), listed(run.noDecision));
  if (inReference > 0)
    text += fmt::format("  no decision in FP32 itself for {} (scores are NaN), not counted above: {}\n", counted(inReference, "sample"),
                        listed(missingInReferenceOnly(session, run)));
  return run.flips.empty() ? text : text + flipTable(session, run);
}

}  // namespace ulpscope::report
