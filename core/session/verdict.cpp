#include "core/session/verdict.h"

#include "core/base/hashing.h"
#include "core/base/number_text.h"

#include <nlohmann/json.hpp>

namespace ulpscope::session {
namespace {

using base::jsonNumber;
using base::numberFromJson;
using nlohmann::json;

JudgedAs statusFrom(const std::string& text) {
  for (const JudgedAs status : {JudgedAs::pass, JudgedAs::fail})
    if (text == name(status)) return status;
  return JudgedAs::notEvaluated;
}

json textOrNull(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }
std::string textFrom(const json& j) { return j.is_null() ? std::string() : j.get<std::string>(); }

json toJson(const CriterionResult& c) {
  return {{"id", c.id},       {"measured", jsonNumber(c.measured)},       {"limit", c.limit},          {"ratio", jsonNumber(c.ratio)},
          {"worst_sample", textOrNull(c.worstSample)}, {"status", name(c.status)}, {"note", textOrNull(c.note)}};
}

CriterionResult resultFrom(const json& j) {
  return {j.at("id"),     numberFromJson(j.at("measured")),     j.at("limit"),     numberFromJson(j.at("ratio")),
          textFrom(j.at("worst_sample")), statusFrom(j.at("status")), textFrom(j.at("note"))};
}

}  // namespace

std::string name(JudgedAs status) {
  switch (status) {
    case JudgedAs::pass: return "pass";
    case JudgedAs::fail: return "fail";
    case JudgedAs::notEvaluated: break;
  }
  return "not evaluated";
}

base::Status checkUntouched(const CriteriaRevision& revision) {
  if (base::sha256(revision.canonical) == revision.sha256) return base::success();
  return base::Error{base::ErrorKind::input, "is not the text that was locked (its SHA-256 differs)", "criteria, revision " + std::to_string(revision.number),
                     "restore the session from a copy"};
}

json toJson(const std::optional<Verdict>& v) {
  if (!v) return nullptr;
  json criteria = json::array();
  for (const CriterionResult& c : v->criteria) criteria.push_back(toJson(c));
  return {{"status", name(v->status)}, {"reason", textOrNull(v->reason)}, {"criteria", criteria}, {"revision", v->revision}, {"sha256", v->sha256}};
}

std::optional<Verdict> verdictFromJson(const json& j) {
  if (j.is_null()) return std::nullopt;
  Verdict v{statusFrom(j.at("status")), textFrom(j.at("reason")), {}, j.at("revision"), j.at("sha256")};
  for (const json& c : j.at("criteria")) v.criteria.push_back(resultFrom(c));
  return v;
}

json toJson(const std::vector<CriteriaRevision>& revisions) {
  json list = json::array();
  for (const CriteriaRevision& r : revisions)
    list.push_back({{"number", r.number}, {"locked", r.lockedUtc}, {"sha256", r.sha256}, {"canonical", r.canonical}, {"after_results", r.afterResults}, {"reason", r.reason}});
  return list;
}

std::vector<CriteriaRevision> revisionsFromJson(const json& j) {
  std::vector<CriteriaRevision> revisions;
  for (const json& r : j) revisions.push_back({r.at("number"), r.at("locked"), r.at("sha256"), r.at("canonical"), r.at("after_results"), r.at("reason")});
  return revisions;
}

json toJson(const std::optional<Lineage>& l) {
  if (!l) return nullptr;
  return {{"session_id", l->sessionId}, {"title", l->title}, {"runs", l->runs}, {"samples_sha256", l->samplesSha256}, {"same_samples", l->sameSamples}};
}

std::optional<Lineage> lineageFromJson(const json& j) {
  if (j.is_null()) return std::nullopt;
  return Lineage{j.at("session_id"), j.at("title"), j.at("runs"), j.at("samples_sha256"), j.at("same_samples")};
}

}  // namespace ulpscope::session
