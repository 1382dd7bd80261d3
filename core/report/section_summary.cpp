// The top of a report: what hinders a verdict, the verdict, one paragraph, and the four rows that always stand.
#include "core/base/number_text.h"
#include "core/report/overview.h"
#include "core/report/run_changes.h"
#include "core/report/sections.h"
#include "core/session/comparable.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using session::JudgedAs;
using session::RunRecord;

bool isRevisedAfterResults(const session::Session& session) {
  return std::any_of(session.criteria.begin(), session.criteria.end(), [](const auto& revision) { return revision.afterResults; });
}

void addOfSession(const Teller& t, std::vector<Notice>& all) {
  const session::Session& session = t.content.session;
  const session::RunRecord* any = session.run(t.content.runId);
  if (t.content.isCovered) all.push_back({"covered", t.say("notice.covered")});
  else if (!any && !session.exploratory()) all.push_back({"covered", t.say("notice.nothingRun")});
  if (session.exploratory() && any) all.push_back({"exploratory", t.say("notice.exploratory")});
  if (isRevisedAfterResults(session)) all.push_back({"revised_after_results", t.say("notice.revised", {t.book.count(session.criteria.back().number)})});
  if (session.explored && session.explored->sameSamples)
    all.push_back({"explored_before", t.book.text("notice.explored", {code(session.explored->title), t.book.counted("runs", session.explored->runs)})});
}

void addOfRun(const Teller& t, const RunRecord& run, std::vector<Notice>& all) {
  const auto asked = static_cast<std::int64_t>(run.settings.onlySamples.empty() ? t.content.session.samples.ids.size() : run.settings.onlySamples.size());
  if (run.candidateError)
    all.push_back({"candidate_raised", t.book.text("notice.raised", {lowFormat(run.settings), code(run.candidateError->op), code(moduleText(t.book, run.candidateError->modulePath)), Text(run.candidateError->message)}), Tone::bad});
  if (run.status != session::RunStatus::ok)
    all.push_back({"partial", t.say("notice.partial", {t.book.stored("status", session::name(run.status)), t.book.count(run.samplesComplete), t.book.count(asked)}), Tone::bad});
  if (run.unexplained()) all.push_back({"reference_nonfinite", t.say("notice.reference"), Tone::bad});
  if (run.probeCheck == "differs") all.push_back({"probe_differs", t.say("notice.probe"), Tone::bad});
  if (!run.settings.onlySamples.empty()) all.push_back({"chosen_samples", t.say("notice.chosen", {t.book.count(asked), t.book.count(static_cast<std::int64_t>(t.content.session.samples.ids.size()))})});
  if (run.settings.observe == session::Observe::outputs) all.push_back({"outputs_only", t.say("notice.outputsOnly")});
  if (!run.controlFlow.empty()) all.push_back({"control_flow", t.book.counted("notice.controlFlow", static_cast<std::int64_t>(run.controlFlow.size()))});
}

std::vector<std::string> idsOf(const session::Verdict& verdict, JudgedAs status) {
  std::vector<std::string> ids;
  for (const session::CriterionResult& c : verdict.criteria)
    if (c.status == status) ids.push_back(c.id);
  return ids;
}

Headline judged(const Teller& t, const session::Verdict& verdict) {
  const auto all = static_cast<std::int64_t>(verdict.criteria.size());
  const std::vector<std::string> failed = idsOf(verdict, JudgedAs::fail), open = idsOf(verdict, JudgedAs::notEvaluated);
  if (verdict.status == JudgedAs::pass)
    return {Tone::good, t.say("verdict.pass"), t.book.counted(t.content.session.criteriaAfterResults() ? "verdict.passLate" : "verdict.passLine", all)};
  if (verdict.status == JudgedAs::fail && !failed.empty())
    return {Tone::bad, t.say("verdict.fail"), Text(t.book.counted("verdict.failLine", static_cast<std::int64_t>(failed.size()), {t.book.counted("limits", all)})) + codes(failed)};
  if (verdict.status == JudgedAs::fail) return {Tone::bad, t.say("verdict.fail"), reasonText(t, verdict.reason)};
  if (!verdict.reason.empty()) return {Tone::warn, t.say("verdict.none"), t.book.text("verdict.reasonLine", {Text(reasonText(t, verdict.reason))})};
  return {Tone::warn, t.say("verdict.none"), t.book.text("verdict.openLine", {codes(open)})};
}

// The verdict of a session that holds only trainings: its latest one's.
Headline ofTraining(const Teller& t) {
  const session::Training& training = t.content.trainings.back();
  if (!training.verdict) return {Tone::muted, t.say("verdict.none"), t.say("verdict.trainingExploratory")};
  Headline line = judged(t, *training.verdict);
  line.line = t.book.text("verdict.ofTraining", {t.book.count(training.number)}) + line.line;
  return line;
}

Text whatRan(const Teller& t) {
  const RunRecord& run = *t.run;
  const std::string samples = t.book.counted("samples", static_cast<std::int64_t>(t.content.session.samples.ids.size()));
  const std::string mode = t.say(run.settings.mode == session::Mode::emulated ? "mode.emulatedShort" : run.settings.mode == session::Mode::native ? "mode.nativeShort" : "mode.recordedShort",
                                 {run.settings.device, run.libtorchVersion});
  Text text = t.book.text("plain.ran", {code(t.content.session.model.path), samples, lowFormat(run.settings), run.policyTable, mode});
  if (!run.settings.fp32.empty()) text = text + t.book.text("plain.kept", {codes(run.settings.fp32)});
  return text;
}

