// The session's runs side by side, and what the reported one cured and made against the one before it.
#include "core/base/number_text.h"
#include "core/report/overview.h"
#include "core/report/run_changes.h"
#include "core/report/sections.h"
#include "core/session/comparable.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using session::RunRecord;

constexpr std::size_t kMostRuns = 20;

Text policyText(const Teller& t, const RunRecord& run) {
  const session::RunSettings& s = run.settings;
  Text text = lowFormat(s);
  if (!s.fp32.empty()) text = text + t.book.text("runs.kept", {codes(s.fp32)});
  if (!s.disable.empty()) text = text + t.book.text("runs.disabled", {codes(s.disable)});
  if (!s.onlySamples.empty()) text = text + t.book.counted("runs.chosen", static_cast<std::int64_t>(s.onlySamples.size()));
  if (run.status != session::RunStatus::ok) text = text + Text(", " + t.book.stored("status", session::name(run.status)));
  return text;
}

Table runsTable(const Teller& t) {
  const auto& runs = t.content.session.runs;
  Table table{t.say("runs.caption"),
              {{t.say("runs.run")}, {t.say("runs.policy")}, {t.say("runs.origins"), true}, {t.say("runs.flips"), true}, {t.say("runs.lost"), true}, {t.say("runs.worst"), true}, {t.say("runs.verdict")}}, {}, ""};
  const std::size_t first = runs.size() > kMostRuns ? runs.size() - kMostRuns : 0;
  for (std::size_t i = first; i < runs.size(); ++i) {
    const RunRecord& run = runs[i];
    const bool decides = run.settings.decision.decides();
    Text name = run.id() == t.run->id() ? strong(runTitle(t.content.session, run)) : Text(runTitle(t.content.session, run));
    if (run.number == t.content.session.baselineNumber) name = name + Text(t.say("runs.baseline"));
    const bool looked = run.settings.observe != session::Observe::outputs;
    table.rows.push_back({{name}, {policyText(t, run)}, {looked ? t.book.count(static_cast<std::int64_t>(run.nonfiniteOrigins.size())) : "–"},
                          {decides ? t.book.count(static_cast<std::int64_t>(run.flips.size())) : "–"}, {decides ? t.book.count(static_cast<std::int64_t>(run.noDecision.size())) : "–"},
                          numberCell(t.book, worstOutput(run)), {run.verdict ? t.book.stored("judged", session::name(run.verdict->status)) + t.say("runs.revision", {t.book.count(run.verdict->revision)}) : "–"}});
  }
  if (first > 0) table.note = t.say("runs.more", {t.book.count(static_cast<std::int64_t>(kMostRuns)), t.book.count(static_cast<std::int64_t>(runs.size()))});
  return table;
}

void addPart(const Teller& t, Table& table, const char* key, const Parted& parts) {
  const auto cell = [&](const std::vector<std::string>& names) -> Cell {
    if (names.empty()) return {"–", Tone::muted};
    std::vector<std::string> shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(names.size(), 6)));
    const Text text = Text(t.book.count(static_cast<std::int64_t>(names.size())) + ": ") + codes(shown);
    return {names.size() > shown.size() ? t.book.text("list.more", {text, t.book.count(static_cast<std::int64_t>(names.size() - shown.size()))}) : text};
  };
  table.rows.push_back({{strong(t.say(key))}, cell(parts.cured), cell(parts.made), cell(parts.kept)});
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : "; ") + part;
  return all;
}

// Against the baseline where one was chosen, else against the run before over the same samples; nullptr: there is none.
const RunRecord* standsAgainst(const session::Session& session, const RunRecord& run) {
  const RunRecord* baseline = session.baseline();
  if (baseline && baseline->number != run.number && baseline->settings.onlySamples == run.settings.onlySamples) return baseline;
  const RunRecord* before = nullptr;
  for (const RunRecord& other : session.runs)
    if (other.number < run.number && other.settings.onlySamples == run.settings.onlySamples) before = &other;
  return before;
}

