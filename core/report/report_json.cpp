#include "core/report/report_json.h"

#include "core/base/number_text.h"
#include "core/report/benchmark_text.h"
#include "core/report/overview.h"
#include "core/report/run_changes.h"
#include "core/report/run_document.h"
#include "core/report/scan_text.h"
#include "core/report/sections.h"
#include "core/report/verdict_text.h"
#include "core/session/comparable.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace ulpscope::report {
namespace {

using base::jsonNumber;
using nlohmann::json;
using session::Metric;
using session::RunRecord;

constexpr Metric kSiteMetrics[] = {Metric::relL2, Metric::maxAbs, Metric::maxUlp, Metric::introducedRelL2, Metric::headroomBits};

json optionalNumber(double value) { return std::isnan(value) ? json(nullptr) : jsonNumber(value); }

// Rows under one head: 10,000 op sites with a key a number would take three times the room.
json sitesJson(const RunRecord& run) {
  json columns = {"module", "op", "overload", "occurrence", "output", "source", "dtype", "sample_axis", "role", "nan", "plus_inf", "minus_inf"};
  for (const Metric metric : kSiteMetrics) columns.push_back(session::key(metric));
  json rows = json::array();
  for (const session::SiteSummary& s : run.sites) {
    json row = {s.modulePath, s.op, s.overload, s.occurrence, s.output, s.source, base::name(s.candidateDtype), s.sampleAxis, session::name(s.role), s.candidateOnly.nan, s.candidateOnly.plusInf, s.candidateOnly.minusInf};
    for (const Metric metric : kSiteMetrics) row.push_back(s.viewOf.empty() ? optionalNumber(s.values[metric]) : json(nullptr));
    rows.push_back(std::move(row));
  }
  return {{"columns", columns}, {"rows", rows}};
}

json overviewJson(const Teller& t) {
  json rows = json::array();
  if (!t.run) return rows;
  for (const OverviewRow& row : overview(t.content, t.book)) {
    json ids = json::array();
    for (const session::CriterionResult& c : row.criteria) ids.push_back(c.id);
    rows.push_back({{"row", row.key}, {"reference", row.reference.plain()}, {"candidate", row.candidate.plain()}, {"criteria", ids}, {"status", row.status ? json(session::name(*row.status)) : json(nullptr)}});
  }
  return rows;
}

json criteriaJson(const ReportContent& content) {
  json revisions = json::array();
  for (const session::CriteriaRevision& r : content.session.criteria) {
    json text = json::parse(r.canonical, nullptr, false);
    if (text.is_discarded()) text = nullptr;
    revisions.push_back({{"number", r.number}, {"locked", r.lockedUtc}, {"sha256", r.sha256}, {"after_results", r.afterResults}, {"reason", r.reason}, {"criteria", text}});
  }
  return revisions;
}

json runsJson(const ReportContent& content) {
  json runs = json::array();
  for (const RunRecord& run : content.session.runs) {
    const std::string name = content.session.runName(run.number);
    json entry = {{"run_id", run.id()}, {"name", name.empty() ? json(nullptr) : json(name)}, {"created", run.createdUtc}, {"status", session::name(run.status)}, {"label", session::runLabel(run)}, {"fp32", run.settings.fp32}, {"disable", run.settings.disable}};
    for (const char* key : {"nonfinite_origins", "flips", "no_decision", "output_rel_l2", "verdict"}) entry[key] = nullptr;
    if (!content.isCovered) {
      if (run.settings.observe != session::Observe::outputs) entry["nonfinite_origins"] = run.nonfiniteOrigins.size();
      if (run.settings.decision.decides()) entry["flips"] = run.flips.size(), entry["no_decision"] = run.noDecision.size();
      entry["output_rel_l2"] = optionalNumber(worstOutput(run));
      if (run.verdict) entry["verdict"] = session::name(run.verdict->status);
    }
    runs.push_back(std::move(entry));
  }
  return runs;
}

json partsJson(const Parted& p) { return {{"cured", p.cured}, {"made", p.made}, {"kept", p.kept}}; }

json changesJson(const Teller& t) {
  const RunRecord* before = t.run ? comparedWith(t) : nullptr;
  if (!before || !session::differences(before->settings, t.run->settings).empty()) return nullptr;
  const RunChanges changes = changesBetween(*before, *t.run);
  const bool hasFlips = changes.flipsNotCompared.empty();
  return {{"against", before->id()}, {"policy", changes.policy}, {"nonfinite_origins", partsJson(changes.origins)}, {"flips", hasFlips ? partsJson(changes.flips) : json(nullptr)},
          {"no_decision", hasFlips ? partsJson(changes.noDecision) : json(nullptr)}, {"sites", {{"better", changes.sites.better}, {"worse", changes.sites.worse}, {"equal", changes.sites.equal}}}};
}

json trajectoryJson(const session::Trajectory& run) {
  json alarms = json::array();
  for (const session::Alarm& alarm : run.alarms) alarms.push_back({{"id", alarm.id}, {"step", alarm.step}, {"text", alarm.text}});
  return {{"name", run.name}, {"autocast", run.autocast}, {"scaling", run.scaling}, {"fp32", run.fp32}, {"steps", run.steps}, {"applied_updates", run.appliedUpdates}, {"skipped", run.skipped()}, {"final_loss", jsonNumber(run.finalLoss())},
          {"final_scale", jsonNumber(run.finalScale)}, {"accuracy", run.accuracy ? json(*run.accuracy) : json(nullptr)}, {"first_nonfinite", session::toJson(run.firstNonfinite)}, {"alarms", alarms}, {"error", run.error}};
}

json trainingsJson(const ReportContent& content) {
  json all = json::array();
  for (const session::Training& training : content.trainings) {
    json runs = json::array();
    for (const session::Trajectory& run : training.runs) runs.push_back(trajectoryJson(run));
    all.push_back({{"number", training.number}, {"created", training.createdUtc}, {"cancelled", training.cancelled}, {"policy_table", training.policyTable}, {"libtorch", training.libtorchVersion}, {"trajectories", runs},
                   {"warnings", training.warnings}, {"verdict", toJson(training.verdict)}});
  }
  return all;
}

json scansJson(const ReportContent& content) {
  json all = json::array();
  for (const session::Scan& scan : content.scans)
    all.push_back({{"number", scan.number}, {"created", scan.createdUtc}, {"kind", session::name(scan.kind)}, {"title", session::scanTitle(scan)}, {"sample_ids", scan.sampleIds}, {"evaluations", scan.evaluations},
                   {"summary", scanSummary(scan, content.session.samples)}});
  return all;
}

json benchmarksJson(const ReportContent& content) {
  json all = json::array();
  for (const session::Benchmark& benchmark : content.session.benchmarks) {
    json document = benchmarkDocument(benchmark, content.file);
    document.erase("pairs");  // `ulpscope bench --json` has each
    all.push_back(std::move(document));
  }
  return all;
}

// A covered run's document has its settings and nothing that came out.
json runJson(const ReportContent& content) {
  const RunRecord* run = content.run();
  if (!run || content.isCovered) return nullptr;
  RunRecord told = *run;
  told.verdict = content.verdict;
  json document = runDocument(content.session, told, content.file);
  document["sites"] = json::array();
  return document;
}

json noticesJson(const Document& document) {
  json notices = json::array();
  for (const Notice& notice : document.notices) notices.push_back({{"code", notice.code}, {"text", notice.text.plain()}});
  return notices;
}

json textsOf(const Document& document, const std::string& section) {
  json texts = json::array();
  for (const Section& s : document.sections) {
    if (s.id != section) continue;
    for (const Block& block : s.blocks) {
      if (const auto* bullets = std::get_if<Bullets>(&block))
        for (const Text& item : bullets->items) texts.push_back(item.plain());
      if (const auto* listing = std::get_if<Listing>(&block)) texts.push_back({{"what", listing->caption}, {"text", listing->text}});
    }
  }
  return texts;
}

std::string standingOf(const ReportContent& content) {
  if (content.isCovered || (!content.run() && content.trainings.empty())) return "covered";
  if (!content.run()) return content.trainings.back().verdict ? session::name(content.trainings.back().verdict->status) : "exploratory";
  return content.verdict ? session::name(content.verdict->status) : "exploratory";
}

}  // namespace