Text nonfiniteSentence(const Teller& t) {
  const RunRecord& run = *t.run;
  if (run.nonfiniteOrigins.empty()) {
    if (!run.nonfiniteSamples.empty()) return t.book.counted("plain.nonfiniteOutputs", static_cast<std::int64_t>(run.nonfiniteSamples.size()));
    return run.sites.empty() && run.outputs.empty() ? Text() : Text(t.say("plain.finite"));
  }
  return t.book.text("plain.firstNonfinite", {diagnosis(t, run.nonfiniteOrigins.front())});
}

Text decisionSentence(const Teller& t) {
  const RunRecord& run = *t.run;
  if (!run.settings.decision.decides()) return {};
  const FlipFacts facts = flipFacts(t.content.session, run);
  Text text = flipsSentence(t, facts);
  if (facts.regressed > 0) text = text + t.book.counted("plain.regressed", facts.regressed);
  if (facts.noDecision > 0) text = text + t.book.counted("plain.lost", facts.noDecision);
  if (facts.flips > 0 && facts.withinNoise > 0) text = text + t.book.counted("plain.withinNoise", facts.withinNoise);
  return text;
}

// What a region did, in counts that both runs have: against the run that its section holds it against.
Text changeSentence(const Teller& t) {
  const RunRecord& run = *t.run;
  const RunRecord* other = comparedWith(t);
  if (!other || (run.settings.fp32 == other->settings.fp32 && run.settings.disable == other->settings.disable) || !session::differences(other->settings, run.settings).empty()) return {};
  const auto change = [&](std::size_t a, std::size_t b) { return t.book.count(static_cast<std::int64_t>(a)) + " → " + t.book.count(static_cast<std::int64_t>(b)); };
  std::string told;
  if (run.settings.observe != session::Observe::outputs && other->settings.observe != session::Observe::outputs) told = t.say("plain.changeOrigins", {change(other->nonfiniteOrigins.size(), run.nonfiniteOrigins.size())});
  if (run.settings.decision.decides() && other->settings.decision.text() == run.settings.decision.text()) told += (told.empty() ? "" : ", ") + t.say("plain.changeFlips", {change(other->flips.size(), run.flips.size())});
  if (!other->noDecision.empty() || !run.noDecision.empty()) told += (told.empty() ? "" : ", ") + t.say("plain.changeLost", {change(other->noDecision.size(), run.noDecision.size())});
  return told.empty() ? Text() : Text(t.say("plain.change", {other->id(), told}));
}

std::string trainingSentence(const Teller& t) {
  const session::Training& training = t.content.trainings.back();
  if (training.runs.empty() || training.runs.front().ledger.empty()) return "";
  const session::Trajectory& run = training.runs.front();
  return " " + t.say("plain.training", {t.book.count(training.number), t.say(run.autocast ? "training.autocastOn" : "training.autocastOff", {training.policyTable}), t.say(run.scaling ? "training.scalingOn" : "training.scalingOff"),
                                        t.book.count(run.appliedUpdates), t.book.count(std::max(run.steps, run.countedSteps())), t.book.number(run.ledger.front().loss), t.book.number(run.finalLoss())});
}

}  // namespace

std::vector<Notice> notices(const Teller& t) {
  std::vector<Notice> all;
  addOfSession(t, all);
  if (t.run) addOfRun(t, *t.run, all);
  return all;
}

Headline headline(const Teller& t) {
  if (!t.content.run() && !t.content.trainings.empty()) return ofTraining(t);
  if (!t.run) return {Tone::muted, t.say("verdict.covered"), t.say(t.content.isCovered ? "verdict.coveredLine" : "verdict.nothingRunLine")};
  if (t.content.verdict) return judged(t, *t.content.verdict);
  return {Tone::muted, t.say("verdict.none"), t.say("verdict.exploratoryLine")};
}

Text plainParagraph(const Teller& t) {
  if (!t.run) {
    if (!t.content.trainings.empty()) return t.book.counted("plain.onlyTrainings", static_cast<std::int64_t>(t.content.trainings.size())) + trainingSentence(t);
    return t.book.text("plain.covered", {code(t.content.session.model.path), t.book.counted("samples", static_cast<std::int64_t>(t.content.session.samples.ids.size()))});
  }
  Text text = whatRan(t);
  for (const Text& more : {nonfiniteSentence(t), decisionSentence(t), changeSentence(t)})
    if (!more.empty()) text = text + Text(" ") + more;
  return text;
}

Section overviewSection(const Teller& t) {
  Section section{"overview", t.say("overview.title"), {}};
  if (!t.run) return section;
  Table table{t.say("overview.caption"), {{t.say("overview.row"), false}, {t.say("overview.fp32"), false}, {"AMP " + lowFormat(t.run->settings), false}, {t.say("overview.limit"), false}, {t.say("overview.result"), false}}, {}, ""};
  for (const OverviewRow& row : overview(t.content, t.book)) {
    Text limits;
    for (const session::CriterionResult& c : row.criteria) {
      const auto& list = t.content.criteria->list;
      const auto found = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.id == c.id; });
      limits = limits + (limits.empty() ? Text() : Text("; ")) + code(c.id) + Text(found != list.end() && found->atLeast() ? " ≥ " : " ≤ ") + Text(t.book.cell(c.limit));
    }
    if (limits.empty()) limits = muted(t.say("overview.noLimit"));
    table.rows.push_back({{strong(t.say("overview." + row.key))}, {row.reference}, {row.candidate}, {limits}, statusCell(t.book, row.status)});
  }
  const std::int64_t tried = t.content.session.candidatesTried(), deleted = t.content.session.candidatesDeleted();
  table.note = t.book.counted("overview.tried", tried) + (deleted > 0 ? " " + t.book.counted("overview.triedDeleted", deleted) : "") + (tried > 1 ? " " + t.say("overview.triedMany") : "");
  section.blocks.push_back(std::move(table));
  return section;
}

}  // namespace ulpscope::report
