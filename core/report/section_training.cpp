// The session's trainings: what each did, its curves, the steps of its ledger that matter, and the trajectories side by side (the 2x2 of --isolate).
#include "core/analysis/isolation.h"
#include "core/base/number_text.h"
#include "core/report/figures.h"
#include "core/report/sections.h"
#include "core/report/training_text.h"
#include "core/session/training_lock.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using session::LedgerLine;
using session::Trajectory;
using session::Training;

constexpr std::size_t kMostTrainings = 3;  // in full: the latest
constexpr std::size_t kMostLines = 16;

Facts factsOf(const Teller& t, const Training& training) {
  const Trajectory& run = training.runs.front();
  const std::string skipped = skippedText(run);
  Facts facts;
  const auto add = [&](const char* key, Text value) { facts.facts.push_back({t.say(key), std::move(value)}); };
  add("training.how", t.say(run.autocast ? "training.autocastOn" : "training.autocastOff", {training.policyTable}) + ", " + t.say(run.scaling ? "training.scalingOn" : "training.scalingOff"));
  if (!run.fp32.empty()) add("compared.kept", codes(run.fp32));
  add("training.updates", t.say("training.updatesValue", {t.book.count(run.appliedUpdates), t.book.count(std::max(run.steps, run.countedSteps()))}));
  add("training.skipped", skipped.empty() ? Text(t.say("training.none")) : Text(t.say("training.steps", {skipped})));
  if (const std::string settled = analysis::settledText(run); !settled.empty()) add("training.settled", t.say("training.settledValue", {t.book.number(run.finalScale)}));
  if (!run.ledger.empty()) add("training.loss", t.say("training.lossValue", {t.book.number(run.ledger.front().loss), t.book.number(run.finalLoss())}));
  if (run.accuracy) add("training.accuracy", t.book.percent(*run.accuracy));
  if (run.firstNonfinite) add("training.firstNonfinite", t.book.text("training.firstNonfiniteValue", {t.book.count(run.firstNonfinite->step), Text(firstNonfiniteText(*run.firstNonfinite))}));
  if (!run.error.empty()) add("training.ended", Text(run.error));
  if (const auto& back = training.rollback) add("training.back", t.say("training.backValue", {t.book.count(back->step), back->checkpoint, back->text}));
  for (const session::ResumeRecord& resume : training.resumes) add("training.resumed", t.say("training.resumedValue", {t.book.count(resume.step), resume.checkpoint}) + (resume.change.empty() ? "" : " (" + resume.change + ")"));
  return facts;
}

// Where something happens: skips, what is not finite, first and last.
std::vector<const LedgerLine*> tellingLines(const Trajectory& run) {
  std::vector<const LedgerLine*> lines;
  for (std::size_t i = 0; i < run.ledger.size(); ++i) {
    const LedgerLine& line = run.ledger[i];
    const bool tells = i == 0 || i + 1 == run.ledger.size() || line.skipped || line.foundInf || line.firstNonfinite || !std::isfinite(line.loss) || line.scaleAfter != line.scaleBefore;
    if (tells) lines.push_back(&line);
  }
  if (lines.size() > kMostLines) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(kMostLines) - 1, lines.end() - 1);
  return lines;
}

Table ledgerTable(const Teller& t, const Trajectory& run) {
  Table table{t.say("ledger.caption"),
              {{t.say("ledger.step"), true}, {t.say("ledger.optimizer")}, {t.say("ledger.loss"), true}, {t.say("ledger.scale"), true}, {t.say("ledger.norm"), true}, {t.say("ledger.zero"), true}, {t.say("ledger.update")}}, {}, ""};
  const auto lines = tellingLines(run);
  for (const LedgerLine* line : lines)
    table.rows.push_back({{t.book.count(line->step)}, {line->optimizer.empty() ? Text("–") : code(line->optimizer)}, numberCell(t.book, line->loss), {t.book.groupedCell(line->scaleBefore)}, numberCell(t.book, line->gradNorm),
                          {t.book.cell(100 * line->zeroShare) + " %"}, {t.say(line->skipped ? "ledger.skipped" : line->applied ? "ledger.applied" : "ledger.notStepped"), line->skipped ? Tone::warn : Tone::plain}});
  table.note = t.say("ledger.note", {t.book.count(static_cast<std::int64_t>(lines.size())), t.book.count(static_cast<std::int64_t>(run.ledger.size()))});
  return table;
}

