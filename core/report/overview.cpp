#include "core/report/overview.h"

#include "core/base/number_text.h"
#include "core/report/rate_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace ulpscope::report {
namespace {

using session::Criterion;
using session::JudgedAs;
using session::RunRecord;
using Kind = session::Criterion::Kind;

const char* rowOf(Kind kind) {
  switch (kind) {
    case Kind::nonfinite: return "finite";
    case Kind::tolerance:
    case Kind::shareOutside:
    case Kind::outputMetric:
    case Kind::siteMetric: return "deviation";
    case Kind::flips:
    case Kind::flipRate:
    case Kind::flipMargin:
    case Kind::regressions: return "decision";
    case Kind::accuracy:
    case Kind::accuracyDrop:
    case Kind::error:
    case Kind::errorIncrease: break;
  }
  return "quality";
}

void addStatus(const ReportContent& content, OverviewRow& row) {
  if (!content.verdict || !content.criteria) return;
  for (const session::CriterionResult& result : content.verdict->criteria) {
    const auto& list = content.criteria->list;
    const auto criterion = std::find_if(list.begin(), list.end(), [&](const Criterion& c) { return c.id == result.id; });
    if (criterion != list.end() && row.key == rowOf(criterion->kind)) row.criteria.push_back(result);
  }
  const auto any = [&](JudgedAs status) { return std::any_of(row.criteria.begin(), row.criteria.end(), [&](const auto& c) { return c.status == status; }); };
  if (!row.criteria.empty()) row.status = any(JudgedAs::fail) ? JudgedAs::fail : any(JudgedAs::notEvaluated) ? JudgedAs::notEvaluated : JudgedAs::pass;
}

Text finiteReference(const RunRecord& run, const Phrasebook& book) {
  if (run.referenceNonfinite.empty()) return book.say("overview.allFinite");
  return book.counted(run.unexplained() ? "overview.referenceNonfinite" : "overview.referenceIntended", static_cast<std::int64_t>(run.referenceNonfinite.size()));
}

Text finiteCandidate(const RunRecord& run, const Phrasebook& book) {
  const NonfiniteExtent extent = nonfiniteExtent(run);
  if (run.candidateError) return book.say("overview.raised");
  if (extent.samples == 0 && extent.origins == 0) {
    if (run.settings.observe == session::Observe::outputs) return book.say("overview.outputsFinite");
    return book.say(run.sites.empty() ? "overview.nothingCompared" : "overview.allFinite");
  }
  if (extent.isWholeBatch && extent.samples == 0) return book.say("overview.nonfiniteBatch");
  if (extent.origins == 0) return book.counted("overview.nonfiniteOutputs", extent.samples);
  return book.say("overview.nonfinite", {book.counted("samples", extent.samples), book.counted("origins", extent.origins)});
}

Text deviationReference(const RunRecord& run, const Phrasebook& book) {
  if (!run.noiseFloor || !run.noiseFloor->skipped.empty() || run.noiseFloor->outputs.empty()) return book.say("overview.noiseNotMeasured");
  double worst = std::numeric_limits<double>::quiet_NaN();
  for (const session::OutputFloor& floor : run.noiseFloor->outputs)
    if (!(floor.relL2 <= worst) && !std::isnan(floor.relL2)) worst = floor.relL2;
  return std::isnan(worst) ? book.say("overview.noiseNotMeasured") : book.say("overview.noise", {book.cell(worst)});
}

Text deviationCandidate(const RunRecord& run, const Phrasebook& book) {
  const double worst = worstOutput(run);
  const bool hasNonfinite = std::any_of(run.outputs.begin(), run.outputs.end(), [](const auto& output) { return output.relL2 && output.nonfinite.total() > 0; });
  if (!std::isnan(worst)) return book.say(hasNonfinite ? "overview.worstFinite" : "overview.worstOutput", {book.cell(worst)});
  std::int64_t differing = 0, elements = 0;
  for (const session::OutputSummary& output : run.outputs) differing += output.differingElements, elements += output.elements;
  if (elements > 0) return book.say("overview.differing", {book.count(differing), book.count(elements)});
  return book.say("overview.nothingCompared");
}

Text decisionReference(const RunRecord& run, const FlipFacts& facts, const Phrasebook& book) {
  if (run.settings.decision.kind == session::DecisionRule::Kind::none) return book.say("overview.noDecisionRead");
  if (!run.settings.decision.decides()) return book.say("overview.regression");
  return book.counted("overview.decided", facts.decided, {run.settings.decision.text()});
}

Text decisionCandidate(const RunRecord& run, const FlipFacts& facts, const Phrasebook& book) {
  if (run.settings.decision.kind == session::DecisionRule::Kind::none) return book.say("overview.notEvaluated");
  if (!run.settings.decision.decides()) {
    if (!run.regression || run.regression->elements == 0) return book.say("overview.notEvaluated");
    const std::string error = book.say("overview.errorToReference", {book.cell(run.regression->candidateToReference.rootMeanSquare), book.cell(run.regression->candidateToReference.max)});
    return run.regression->notEvaluated > 0 ? error + "; " + book.counted("overview.notCounted", run.regression->notEvaluated) : error;
  }
  if (facts.decided == 0) return book.say("overview.nothingCompared");
  const bool hasRate = run.settings.onlySamples.empty() && run.status == session::RunStatus::ok;
  std::string text = book.counted("overview.flips", facts.flips);
  if (hasRate && facts.flips == 0) text = book.say("overview.noFlips", {rateSentence(book, 0, facts.decided)});
  else if (hasRate) text = book.counted("overview.flipsRate", facts.flips, {rateSentence(book, facts.flips, facts.decided)});
  if (facts.noDecision > 0) text += "; " + book.counted("overview.lost", facts.noDecision);
  return text;
}

Text qualityOf(const RunRecord& run, bool isCandidate, const Phrasebook& book) {
  if (run.quality && run.quality->labelled > 0) {
    const session::Quality& q = *run.quality;
    return book.say("overview.correct", {book.count(isCandidate ? q.candidateCorrect : q.referenceCorrect), book.count(q.labelled),
                                         book.percent(isCandidate ? q.candidateAccuracy() : q.referenceAccuracy())});
  }
  if (run.regression && run.regression->candidateToTarget && run.regression->referenceToTarget)
    return book.say("overview.errorToTarget", {book.cell((isCandidate ? run.regression->candidateToTarget : run.regression->referenceToTarget)->rootMeanSquare)});
  return book.say("overview.noLabels");
}

}  // namespace

