// What was compared with what, and by which criteria.
#include "core/base/clock.h"
#include "core/base/number_text.h"
#include "core/report/sections.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using session::RunRecord;
using session::Session;

class FactList {
 public:
  explicit FactList(const Teller& t) : m_teller(t) {}
  void add(const char* key, Text value) {
    if (!value.plain().empty()) m_facts.facts.push_back({m_teller.say(key), std::move(value)});
  }
  Facts take() { return std::move(m_facts); }

 private:
  const Teller& m_teller;
  Facts m_facts;
};

Text digest(const std::string& sha256) { return sha256.empty() ? Text("–") : code(sha256); }

Text fileWithDigest(const Teller& t, const std::string& file, const std::string& sha256) { return code(file) + (sha256.empty() ? Text() : t.book.text("compared.sha", {digest(sha256)})); }

Text kindsText(const Teller& t) {
  const auto& kinds = t.content.session.samples.kinds;
  std::string text = t.book.counted("samples", static_cast<std::int64_t>(t.content.session.samples.ids.size()));
  if (kinds.empty()) return text;
  std::string each;
  for (const char* kind : {"common", "edge", "boundary"})
    if (const auto count = std::count(kinds.begin(), kinds.end(), kind); count > 0) each += (each.empty() ? "" : ", ") + t.book.count(count) + " " + t.book.stored("kind", kind);
  return text + ": " + each;
}

void addExperiment(const Teller& t, FactList& facts) {
  const Session& s = t.content.session;
  facts.add("compared.model", code(s.model.path));
  facts.add("compared.code", digest(s.model.fingerprint.codeSha256));
  facts.add("compared.weights", digest(s.model.fingerprint.weightsSha256));
  facts.add("compared.inputs", fileWithDigest(t, s.samples.path, s.samples.sha256));
  facts.add("compared.samples", kindsText(t));
  facts.add("compared.labels", s.samples.labelsPath.empty() ? Text() : code(s.samples.labelsPath));
  facts.add("compared.preprocessing", s.samples.preprocessing.empty() ? Text() : code(s.samples.preprocessing));
  facts.add("compared.session", t.book.text("compared.sessionValue", {code(t.content.file), code(s.id), Text(timeText(s.createdUtc)), Text(s.creatorVersion)}));
}

std::string modeText(const Teller& t, const RunRecord& run) {
  switch (run.settings.mode) {
    case session::Mode::emulated: return t.say("mode.emulated");
    case session::Mode::native: return t.say("mode.native");
    case session::Mode::recorded: break;
  }
  return t.say("mode.recorded", {run.settings.device, run.libtorchVersion});
}

Text decisionText(const Teller& t, const session::RunSettings& s) {
  if (s.decision.kind == session::DecisionRule::Kind::none) return t.say("compared.noDecision");
  Text text = code(s.decision.text());
  if (!s.decisionOutput.empty()) text = text + t.book.text("compared.ofOutput", {code(s.decisionOutput)});
  if (s.decision.decides()) text = text + Text(t.say("compared.tie", {t.book.stored("tie", session::name(s.tie))}));
  return text;
}

void addPolicy(const Teller& t, const RunRecord& run, FactList& facts) {
  const session::RunSettings& s = run.settings;
  facts.add("compared.reference", t.say("compared.referenceValue"));
  facts.add("compared.candidate", t.book.text("compared.candidateValue", {lowFormat(s), code(run.policyTable)}));
  facts.add("compared.mode", modeText(t, run));
  facts.add("compared.kept", s.fp32.empty() ? Text(t.say("compared.noRegion")) : codes(s.fp32));
  facts.add("compared.disabled", codes(s.disable));
  facts.add("compared.castCache", s.castCache ? Text() : Text(t.say("compared.castCacheOff")));
  facts.add("compared.accumulate", s.accumulate ? Text(t.book.stored("accumulate", session::name(*s.accumulate))) : Text());
  facts.add("compared.decision", decisionText(t, s));
  std::string batch = t.say("compared.batchValue", {t.book.count(s.batchSize), std::to_string(s.seed), t.say(s.trainMode ? "compared.train" : "compared.eval")});
  facts.add("compared.batch", batch);
  facts.add("compared.engine", t.say(s.mode == session::Mode::recorded ? "compared.recorderValue" : "compared.engineValue", {run.libtorchVersion, s.device, t.book.counted("threads", run.threadsPerRun)}));
  facts.add("compared.when", t.say(run.elapsedSeconds >= 1 ? "compared.whenValue" : "compared.whenOnly", {timeText(run.createdUtc), base::durationText(std::max(0.0, run.elapsedSeconds))}));
}

