// What a report does not show, and how to get its numbers again.
#include "core/base/shell_word.h"
#include "core/report/sections.h"
#include "core/session/command_line.h"

#include <algorithm>

namespace ulpscope::report {
namespace {

using session::RunRecord;

std::string modeLimit(const Teller& t, const RunRecord& run) {
  switch (run.settings.mode) {
    case session::Mode::emulated: return t.say("limits.emulated");
    case session::Mode::native: return t.say("limits.native");
    case session::Mode::recorded: break;
  }
  return t.say("limits.recorded", {run.settings.device, run.libtorchVersion});
}

void addLimitsOfRun(const Teller& t, const RunRecord& run, Bullets& limits) {
  limits.items.push_back(Text(modeLimit(t, run)));
  limits.items.push_back(Text(t.say("limits.samples")));
  const auto& kinds = t.content.session.samples.kinds;
  const auto rare = std::count_if(kinds.begin(), kinds.end(), [](const std::string& kind) { return kind != "common"; });
  if (rare > 0) limits.items.push_back(Text(t.book.counted("limits.kinds", rare, {t.book.count(static_cast<std::int64_t>(kinds.size()))})));
  if (t.content.session.candidatesTried() > 1) limits.items.push_back(Text(t.book.counted("limits.tried", t.content.session.candidatesTried())));
  const FlipFacts facts = flipFacts(t.content.session, run);
  const bool hasNoise = run.noiseFloor && run.noiseFloor->skipped.empty();
  if (facts.flips > 0 && !hasNoise) limits.items.push_back(Text(t.say("limits.noNoise")));
  if (facts.tiedInReference > 0) limits.items.push_back(Text(t.book.counted("limits.ties", facts.tiedInReference, {t.book.stored("tie", session::name(run.settings.tie))})));
  const bool hasFull = run.settings.observe == session::Observe::full && run.settings.mode != session::Mode::recorded;
  if (!hasFull && run.settings.observe != session::Observe::outputs) limits.items.push_back(Text(t.say("limits.noIntroduced")));
  if (run.capture && !run.capture->leftOut.empty()) limits.items.push_back(Text(t.book.counted("limits.captures", static_cast<std::int64_t>(run.capture->leftOut.size()))));
}

session::RunRequest requestOf(const Teller& t, const RunRecord& run) {
  session::RunRequest request;
  const session::SampleSet& samples = t.content.session.samples;
  request.modelPath = t.content.session.model.path;
  request.inputsPath = samples.path;
  request.labelsPath = samples.labelsPath;
  request.classNamesPath = samples.classNamesPath;
  request.sessionPath = "repeated.ulps";
  request.settings = run.settings;
  if (run.settings.mode == session::Mode::emulated) request.settings.policyTable = run.policyTable;
  return request;
}

std::string criteriaWords(const Teller& t) { return t.content.session.exploratory() ? "" : " --criteria criteria.json"; }

void addTrainingCommands(const Teller& t, Section& section) {
  if (t.content.trainings.empty()) return;
  section.blocks.push_back(Listing{t.say("reproduce.training"), "ulpscope train recipe.json --session repeated-training.ulps" + std::string(t.content.trainings.back().runs.size() > 2 ? " --isolate" : "")});
  section.blocks.push_back(Listing{t.say("reproduce.recipe"), t.content.trainings.back().recipe});
}

}  // namespace

Section limitsSection(const Teller& t) {
  Section section{"limits", t.say("limits.title"), {}};
  Bullets limits;
  if (t.content.isCovered) limits.items.push_back(Text(t.say("limits.covered")));
  if (t.run) addLimitsOfRun(t, *t.run, limits);
  if (!t.content.trainings.empty()) limits.items.push_back(Text(t.say("limits.training")));
  if (!t.content.session.exploratory()) limits.items.push_back(Text(t.say("limits.hash")));
  limits.items.push_back(Text(t.say("limits.paths")));
  if (t.book.language() != Language::english) limits.items.push_back(Text(t.say("limits.language")));
  section.blocks.push_back(std::move(limits));
  return section;
}

Section reproduceSection(const Teller& t) {
  Section section{"reproduce", t.say("reproduce.title"), {}};
  const std::string file = base::shellWord(t.content.file);
  const RunRecord* run = t.content.run();
  if (run && run->settings.mode != session::Mode::recorded) {
    section.blocks.push_back(Paragraph{t.say(t.content.session.exploratory() ? "reproduce.lead" : "reproduce.leadCriteria")});
    section.blocks.push_back(Listing{t.say("reproduce.run"), session::runCommand(requestOf(t, *run)) + criteriaWords(t)});
  } else if (run) {
    section.blocks.push_back(Paragraph{t.say("reproduce.recorded")});
  }
  addTrainingCommands(t, section);
  std::string look = "ulpscope report " + file + " --out report" + (run ? " --run " + run->id() : "") + "\nulpscope gui " + file;
  if (run && !t.content.session.exploratory()) look = "ulpscope check " + file + " --run " + run->id() + "\n" + look;
  section.blocks.push_back(Listing{t.say("reproduce.session"), look});
  return section;
}

}  // namespace ulpscope::report
