#include "core/base/number_text.h"
#include "core/session/run_record.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace ulpscope::session {
namespace {

using base::jsonNumber;
using base::numberFromJson;
using nlohmann::json;

json optionalNumber(const std::optional<double>& value) { return value ? jsonNumber(*value) : json(nullptr); }
std::optional<double> optionalFrom(const json& j) {
  if (j.is_null()) return std::nullopt;
  return numberFromJson(j);
}

// A word that this version does not know; never read as some default.
struct UnknownWord {
  std::string text;
};

base::DType dtypeFrom(const json& j) {
  const auto dtype = base::dtypeFromName(j.get<std::string>());
  if (!dtype) throw UnknownWord{"dtype " + j.dump()};
  return *dtype;
}

json toJson(const NonfiniteCounts& c) { return {{"NaN", c.nan}, {"+inf", c.plusInf}, {"-inf", c.minusInf}}; }
NonfiniteCounts countsFrom(const json& j) { return {j.at("NaN"), j.at("+inf"), j.at("-inf")}; }

json toJson(const ValueRange& r) {
  return {{"min", jsonNumber(r.min)}, {"max", jsonNumber(r.max)}, {"max_abs", jsonNumber(r.maxAbs)}};
}
ValueRange rangeFrom(const json& j) {
  return {numberFromJson(j.at("min")), numberFromJson(j.at("max")), numberFromJson(j.at("max_abs"))};
}

json toJson(const std::optional<RootCause>& c) {
  if (!c) return nullptr;
  return {{"op", c->op}, {"module", c->modulePath}, {"source", c->source}, {"occurrence", c->occurrence}, {"why", c->why}};
}
std::optional<RootCause> rootCauseFrom(const json& j) {
  if (j.is_null()) return std::nullopt;
  return RootCause{j.at("op"), j.at("module"), j.at("source"), j.at("occurrence"), j.at("why")};
}

json toJson(const std::optional<FirstValue>& f) { return f ? json{{"site", f->site}, {"sample_ids", f->sampleIds}} : json(nullptr); }
std::optional<FirstValue> firstValueFrom(const json& j) {
  if (j.is_null()) return std::nullopt;
  return FirstValue{j.at("site"), j.at("sample_ids").get<std::vector<std::string>>()};
}

json toJson(const NonfiniteFinding& f) {
  json operands = json::array();
  for (const OperandRange& o : f.operands) {
    json operand = toJson(o.range);
    operand["name"] = o.name;
    operand["dtype"] = base::name(o.dtype);
    operands.push_back(operand);
  }
  json values = json::array();
  if (f.counts.nan) values.push_back("NaN");
  if (f.counts.plusInf) values.push_back("+inf");
  if (f.counts.minusInf) values.push_back("-inf");
  return {{"stage", f.stage},           {"site", f.site},         {"op", f.op},
          {"overload", f.overload},     {"module", f.modulePath}, {"source", f.source},
          {"occurrence", f.occurrence}, {"sample_ids", f.sampleIds}, {"whole_batch", f.wholeBatch},
          {"values", values},           {"counts", toJson(f.counts)}, {"cause", f.cause},
          {"root_cause", toJson(f.rootCause)}, {"operands", operands},   {"reference", toJson(f.reference)},
          {"diagnosis", f.diagnosis},   {"explained_by", f.explainedBy.empty() ? json(nullptr) : json(f.explainedBy)}};
}

NonfiniteFinding findingFrom(const json& j) {
  NonfiniteFinding f;
  f.stage = j.at("stage");
  f.site = j.at("site");
  f.op = j.at("op");
  f.overload = j.at("overload");
  f.modulePath = j.at("module");
  f.source = j.at("source");
  f.occurrence = j.at("occurrence");
  f.sampleIds = j.at("sample_ids").get<std::vector<std::string>>();
  f.wholeBatch = j.at("whole_batch");
  f.counts = countsFrom(j.at("counts"));
  f.cause = j.at("cause");
  for (const json& o : j.at("operands")) f.operands.push_back({o.at("name"), dtypeFrom(o.at("dtype")), rangeFrom(o)});
  f.reference = rangeFrom(j.at("reference"));
  f.diagnosis = j.at("diagnosis");
  f.rootCause = rootCauseFrom(j.at("root_cause"));
  f.explainedBy = j.at("explained_by").is_null() ? std::string() : j.at("explained_by").get<std::string>();
  return f;
}

json toJson(const OutputSummary& o) {
  return {{"name", o.name},
          {"shape", o.shape},
          {"sample_axis", o.sampleAxis},
          {"dtype", base::name(o.dtype)},
          {"max_abs", optionalNumber(o.maxAbs)},
          {"max_rel", optionalNumber(o.maxRel)},
          {"rel_l2", optionalNumber(o.relL2)},
          {"cosine_distance", optionalNumber(o.cosineDistance)},
          {"max_ulp", optionalNumber(o.maxUlp)},
          {"elements", o.elements},
          {"differing_elements", o.differingElements},
          {"nonfinite", toJson(o.nonfinite)}};
}

OutputSummary outputFrom(const json& j) {
  return {j.at("name"),
          j.at("shape").get<std::vector<std::int64_t>>(),
          j.at("sample_axis"),
          dtypeFrom(j.at("dtype")),
          optionalFrom(j.at("max_abs")),
          optionalFrom(j.at("max_rel")),
          optionalFrom(j.at("rel_l2")),
          optionalFrom(j.at("cosine_distance")),
          optionalFrom(j.at("max_ulp")),
          j.at("elements"),
          j.at("differing_elements"),
          countsFrom(j.at("nonfinite"))};
}

template <typename T>
json listToJson(const std::vector<T>& items) {
  json list = json::array();
  for (const T& item : items) list.push_back(toJson(item));
  return list;
}

template <typename T, typename F>
std::vector<T> listFrom(const json& j, F from) {
  std::vector<T> items;
  for (const json& item : j) items.push_back(from(item));
  return items;
}

RunStatus statusFrom(const json& j) {
  for (const RunStatus status : {RunStatus::ok, RunStatus::partial, RunStatus::cancelled})
    if (j == name(status)) return status;
  throw UnknownWord{"status " + j.dump()};
}

}  // namespace