std::string noiseText(const Teller& t, const RunRecord& run) {
  if (!run.noiseFloor) return t.say("compared.noiseNotAsked");
  if (!run.noiseFloor->skipped.empty()) return t.say("compared.noiseSkipped", {run.noiseFloor->skipped});
  std::string each;
  for (const session::OutputFloor& floor : run.noiseFloor->outputs)
    if (!std::isnan(floor.relL2)) each += (each.empty() ? "" : ", ") + floor.name + " " + t.book.number(floor.relL2);
  if (each.empty()) return t.say("compared.noiseNotEvaluated");
  return t.say("compared.noiseValue", {each, t.book.counted("compared.noiseFlips", static_cast<std::int64_t>(run.noiseFloor->flips.size()))});
}

void addChecks(const Teller& t, const RunRecord& run, FactList& facts) {
  facts.add("compared.noise", noiseText(t, run));
  facts.add("compared.probe", t.say(run.probeCheck == "identical" ? "compared.probeIdentical" : run.probeCheck == "differs" ? "compared.probeDiffers" : "compared.probeNotDone"));
  if (run.settings.mode != session::Mode::recorded) facts.add("compared.eager", run.eagerCheck.empty() ? Text(t.say("compared.eagerNone")) : Text(run.eagerCheck));
}

Table verdictTable(const Teller& t, const session::Verdict& verdict) {
  Table table{t.say("criteria.caption"),
              {{t.say("criteria.id")}, {t.say("criteria.measured"), true}, {t.say("criteria.limit"), true}, {t.say("criteria.ratio"), true}, {t.say("criteria.worst")}, {t.say("criteria.note")}, {t.say("overview.result")}},
              {},
              t.say("criteria.ratioNote")};
  for (const session::CriterionResult& c : verdict.criteria)
    table.rows.push_back({{code(c.id)}, numberCell(t.book, c.measured), numberCell(t.book, c.limit), numberCell(t.book, c.ratio), {c.worstSample.empty() ? Text("–") : code(c.worstSample)}, {Text(c.note)}, statusCell(t.book, c.status)});
  return table;
}

Table revisionTable(const Teller& t) {
  Table table{t.say("criteria.revisions"), {{t.say("criteria.revision"), true}, {t.say("criteria.locked")}, {"SHA-256"}, {t.say("criteria.knownBefore")}, {t.say("criteria.reason")}}, {}, t.say("criteria.hashNote")};
  for (const session::CriteriaRevision& r : t.content.session.criteria)
    table.rows.push_back({{t.book.count(r.number)}, {timeText(r.lockedUtc)}, {code(r.sha256)},
                          {t.say(r.afterResults ? "criteria.after" : "criteria.before"), r.afterResults ? Tone::warn : Tone::plain}, {r.reason.empty() ? "–" : r.reason}});
  return table;
}

}  // namespace

Section comparedSection(const Teller& t) {
  Section section{"compared", t.say("compared.title"), {}};
  FactList facts(t);
  addExperiment(t, facts);
  if (const RunRecord* run = t.content.run()) addPolicy(t, *run, facts);
  if (t.run) addChecks(t, *t.run, facts);
  section.blocks.push_back(facts.take());
  return section;
}

Section criteriaSection(const Teller& t) {
  Section section{"criteria", t.say("criteria.title"), {}};
  if (t.content.session.exploratory()) {
    if (t.content.run()) section.blocks.push_back(Paragraph{t.book.text("criteria.none", {code("ulpscope criteria new")})});
    return section;
  }
  if (t.content.verdict && !t.content.verdict->criteria.empty()) section.blocks.push_back(verdictTable(t, *t.content.verdict));
  section.blocks.push_back(revisionTable(t));
  const auto canonical = nlohmann::json::parse(t.content.session.criteria.back().canonical, nullptr, false);
  if (!canonical.is_discarded()) section.blocks.push_back(Listing{t.say(t.content.criteriaAreCut ? "criteria.textCut" : "criteria.text"), canonical.dump(2)});
  return section;
}

}  // namespace ulpscope::report
