#include "core/base/number_text.h"
#include "core/session/scan.h"

#include <nlohmann/json.hpp>

#include <map>

namespace ulpscope::session {
namespace {

using base::jsonNumber;
using base::numberFromJson;
using nlohmann::json;

// As points show it: the value itself, a list of a set's or of several positions' ones, the key of what is too long, and a tie by its own.
json shown(const ScanDecision& decision, bool isSet) {
  json value = decision.values;
  if (decision.count > static_cast<std::int64_t>(decision.values.size())) value = decision.key;
  else if (!isSet && decision.values.size() == 1) value = decision.values.front();
  return decision.tied ? json{{"tied", value}} : value;
}

// Indices as values that mean something by themselves, and back.
class Decisions {
 public:
  Decisions(const std::vector<ScanDecision>& decisions, bool isSet) {
    for (const ScanDecision& decision : decisions) {
      m_shown.push_back(shown(decision, isSet));
      m_indices.emplace(m_shown.back().dump(), static_cast<int>(m_indices.size()));
    }
  }
  json of(int index) const { return index == kNoDecision ? json() : m_shown.at(static_cast<std::size_t>(index)); }
  int indexOf(const json& value) const {
    if (value.is_null()) return kNoDecision;
    const auto found = m_indices.find(value.dump());
    if (found == m_indices.end()) throw json::out_of_range::create(403, "a decision that is not among 'decisions'", nullptr);
    return found->second;
  }