// A row a run that another can be held against: what the one change of policy cured, and what it made.
void addEachChange(const Teller& t, Section& section) {
  const auto& runs = t.content.session.runs;
  Table table{t.say("runs.eachCaption"), {{t.say("runs.run")}, {t.say("runs.heldAgainst")}, {t.say("runs.change")}, {t.say("runs.originsChange")}, {t.say("runs.flipsChange")}, {t.say("runs.sitesChange")}}, {}, ""};
  const auto pair = [&](std::size_t a, std::size_t b) { return t.say("runs.curedAndNew", {t.book.count(static_cast<std::int64_t>(a)), t.book.count(static_cast<std::int64_t>(b))}); };
  for (std::size_t i = runs.size() > kMostRuns ? runs.size() - kMostRuns : 0; i < runs.size(); ++i) {
    const RunRecord* before = standsAgainst(t.content.session, runs[i]);
    if (!before || !session::differences(before->settings, runs[i].settings).empty()) continue;
    const RunChanges changes = changesBetween(*before, runs[i]);
    const std::string policy = joined(changes.policy);
    table.rows.push_back({{code(runs[i].id())}, {code(before->id())}, {policy.empty() ? Text(t.say("runs.samePolicy")) : code(policy)}, {pair(changes.origins.cured.size(), changes.origins.made.size())},
                          {changes.flipsNotCompared.empty() ? pair(changes.flips.cured.size(), changes.flips.made.size()) : "–"}, {t.say("runs.betterAndWorse", {t.book.count(changes.sites.better), t.book.count(changes.sites.worse)})}});
  }
  if (table.rows.size() > 1) section.blocks.push_back(std::move(table));
}

void addChanges(const Teller& t, const RunRecord& before, Section& section) {
  if (!session::differences(before.settings, t.run->settings).empty()) {
    section.blocks.push_back(Paragraph{t.say("runs.notComparable", {before.id()})});
    return;
  }
  const RunChanges changes = changesBetween(before, *t.run);
  const std::string policy = joined(changes.policy);
  section.blocks.push_back(Paragraph{t.book.text("runs.against", {code(t.run->id()), code(before.id()), policy.empty() ? Text(t.say("runs.samePolicy")) : code(policy)})});
  Table table{t.say("runs.changesCaption"), {{""}, {t.say("runs.cured")}, {t.say("runs.made")}, {t.say("runs.both")}}, {}, ""};
  addPart(t, table, "runs.origins", changes.origins);
  if (changes.flipsNotCompared.empty()) {
    addPart(t, table, "runs.flips", changes.flips);
    addPart(t, table, "runs.lost", changes.noDecision);
  }
  table.note = t.say("runs.sites", {t.book.count(changes.sites.better), t.book.count(changes.sites.worse), t.book.count(changes.sites.equal), t.book.cell(changes.worstA), t.book.cell(changes.worstB)});
  section.blocks.push_back(std::move(table));
}

}  // namespace

const RunRecord* comparedWith(const Teller& t) { return standsAgainst(t.content.session, *t.run); }

Section regionsSection(const Teller& t) {
  Section section{"regions", t.say("runs.title"), {}};
  if (!t.run) return section;
  section.blocks.push_back(runsTable(t));
  addEachChange(t, section);
  if (const RunRecord* before = comparedWith(t)) addChanges(t, *before, section);
  else section.blocks.push_back(Paragraph{t.say("runs.alone"), Tone::muted});
  return section;
}

Section notesSection(const Teller& t) {
  Section section{"notes", t.say("notes.title"), {}};
  if (!t.run) return section;
  Facts facts;
  const auto& runs = t.content.session.runs;
  for (const auto& [number, name] : t.content.session.runNames)
    if (std::any_of(runs.begin(), runs.end(), [n = number](const RunRecord& run) { return run.number == n; })) facts.facts.push_back({t.say("notes.run", {std::to_string(number)}), Text(name)});
  if (!facts.facts.empty()) section.blocks.push_back(std::move(facts));
  Bullets warnings;
  for (const std::string& warning : t.content.session.model.warnings) warnings.items.push_back(Text(warning));
  for (const std::string& warning : t.run->warnings) warnings.items.push_back(Text(warning));
  for (const session::ControlFlowFinding& flow : t.run->controlFlow)
    if (warnings.items.size() < kMostRuns) warnings.items.push_back(t.book.text("notes.controlFlow", {code(flow.op), code(moduleText(t.book, flow.modulePath)), Text(flow.what)}));
  if (!t.run->unresolvedCalls.empty()) warnings.items.push_back(t.book.text("notes.unresolved", {Text(t.book.list(t.run->unresolvedCalls))}));
  if (!warnings.items.empty()) section.blocks.push_back(Paragraph{t.say("notes.warnings")});
  if (!warnings.items.empty()) section.blocks.push_back(std::move(warnings));
  return section;
}

}  // namespace ulpscope::report
