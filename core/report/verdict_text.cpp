#include "core/report/verdict_text.h"

#include "core/base/number_text.h"
#include "core/base/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ulpscope::report {
namespace {

using base::shortNumber;
using session::CriterionResult;
using session::JudgedAs;
using session::Session;
using session::Verdict;

std::string row(const CriterionResult& c) {
  const bool known = c.measured == c.measured;
  std::string text = fmt::format("  {:<14} {:<32} {:>10} {:>10} {:>8}  {:<10}", name(c.status), c.id, known ? shortNumber(c.measured) : "-", shortNumber(c.limit),
                                 known ? shortNumber(c.ratio) : "-", c.worstSample);
  if (!c.note.empty()) text += "  " + c.note;
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string knownBefore(const Session& session) {
  std::string text;
  if (session.explored && session.explored->sameSamples)
    text += fmt::format("  criteria written after exploring these samples ({}, {})\n", session.explored->title, base::counted(session.explored->runs, "run"));
  if (session.explored && !session.explored->sameSamples) text += fmt::format("  explored before on other samples ({}, {})\n", session.explored->title, base::counted(session.explored->runs, "run"));
  if (std::any_of(session.criteria.begin(), session.criteria.end(), [](const auto& r) { return r.afterResults; })) text += "  criteria were revised after results had been seen\n";
  return text;
}

std::string testCase(const std::string& suite, const std::string& id, JudgedAs status, const std::string& message) {
  const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", base::xmlText(suite), base::xmlText(id));
  if (status == JudgedAs::pass) return head + "/>\n";
  const char* const element = status == JudgedAs::fail ? "failure" : "skipped";
  return head + fmt::format(">\n      <{} message=\"{}\"/>\n    </testcase>\n", element, base::xmlText(message));
}

std::string messageOf(const CriterionResult& c) {
  std::string text = fmt::format("measured {}, limit {}", shortNumber(c.measured), shortNumber(c.limit));
  if (!c.worstSample.empty()) text += ", sample " + c.worstSample;
  return c.note.empty() ? text : text + "; " + c.note;
}

}  // namespace

std::string criteriaRows(const Verdict& verdict) {
  if (verdict.criteria.empty()) return "";
  std::string text = fmt::format("  {:<14} {:<32} {:>10} {:>10} {:>8}  {}\n", "", "criterion", "measured", "limit", "ratio", "worst sample");
  for (const CriterionResult& c : verdict.criteria) text += row(c);
  return text;
}

std::string verdictText(const Session& session, const Verdict& verdict) {
  std::string status = name(verdict.status);
  std::transform(status.begin(), status.end(), status.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string which = verdict.revision > 0 ? fmt::format("criteria revision {}", verdict.revision) : "criteria that are not locked in the session";
  std::string text = fmt::format("VERDICT {} ({}, SHA-256 {:.12}; {} tried on these samples{})\n", status, which, verdict.sha256, base::counted(session.candidatesTried(), "candidate"),
                                 session.candidatesDeleted() > 0 ? fmt::format(", {} of them deleted since", session.candidatesDeleted()) : "");
  if (!verdict.reason.empty()) text += "  " + verdict.reason + "\n";
  return text + criteriaRows(verdict) + knownBefore(session);
}

nlohmann::json verdictJson(const Session& session, const std::optional<Verdict>& verdict) {
  if (!verdict) return nullptr;
  nlohmann::json json = toJson(verdict);
  json["criteria_after_results"] = session.criteriaAfterResults() || verdict->revision == 0;
  return json;
}

std::string verdictJUnit(const Session& session, const session::RunRecord& run, const Verdict& verdict) { return verdictJUnit(session.title + "." + run.id(), "run", verdict); }

std::string verdictJUnit(const std::string& suite, const std::string& whole, const Verdict& verdict) {
  const auto count = [&](JudgedAs status) { return std::count_if(verdict.criteria.begin(), verdict.criteria.end(), [&](const auto& c) { return c.status == status; }); };
  std::string cases;
  std::size_t tests = verdict.criteria.size();
  auto failures = count(JudgedAs::fail), skipped = count(JudgedAs::notEvaluated);
  for (const CriterionResult& c : verdict.criteria) cases += testCase(suite, c.id, c.status, messageOf(c));
  if (!verdict.reason.empty()) {
    cases += testCase(suite, whole, verdict.status, verdict.reason);
    ++tests;
    ++(verdict.status == JudgedAs::fail ? failures : skipped);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
                     base::xmlText(suite), tests, failures, skipped, cases);
}

std::string criteriaText(const Session& session) {
  if (session.exploratory()) return "no criteria are locked: the session is exploratory\n";
  std::string text;
  for (const session::CriteriaRevision& r : session.criteria) {
    text += fmt::format("revision {}, locked {}, SHA-256 {}\n", r.number, r.lockedUtc, r.sha256);
    if (r.afterResults) text += "  written after results had been seen\n";
    if (!r.reason.empty()) text += "  because: " + r.reason + "\n";
    text += nlohmann::json::parse(r.canonical).dump(2) + "\n";
  }
  return text + knownBefore(session);
}

}  // namespace ulpscope::report