NonfiniteExtent nonfiniteExtent(const RunRecord& run) {
  std::set<std::string> samples(run.nonfiniteSamples.begin(), run.nonfiniteSamples.end());
  NonfiniteExtent extent;
  for (const session::NonfiniteFinding& origin : run.nonfiniteOrigins) {
    samples.insert(origin.sampleIds.begin(), origin.sampleIds.end());
    extent.isWholeBatch = extent.isWholeBatch || (origin.wholeBatch && origin.sampleIds.empty());
  }
  extent.samples = static_cast<std::int64_t>(samples.size());
  extent.origins = static_cast<std::int64_t>(run.nonfiniteOrigins.size());
  return extent;
}

double worstOutput(const RunRecord& run) {
  double worst = std::numeric_limits<double>::quiet_NaN();
  for (const session::OutputSummary& output : run.outputs)
    if (output.relL2 && !std::isnan(*output.relL2) && !(*output.relL2 <= worst)) worst = *output.relL2;
  return worst;
}

std::string rateSentence(const Phrasebook& book, std::int64_t count, std::int64_t total) {
  const RateFigures figures = rateFigures(count, total);
  const std::string low = book.inSentence(figures.low), high = book.inSentence(figures.high);
  const std::string which = book.say("rate.of", {book.count(count), book.count(total)});
  if (count == 0) return book.say("rate.below", {which, high});
  if (count == total) return book.say("rate.above", {which, low});
  return book.say("rate.interval", {which, book.inSentence(figures.rate), low, high});
}

std::vector<OverviewRow> overview(const ReportContent& content, const Phrasebook& book) {
  const RunRecord& run = *content.run();
  const FlipFacts facts = flipFacts(content.session, run);
  std::vector<OverviewRow> rows{{"finite", finiteReference(run, book), finiteCandidate(run, book), {}, {}},
                                {"deviation", deviationReference(run, book), deviationCandidate(run, book), {}, {}},
                                {"decision", decisionReference(run, facts, book), decisionCandidate(run, facts, book), {}, {}},
                                {"quality", qualityOf(run, false, book), qualityOf(run, true, book), {}, {}}};
  for (OverviewRow& row : rows) addStatus(content, row);
  return rows;
}

}  // namespace ulpscope::report
