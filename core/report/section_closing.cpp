// What a report does not show, and how to get its numbers again.
#include "core/base/number_text.h"
#include "core/base/shell_word.h"
#include "core/report/sections.h"
#include "core/session/command_line.h"
#include "core/session/sample_choice.h"
#include "core/session/scan_request.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ulpscope::report {
namespace {

using session::RunRecord;

constexpr std::size_t kMostScanCommands = 3;  // the latest: those that are told in full

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

class ScanCommand {
 public:
  ScanCommand(const session::Scan& scan, const session::Session& session, const std::string& file) : m_line("ulpscope scan " + base::shellWord(file)) {
    addSamples(scan);
    add("--run", scan.runId);
    if (const RunRecord* run = session.run(scan.runId)) addChanges(scan.settings, run->settings);
    if (!scan.settings.noiseFloor) m_line += " --no-noise-floor";
    add("--model", session.model.path);
    add("--inputs", session.samples.path);
  }
  const std::string& text() const { return m_line; }

 private:
  void add(const char* option, const std::string& value) { m_line += std::string(" ") + option + " " + base::shellWord(value); }

  void addSamples(const session::Scan& scan) {
    if (scan.segment) {
      add("--from", scan.sampleIds.at(0));
      add("--to", scan.sampleIds.at(1));
      if (const auto steps = static_cast<std::int64_t>(scan.segment->samples.size()); steps != kUsual.steps) add("--steps", std::to_string(steps));
    } else if (scan.plane) {
      m_line += " --plane";
      for (const std::string& id : scan.sampleIds) m_line += " " + base::shellWord(id);
      if (scan.plane->side != kUsual.grid) add("--grid", std::to_string(scan.plane->side));
      if (scan.plane->lowest != 0) add("--margin", base::roundTripNumber(-scan.plane->lowest));
    } else {
      m_line += " --near" + (scan.sampleIds.empty() ? "" : " " + base::shellWord(session::sampleIdsText(scan.sampleIds)));
      if (scan.near && scan.near->limit != kUsual.limit) add("--limit", base::roundTripNumber(scan.near->limit));
    }
  }

  // What held of the scan and not of its run.
  void addChanges(const session::RunSettings& scan, const session::RunSettings& run) {
    const auto addNew = [this](const char* option, const std::vector<std::string>& held, const std::vector<std::string>& had) {
      for (const std::string& path : held)
        if (std::find(had.begin(), had.end(), path) == had.end()) add(option, path);
    };
    addNew("--fp32", scan.fp32, run.fp32);
    addNew("--disable", scan.disable, run.disable);
    if (scan.decision.text() != run.decision.text()) add("--decision", scan.decision.text());
    if (scan.decisionOutput != run.decisionOutput) add("--decision-output", scan.decisionOutput);
    if (scan.tie != run.tie) add("--tie", session::name(scan.tie));
    if (scan.batchSize != run.batchSize) add("--batch-size", std::to_string(scan.batchSize));
  }

  static inline const session::ScanRequest kUsual = {};
  std::string m_line;
};

void addScanCommands(const Teller& t, Section& section) {
  std::string lines;
  const auto& scans = t.content.scans;
  for (std::size_t i = scans.size() > kMostScanCommands ? scans.size() - kMostScanCommands : 0; i < scans.size(); ++i)
    lines += (lines.empty() ? "" : "\n") + ScanCommand(scans[i], t.content.session, t.content.file).text();
  if (!lines.empty()) section.blocks.push_back(Listing{t.say("reproduce.scans"), lines});
}

void addTrainingCommands(const Teller& t, Section& section) {
  if (t.content.trainings.empty()) return;
  section.blocks.push_back(Listing{t.say("reproduce.training"), "ulpscope train recipe.json --session repeated-training.ulps" + std::string(t.content.trainings.back().runs.size() > 2 ? " --isolate" : "")});
  const auto recipe = nlohmann::json::parse(t.content.trainings.back().recipe, nullptr, false);
  section.blocks.push_back(Listing{t.say("reproduce.recipe"), recipe.is_discarded() ? t.content.trainings.back().recipe : recipe.dump(2)});
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
  addScanCommands(t, section);
  addTrainingCommands(t, section);
  std::string look = "ulpscope report " + file + " --out report" + (run ? " --run " + run->id() : "") + "\nulpscope gui " + file;
  if (run && !t.content.session.exploratory()) look = "ulpscope check " + file + " --run " + run->id() + "\n" + look;
  section.blocks.push_back(Listing{t.say("reproduce.session"), look});
  return section;
}

}  // namespace ulpscope::report