std::string reportJson(const ReportContent& content, const Document& document) {
  const Phrasebook book(document.language);
  const Teller t{content, book, content.isCovered ? nullptr : content.run()};
  const session::Session& s = content.session;
  const std::pair<const char*, json> parts[] = {
      {"schema", 1},
      {"language", name(document.language)},
      {"made", content.madeUtc},
      {"ulpscope", content.version},
      {"session", {{"file", content.file}, {"id", s.id}, {"title", s.title}, {"created", s.createdUtc}, {"creator_version", s.creatorVersion}}},
      {"run_id", content.run() ? json(content.runId) : json(nullptr)},
      {"standing", standingOf(content)},
      {"covered", content.isCovered},
      {"notices", noticesJson(document)},
      {"headline", {{"word", document.headline.word}, {"text", document.headline.line.plain()}}},
      {"summary", document.paragraph.plain()},
      {"overview", overviewJson(t)},
      {"candidates_tried", content.isCovered ? json(nullptr) : json(s.candidatesTried())},
      {"inputs", {{"file", s.samples.path}, {"sha256", s.samples.sha256}, {"samples", s.samples.ids.size()}, {"preprocessing", s.samples.preprocessing}}},
      {"criteria", criteriaJson(content)},
      {"runs", runsJson(content)},
      {"changes", changesJson(t)},
      {"trainings", trainingsJson(content)},
      {"scans", scansJson(content)},
      {"benchmarks", benchmarksJson(content)},
      {"limits", textsOf(document, "limits")},
      {"reproduce", textsOf(document, "reproduce")},
      {"run", runJson(content)},
      {"sites", t.run ? sitesJson(*t.run) : json(nullptr)}};
  std::string out = kJsonMark;
  for (const auto& [key, value] : parts) out += ",\n\"" + std::string(key) + "\": " + value.dump(-1, ' ', false, json::error_handler_t::replace);
  return out + "\n}\n";
}

}  // namespace ulpscope::report