 private:
  std::vector<json> m_shown;
  std::map<std::string, int> m_indices;
};

bool isSet(const RunSettings& settings) { return settings.decision.kind == DecisionRule::Kind::topk; }

json numbers(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(jsonNumber(value));
  return list;
}

std::vector<double> numbersFrom(const json& list) {
  std::vector<double> values;
  for (const json& value : list) values.push_back(numberFromJson(value));
  return values;
}

// NaN: not measured.
json measured(double value) { return std::isnan(value) ? json() : jsonNumber(value); }

json toJson(const PairAtPoint& p, const Decisions& decisions) {
  json j = {{"reference", decisions.of(p.reference)},
            {"candidate", decisions.of(p.candidate)},
            {"reference_margin", jsonNumber(p.referenceMargin)},
            {"candidate_margin", jsonNumber(p.candidateMargin)},
            {"max_error", jsonNumber(p.maxError)},
            {"noise_error", measured(p.noiseError)},
            {"within_noise", p.withinNoise}};
  if (p.referenceScores.empty()) return j;
  j["reference_scores"] = numbers(p.referenceScores);
  j["candidate_scores"] = numbers(p.candidateScores);
  return j;
}

PairAtPoint pairFrom(const json& j, const Decisions& decisions) {
  PairAtPoint p{decisions.indexOf(j.at("reference")), decisions.indexOf(j.at("candidate")), numberFromJson(j.at("reference_margin")), numberFromJson(j.at("candidate_margin")),
                numberFromJson(j.at("max_error")), numberFromJson(j.at("noise_error")), j.at("within_noise")};
  if (!j.contains("reference_scores")) return p;
  p.referenceScores = numbersFrom(j.at("reference_scores"));
  p.candidateScores = numbersFrom(j.at("candidate_scores"));
  return p;
}

json toJson(const std::vector<ScanPoint>& points, const Decisions& decisions) {
  json list = json::array();
  for (const ScanPoint& point : points) {
    list.push_back(toJson(point.at, decisions));
    list.back()["t"] = static_cast<double>(point.t);
  }
  return list;
}

std::vector<ScanPoint> pointsFrom(const json& j, const Decisions& decisions) {
  std::vector<ScanPoint> points;
  for (const json& point : j) points.push_back({point.at("t"), pairFrom(point, decisions)});
  return points;
}

json toJson(const std::vector<Crossing>& crossings, const Decisions& decisions) {
  json list = json::array();
  for (const Crossing& c : crossings) list.push_back({{"t", static_cast<double>(c.t)}, {"before", static_cast<double>(c.before)}, {"from", decisions.of(c.from)}, {"to", decisions.of(c.to)}});
  return list;
}

std::vector<Crossing> crossingsFrom(const json& j, const Decisions& decisions) {
  std::vector<Crossing> crossings;
  for (const json& c : j) crossings.push_back({c.at("t"), c.at("before"), decisions.indexOf(c.at("from")), decisions.indexOf(c.at("to"))});
  return crossings;
}

json places(const std::vector<Crossing>& crossings) {
  json list = json::array();
  for (const Crossing& c : crossings) list.push_back(static_cast<double>(c.t));
  return list;
}

json toJson(const Stretch& s) { return json::array({static_cast<double>(s.from), static_cast<double>(s.to)}); }
Stretch stretchFrom(const json& j) { return {j.at(0), j.at(1)}; }

template <typename T, typename Of>
json each(const std::vector<T>& items, const Of& of) {
  json list = json::array();
  for (const T& item : items) list.push_back(of(item));
  return list;
}

json details(const SegmentScan& s, const Decisions& decisions) {
  const auto disagreement = [&](const Disagreement& d) {
    return json{{"at", toJson(d.at)}, {"width", d.at.width()}, {"input_l2", d.at.width() * s.length}, {"reference", decisions.of(d.reference)}, {"candidate", decisions.of(d.candidate)}, {"within_noise", d.withinNoise}};
  };
  const auto flicker = [](const Flicker& f) { return json{{"at", toJson(f.at)}, {"width", f.at.width()}, {"changes", f.changes}, {"reference_changes", f.referenceChanges}}; };
  const auto look = [](const CloseLook& l) { return json{{"at", toJson(l.at)}, {"points", l.points}, {"resolution", l.resolution()}}; };
  return {{"crossings", {{"reference", toJson(s.referenceCrossings, decisions)}, {"candidate", toJson(s.candidateCrossings, decisions)}, {"noise", toJson(s.noiseCrossings, decisions)}}},
          {"disagreement", each(s.disagreement, disagreement)},
          {"flicker", each(s.flicker, flicker)},
          {"close_looks", each(s.closeLooks, look)}};
}

void add(json& j, const SegmentScan& s, const Decisions& decisions) {
  const auto stretch = [](const Stretch& at) { return toJson(at); };
  const auto at = [](const auto& item) { return toJson(item.at); };
  j["length"] = jsonNumber(s.length);
  j["steps"] = s.samples.size();
  j["crossings"] = {{"reference", places(s.referenceCrossings)}, {"candidate", places(s.candidateCrossings)}};
  j["disagreement"] = each(s.disagreement, at);
  j["disagreeing"] = s.disagreeing();
  j["flicker"] = each(s.flicker, at);
  j["no_decision"] = {{"reference", each(s.referenceNoDecision, stretch)}, {"candidate", each(s.candidateNoDecision, stretch)}};
  j["samples"] = toJson(s.samples, decisions);
  j["refined"] = toJson(s.refined, decisions);
  j["details"] = details(s, decisions);
}

std::vector<Stretch> stretchesFrom(const json& j) {
  std::vector<Stretch> stretches;
  for (const json& s : j) stretches.push_back(stretchFrom(s));
  return stretches;
}

SegmentScan segmentFrom(const json& j, const Decisions& decisions) {
  SegmentScan s;
  s.length = numberFromJson(j.at("length"));
  s.samples = pointsFrom(j.at("samples"), decisions);
  s.refined = pointsFrom(j.at("refined"), decisions);
  const json& details = j.at("details");
  s.referenceCrossings = crossingsFrom(details.at("crossings").at("reference"), decisions);
  s.candidateCrossings = crossingsFrom(details.at("crossings").at("candidate"), decisions);
  s.noiseCrossings = crossingsFrom(details.at("crossings").at("noise"), decisions);
  for (const json& d : details.at("disagreement"))
    s.disagreement.push_back({stretchFrom(d.at("at")), decisions.indexOf(d.at("reference")), decisions.indexOf(d.at("candidate")), d.at("within_noise")});
  for (const json& f : details.at("flicker")) s.flicker.push_back({stretchFrom(f.at("at")), f.at("changes"), f.at("reference_changes")});
  for (const json& l : details.at("close_looks")) s.closeLooks.push_back({stretchFrom(l.at("at")), l.at("points")});
  s.referenceNoDecision = stretchesFrom(j.at("no_decision").at("reference"));
  s.candidateNoDecision = stretchesFrom(j.at("no_decision").at("candidate"));
  return s;
}

// A step that was not found is no number: "beyond 12.5".
json toJson(const NearestFlip& f, double limit, const Decisions& decisions) {
  if (!f.found) return {{"step", "beyond " + base::shortNumber(limit)}, {"relative", nullptr}, {"to", nullptr}};
  return {{"step", jsonNumber(f.step)}, {"relative", jsonNumber(f.relative)}, {"to", decisions.of(f.to)}};
}

NearestFlip flipFrom(const json& j, const Decisions& decisions) {
  if (j.at("step").is_string() && j.at("step").get_ref<const std::string&>().starts_with("beyond")) return {};
  return {true, numberFromJson(j.at("step")), numberFromJson(j.at("relative")), decisions.indexOf(j.at("to"))};
}

json toJson(const NearScan& n, const Decisions& decisions) {
  const auto sample = [&](const NearSample& s) {
    const bool tried = s.skipped.empty();
    return json{{"id", s.id}, {"at", toJson(s.at, decisions)}, {"norm", jsonNumber(s.norm)}, {"gradient_norm", jsonNumber(s.gradientNorm)}, {"skipped", s.skipped},
                {"limit", jsonNumber(s.limit)}, {"linear_step", jsonNumber(s.linearStep())}, {"reference", tried ? toJson(s.reference, s.limit, decisions) : json()},
                {"candidate", tried ? toJson(s.candidate, s.limit, decisions) : json()}};
  };
  const auto within = [](const DecidedWithin& d) { return json{{"id", d.id}, {"margin", jsonNumber(d.margin)}, {"bound", jsonNumber(d.bound)}, {"within", d.withinError()}, {"flips", d.flips}}; };
  return {{"limit", n.limit}, {"growth", n.growth}, {"samples", each(n.samples, sample)}, {"curve", each(n.curve, within)}, {"within", n.within()}};
}

NearScan nearFrom(const json& j, const Decisions& decisions) {
  NearScan n{j.at("limit"), j.at("growth"), {}, {}};
  for (const json& s : j.at("samples")) {
    NearSample sample{s.at("id"), pairFrom(s.at("at"), decisions), numberFromJson(s.at("norm")), numberFromJson(s.at("gradient_norm")), s.at("skipped"), numberFromJson(s.at("limit")), {}, {}};
    if (sample.skipped.empty()) {
      sample.reference = flipFrom(s.at("reference"), decisions);
      sample.candidate = flipFrom(s.at("candidate"), decisions);
    }
    n.samples.push_back(std::move(sample));
  }
  for (const json& d : j.at("curve")) n.curve.push_back({d.at("id"), numberFromJson(d.at("margin")), numberFromJson(d.at("bound")), d.at("flips")});
  return n;
}

json toJson(const PlaneScan& p, const Decisions& decisions) {
  json points = json::array();
  for (const PairAtPoint& point : p.points) points.push_back(toJson(point, decisions));
  return {{"side", p.side}, {"lowest", p.lowest}, {"highest", p.highest}, {"length_ab", jsonNumber(p.lengthAB)}, {"length_ac", jsonNumber(p.lengthAC)}, {"angle_degrees", jsonNumber(p.angleDegrees)},
          {"points", points}, {"decided", p.decided}, {"flips", p.flips}, {"flips_within_noise", p.flipsWithinNoise}, {"flip_share", jsonNumber(p.flipShare())}};
}

PlaneScan planeFrom(const json& j, const Decisions& decisions) {
  PlaneScan p{j.at("side"), j.at("lowest"), j.at("highest"), numberFromJson(j.at("length_ab")), numberFromJson(j.at("length_ac")), numberFromJson(j.at("angle_degrees")), {},
              j.at("decided"), j.at("flips"), j.at("flips_within_noise")};
  for (const json& point : j.at("points")) p.points.push_back(pairFrom(point, decisions));
  if (p.side < 1 || p.side > kMostGrid || p.points.size() != static_cast<std::size_t>(p.side * p.side)) throw json::out_of_range::create(401, "a plane with another number of points than its side says", nullptr);
  return p;
}

ScanKind kindFrom(const std::string& text) {
  for (const ScanKind kind : {ScanKind::segment, ScanKind::near, ScanKind::plane})
    if (text == name(kind)) return kind;
  throw json::out_of_range::create(403, "a kind of scan that there is not: " + text, nullptr);
}

std::vector<ScanDecision> decisionsOf(const json& j) {
  std::vector<ScanDecision> decisions;
  for (const json& d : j) decisions.push_back({d.at("values").get<std::vector<std::int64_t>>(), d.at("count"), d.at("tied"), d.at("key")});
  return decisions;
}

RunSettings settingsOf(const json& j) {
  auto settings = settingsFromJson(j);
  if (!settings) throw json::other_error::create(501, settings.error().message(), nullptr);
  return std::move(settings).value();
}

}  // namespace

json toJson(const Scan& scan) {
  const Decisions decisions(scan.decisions, isSet(scan.settings));
  json j = {{"number", scan.number}, {"created", scan.createdUtc}, {"kind", name(scan.kind)}, {"sample_ids", scan.sampleIds}, {"run_id", scan.runId}, {"settings", toJson(scan.settings)},
            {"policy_table", scan.policyTable}, {"libtorch", scan.libtorchVersion}, {"threads", scan.threads}, {"classes", scan.classes}, {"warnings", scan.warnings},
            {"elapsed_seconds", scan.elapsedSeconds}, {"evaluations", scan.evaluations},
            {"noise", {{"skipped", scan.noise.skipped}, {"threads", scan.noise.threads}, {"max_error", measured(scan.noise.maxError)}}}};
  j["inputs"] = each(scan.inputs, [](const ScannedInput& input) { return json{{"name", input.name}, {"dtype", input.dtype}, {"moves", input.moves}}; });
  j["decisions"] = each(scan.decisions, [](const ScanDecision& d) { return json{{"values", d.values}, {"count", d.count}, {"tied", d.tied}, {"key", d.key}}; });
  if (scan.segment) add(j, *scan.segment, decisions);
  if (scan.near) j["near"] = toJson(*scan.near, decisions);
  if (scan.plane) j["plane"] = toJson(*scan.plane, decisions);
  return j;
}

Scan scanFromJson(const json& j) {
  Scan scan;
  scan.number = j.at("number");
  scan.createdUtc = j.at("created");
  scan.kind = kindFrom(j.at("kind"));
  scan.sampleIds = j.at("sample_ids").get<std::vector<std::string>>();
  scan.runId = j.at("run_id");
  scan.settings = settingsOf(j.at("settings"));
  scan.policyTable = j.at("policy_table");
  scan.libtorchVersion = j.at("libtorch");
  scan.threads = j.at("threads");
  for (const json& input : j.at("inputs")) scan.inputs.push_back({input.at("name"), input.at("dtype"), input.at("moves")});
  scan.decisions = decisionsOf(j.at("decisions"));
  scan.classes = j.at("classes").get<std::vector<std::int64_t>>();
  scan.noise = {j.at("noise").at("skipped"), j.at("noise").at("threads"), numberFromJson(j.at("noise").at("max_error"))};
  scan.warnings = j.at("warnings").get<std::vector<std::string>>();
  scan.elapsedSeconds = j.at("elapsed_seconds");
  scan.evaluations = j.at("evaluations");
  const Decisions decisions(scan.decisions, isSet(scan.settings));
  if (scan.kind == ScanKind::segment) scan.segment = segmentFrom(j, decisions);
  if (scan.kind == ScanKind::near) scan.near = nearFrom(j.at("near"), decisions);
  if (scan.kind == ScanKind::plane) scan.plane = planeFrom(j.at("plane"), decisions);
  return scan;
}

json scanDocument(const Scan& scan, const std::string& sessionPath) {
  json document = toJson(scan);
  document["schema"] = 1;
  document["status"] = "ok";
  document["error"] = nullptr;
  document["session"] = sessionPath;
  document["batch_size"] = scan.settings.batchSize;
  return document;
}

json scanErrorDocument(const base::Error& error) {
  return {{"schema", 1}, {"status", error.kind == base::ErrorKind::cancelled ? "cancelled" : "error"}, {"error", base::toJson(error)}};
}

}  // namespace ulpscope::session
