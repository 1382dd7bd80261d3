#include "core/session/decisions.h"

#include "core/base/number_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ulpscope::session {
namespace {

using base::jsonNumber;
using base::numberFromJson;
using nlohmann::json;

json toJson(const std::vector<ScoredClass>& top) {
  json list = json::array();
  for (const ScoredClass& c : top)
    list.push_back({{"index", c.index}, {"name", c.name.empty() ? json(nullptr) : json(c.name)}, {"score", jsonNumber(c.score)}});
  return list;
}

std::vector<ScoredClass> topFrom(const json& j) {
  std::vector<ScoredClass> top;
  for (const json& c : j)
    top.push_back({c.at("index"), c.at("name").is_null() ? std::string() : c.at("name").get<std::string>(), numberFromJson(c.at("score"))});
  return top;
}

// A set of top-k, or one number.
json decisionJson(std::int64_t decision, const std::vector<std::int64_t>& set) { return set.empty() ? json(decision) : json(set); }

void readDecision(const json& j, std::int64_t& decision, std::vector<std::int64_t>& set) {
  if (j.is_array())
    set = j.get<std::vector<std::int64_t>>();
  else
    decision = j.get<std::int64_t>();
}

// The best of `set` that is not in `other`.
std::int64_t firstMissing(const std::vector<std::int64_t>& set, const std::vector<std::int64_t>& other) {
  for (const std::int64_t c : set)
    if (std::find(other.begin(), other.end(), c) == other.end()) return c;
  return -1;
}

json toJson(const ValueRange& r) { return {{"min", jsonNumber(r.min)}, {"max", jsonNumber(r.max)}, {"max_abs", jsonNumber(r.maxAbs)}}; }
ValueRange rangeFrom(const json& j) { return {numberFromJson(j.at("min")), numberFromJson(j.at("max")), numberFromJson(j.at("max_abs"))}; }

json toJson(const ErrorSizes& e) { return {{"mean", jsonNumber(e.mean)}, {"root_mean_square", jsonNumber(e.rootMeanSquare)}, {"max", jsonNumber(e.max)}}; }
json toJson(const std::optional<ErrorSizes>& e) { return e ? toJson(*e) : json(nullptr); }
ErrorSizes errorsFrom(const json& j) { return {numberFromJson(j.at("mean")), numberFromJson(j.at("root_mean_square")), numberFromJson(j.at("max"))}; }
std::optional<ErrorSizes> optionalErrors(const json& j) { return j.is_null() ? std::nullopt : std::optional(errorsFrom(j)); }

}  // namespace

json toJson(const Flip& f) {
  return {{"sample_id", f.sampleId},
          {"sample", f.sample},
          {"reference", decisionJson(f.referenceDecision, f.referenceSet)},
          {"candidate", decisionJson(f.candidateDecision, f.candidateSet)},
          {"reference_margin", jsonNumber(f.referenceMargin)},
          {"candidate_margin", jsonNumber(f.candidateMargin)},
          {"kind", f.kind},
          {"effect", f.effect.empty() ? json(nullptr) : json(f.effect)},
          {"positions", f.positions},
          {"reference_top", toJson(f.referenceTop)},
          {"candidate_top", toJson(f.candidateTop)},
          {"first_site_over_tolerance", f.firstSiteOverTolerance < 0 ? json(nullptr) : json(f.firstSiteOverTolerance)},
          {"within_noise_floor", f.withinNoiseFloor}};
}

Flip flipFromJson(const json& j) {
  Flip f;
  f.sampleId = j.at("sample_id");
  f.sample = j.at("sample");
  readDecision(j.at("reference"), f.referenceDecision, f.referenceSet);
  readDecision(j.at("candidate"), f.candidateDecision, f.candidateSet);
  if (!f.referenceSet.empty()) f.referenceDecision = firstMissing(f.referenceSet, f.candidateSet);
  if (!f.candidateSet.empty()) f.candidateDecision = firstMissing(f.candidateSet, f.referenceSet);
  f.referenceMargin = numberFromJson(j.at("reference_margin"));
  f.candidateMargin = numberFromJson(j.at("candidate_margin"));
  f.kind = j.at("kind");
  f.effect = j.at("effect").is_null() ? std::string() : j.at("effect").get<std::string>();
  f.positions = j.at("positions").get<std::vector<std::int64_t>>();
  f.referenceTop = topFrom(j.at("reference_top"));
  f.candidateTop = topFrom(j.at("candidate_top"));
  f.firstSiteOverTolerance = j.at("first_site_over_tolerance").is_null() ? -1 : j.at("first_site_over_tolerance").get<std::int64_t>();
  f.withinNoiseFloor = j.at("within_noise_floor");
  return f;
}

json toJson(const std::vector<SampleDecision>& decisions) {
  json list = json::array();
  for (const SampleDecision& d : decisions) list.push_back({jsonNumber(d.referenceMargin), jsonNumber(d.candidateMargin), jsonNumber(d.maxError)});
  return list;
}

std::vector<SampleDecision> decisionsFromJson(const json& j) {
  std::vector<SampleDecision> decisions;
  for (const json& d : j) decisions.push_back({numberFromJson(d.at(0)), numberFromJson(d.at(1)), numberFromJson(d.at(2))});
  return decisions;
}

json toJson(const std::optional<Quality>& q) {
  if (!q) return nullptr;
  return {{"labelled", q->labelled}, {"reference_correct", q->referenceCorrect}, {"candidate_correct", q->candidateCorrect}};
}

std::optional<Quality> qualityFromJson(const json& j) {
  if (j.is_null()) return std::nullopt;
  return Quality{j.at("labelled"), j.at("reference_correct"), j.at("candidate_correct")};
}

json toJson(const std::optional<Regression>& r) {
  if (!r) return nullptr;
  return {{"candidate_to_reference", toJson(r->candidateToReference)},
          {"elements", r->elements},
          {"not_evaluated", r->notEvaluated},
          {"worst_sample", r->worstSample},
          {"reference", toJson(r->reference)},
          {"candidate", toJson(r->candidate)},
          {"reference_to_target", toJson(r->referenceToTarget)},
          {"candidate_to_target", toJson(r->candidateToTarget)}};
}

std::optional<Regression> regressionFromJson(const json& j) {
  if (j.is_null()) return std::nullopt;
  return Regression{errorsFrom(j.at("candidate_to_reference")),
                    j.at("elements"),
                    j.at("not_evaluated"),
                    j.at("worst_sample"),
                    rangeFrom(j.at("reference")),
                    rangeFrom(j.at("candidate")),
                    optionalErrors(j.at("reference_to_target")),
                    optionalErrors(j.at("candidate_to_target"))};
}

std::string decisionName(const DecisionRule& rule, std::int64_t decision, const std::vector<std::string>& classNames) {
  if (rule.kind == DecisionRule::Kind::threshold) return decision == 1 ? "above" : "below";
  const bool named = rule.hasClasses() && decision >= 0 && static_cast<std::size_t>(decision) < classNames.size();
  return named ? classNames[static_cast<std::size_t>(decision)] : std::to_string(decision);
}

}  // namespace ulpscope::session