Table trajectoryTable(const Teller& t, const Training& training) {
  Table table{t.say("trajectories.caption"),
              {{t.say("trajectories.name")}, {"autocast"}, {t.say("trajectories.scaling")}, {t.say("trajectories.skipped"), true}, {t.say("trajectories.applied"), true}, {t.say("trajectories.loss"), true}, {t.say("trajectories.scale"), true}, {t.say("trajectories.accuracy"), true}, {t.say("trajectories.standing")}}, {}, ""};
  for (const Trajectory& run : training.runs) {
    const bool isBad = analysis::inTrouble(run);
    table.rows.push_back({{code(run.name)}, {t.say(run.autocast ? "on" : "off")}, {t.say(run.scaling ? "on" : "off")}, {t.book.count(static_cast<std::int64_t>(run.mostSkipped()))}, {t.book.count(run.appliedUpdates)},
                          numberCell(t.book, run.finalLoss()), {t.book.groupedCell(run.finalScale)}, {run.accuracy ? t.book.cell(100 * *run.accuracy) + " %" : "–"},
                          {isBad ? t.book.counted("trajectories.alarms", static_cast<std::int64_t>(run.alarms.size())) : t.say("trajectories.well"), isBad ? Tone::bad : Tone::good}});
  }
  std::string which = analysis::isolationText(training), told;
  for (std::size_t at = 0; !which.empty() && at != std::string::npos;) {
    const std::size_t end = which.find("; ", at);
    told += (told.empty() ? "" : "; ") + t.book.stored("isolation", which.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : end + 2;
  }
  table.note = told;
  return table;
}

void addFindings(const Teller& t, const Training& training, Section& section) {
  Bullets items;
  const Trajectory& run = training.runs.front();
  for (const session::Violation& v : run.violations)
    if (items.items.size() < kMostLines) items.items.push_back(t.book.text("training.violation", {t.book.count(v.step), code(v.rule), Text(v.text)}));
  for (const session::Alarm& alarm : run.alarms)
    if (items.items.size() < kMostLines) items.items.push_back(t.book.text("training.alarm", {t.book.count(alarm.step), Text(alarm.text), code(alarm.id)}));
  for (const std::string& buffer : run.poisonedBuffers) items.items.push_back(t.book.text("training.poisoned", {code(buffer)}));
  for (const std::string& warning : training.warnings) items.items.push_back(Text(warning));
  if (!items.items.empty()) section.blocks.push_back(std::move(items));
}

void addVerdict(const Teller& t, const Training& training, Section& section) {
  if (!training.verdict) return;
  Table table{t.say("training.verdict", {t.book.stored("judged", session::name(training.verdict->status))}),
              {{t.say("criteria.id")}, {t.say("criteria.measured"), true}, {t.say("criteria.limit"), true}, {t.say("criteria.note")}, {t.say("overview.result")}}, {}, training.verdict->reason};
  for (const session::CriterionResult& c : training.verdict->criteria) table.rows.push_back({{code(c.id)}, numberCell(t.book, c.measured), numberCell(t.book, c.limit), {Text(c.note)}, statusCell(t.book, c.status)});
  const auto& locked = t.content.trainingCriteria;
  const auto by = std::find_if(locked.begin(), locked.end(), [&](const auto& r) { return r.number == training.verdict->revision && r.sha256 == training.verdict->sha256; });
  if (by != locked.end()) table.note += (table.note.empty() ? "" : " ") + t.say(by->afterResults ? "training.lockedLate" : "training.locked", {t.book.count(by->number), timeText(by->lockedUtc), by->sha256, by->reason});
  section.blocks.push_back(std::move(table));
}

}  // namespace

Section trainingSection(const Teller& t) {
  Section section{"training", t.say("training.title"), {}};
  const auto& all = t.content.trainings;
  if (all.empty()) return section;
  const std::size_t first = all.size() > kMostTrainings ? all.size() - kMostTrainings : 0;
  if (first > 0) section.blocks.push_back(Paragraph{t.say("training.more", {t.book.count(static_cast<std::int64_t>(kMostTrainings)), t.book.count(static_cast<std::int64_t>(all.size()))})});
  for (std::size_t i = first; i < all.size(); ++i) {
    const Training& training = all[i];
    if (training.runs.empty()) continue;
    section.blocks.push_back(Paragraph{strong(t.say("training.name", {t.book.count(training.number), timeText(training.createdUtc)})) + Text(training.cancelled ? t.say("training.cancelled") : "")});
    addVerdict(t, training, section);
    section.blocks.push_back(factsOf(t, training));
    if (!training.runs.front().ledger.empty()) {
      section.blocks.push_back(trainingFigure(t, training));
      section.blocks.push_back(ledgerTable(t, training.runs.front()));
    }
    if (training.runs.size() > 1) section.blocks.push_back(trajectoryTable(t, training));
    addFindings(t, training, section);
  }
  return section;
}

}  // namespace ulpscope::report