json toJson(const SiteSummary& s) {
  json site = {{"module", s.modulePath},
          {"op", s.op},
          {"overload", s.overload},
          {"source", s.source},
          {"occurrence", s.occurrence},
          {"output", s.output},
          {"dtype", base::name(s.candidateDtype)},
          {"reference_dtype", base::name(s.referenceDtype)},
          {"policy", s.policyClass},
          {"shape", s.shape},
          {"sample_axis", s.sampleAxis},
          {"view_of", s.viewOf},
          {"worst_sample", s.worstSample},
          {"elements", s.elements},
          {"elements_over_tolerance", s.elementsOverTolerance},
          {"differing_elements", s.differingElements},
          {"nonfinite", toJson(s.candidateOnly)},
          {"candidate_nonfinite", toJson(s.candidate)},
          {"reference_nonfinite", toJson(s.reference)},
          {"role", name(s.role)},
          {"noise_floor_rel_l2", optionalNumber(s.noiseFloorRelL2)},
          {"reference_error_to_fp64", optionalNumber(s.referenceErrorToFp64)},
          {"candidate_error_to_fp64", optionalNumber(s.candidateErrorToFp64)},
          {"operands", s.operands ? toJson(*s.operands) : json(nullptr)}};
  for (const Metric metric : allMetrics()) site[key(metric)] = s.values.has(metric) ? jsonNumber(s.values[metric]) : json(nullptr);
  return site;
}

json toJson(const RunRecord& r) {
  json controlFlow = json::array();
  for (const ControlFlowFinding& c : r.controlFlow)
    controlFlow.push_back({{"module", c.modulePath}, {"op", c.op}, {"what", c.what}});
  json error = nullptr;
  if (r.candidateError)
    error = {{"op", r.candidateError->op}, {"module", r.candidateError->modulePath}, {"message", r.candidateError->message}};
  return {{"number", r.number},
          {"created", r.createdUtc},
          {"status", name(r.status)},
          {"settings", toJson(r.settings)},
          {"libtorch", r.libtorchVersion},
          {"policy_table", r.policyTable},
          {"probe_check", r.probeCheck},
          {"samples_complete", r.samplesComplete},
          {"elapsed_seconds", r.elapsedSeconds},
          {"threads_per_run", r.threadsPerRun},
          {"warnings", r.warnings},
          {"unresolved_calls", r.unresolvedCalls},
          {"eager_check", r.eagerCheck},
          {"outputs", listToJson(r.outputs)},
          {"nonfinite_origins", listToJson(r.nonfiniteOrigins)},
          {"reference_nonfinite", listToJson(r.referenceNonfinite)},
          {"consequence_sites", r.consequenceSites},
          {"first_nan", toJson(r.firstNan)},
          {"first_inf", toJson(r.firstInf)},
          {"candidate_error", error},
          {"control_flow", controlFlow},
          {"flips", listToJson(r.flips)},
          {"decisions", toJson(r.decisions)},
          {"quality", toJson(r.quality)},
          {"regression", toJson(r.regression)},
          {"no_decision", r.noDecision},
          {"nonfinite_samples", r.nonfiniteSamples},
          {"module_outputs", toJson(r.moduleOutputs)},
          {"noise_floor", toJson(r.noiseFloor)},
          {"accumulation", toJson(r.accumulation)},
          {"capture", toJson(r.capture)},
          {"verdict", toJson(r.verdict)}};
}

base::Result<RunRecord> runFromJson(const json& j, std::vector<SiteSummary> sites) try {
  RunRecord r;
  r.number = j.at("number");
  r.createdUtc = j.at("created");
  r.status = statusFrom(j.at("status"));
  auto settings = settingsFromJson(j.at("settings"));
  if (!settings) return settings.error();
  r.settings = settings.value();
  r.libtorchVersion = j.at("libtorch");
  r.policyTable = j.at("policy_table");
  r.probeCheck = j.at("probe_check");
  r.samplesComplete = j.at("samples_complete");
  r.elapsedSeconds = j.at("elapsed_seconds");
  r.threadsPerRun = j.at("threads_per_run");
  r.warnings = j.at("warnings").get<std::vector<std::string>>();
  r.unresolvedCalls = j.at("unresolved_calls").get<std::vector<std::string>>();
  r.eagerCheck = j.at("eager_check");
  r.sites = std::move(sites);
  r.outputs = listFrom<OutputSummary>(j.at("outputs"), outputFrom);
  r.nonfiniteOrigins = listFrom<NonfiniteFinding>(j.at("nonfinite_origins"), findingFrom);
  r.referenceNonfinite = listFrom<NonfiniteFinding>(j.at("reference_nonfinite"), findingFrom);
  r.consequenceSites = j.at("consequence_sites");
  r.firstNan = firstValueFrom(j.at("first_nan"));
  r.firstInf = firstValueFrom(j.at("first_inf"));
  if (const json& e = j.at("candidate_error"); !e.is_null()) r.candidateError = CandidateError{e.at("op"), e.at("module"), e.at("message")};
  for (const json& c : j.at("control_flow")) r.controlFlow.push_back({c.at("module"), c.at("op"), c.at("what")});
  r.flips = listFrom<Flip>(j.at("flips"), flipFromJson);
  r.decisions = decisionsFromJson(j.at("decisions"));
  r.quality = qualityFromJson(j.at("quality"));
  r.regression = regressionFromJson(j.at("regression"));
  r.noDecision = j.at("no_decision").get<std::vector<std::string>>();
  r.nonfiniteSamples = j.at("nonfinite_samples").get<std::vector<std::string>>();
  r.moduleOutputs = moduleOutputsFromJson(j.at("module_outputs"));
  r.noiseFloor = noiseFloorFromJson(j.at("noise_floor"));
  r.accumulation = accumulationFromJson(j.at("accumulation"));
  r.capture = captureFromJson(j.at("capture"));
  r.verdict = verdictFromJson(j.at("verdict"));
  return r;
} catch (const json::exception& e) {
  return base::Error{base::ErrorKind::input, std::string("a run record is damaged: ") + e.what(), "", ""};
} catch (const UnknownWord& word) {
  return base::Error{base::ErrorKind::input, "a run record is damaged: unknown " + word.text, "", ""};
}

}  // namespace ulpscope::session
