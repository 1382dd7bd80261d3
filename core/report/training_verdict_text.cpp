#include "core/report/training_verdict_text.h"

#include "core/report/verdict_text.h"
#include "core/session/training_lock.h"

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::report {
namespace {

using session::CriteriaRevision;
using session::Training;

// nullptr: by criteria that are not locked in the session.
const CriteriaRevision* judgedBy(const Training& training, const std::vector<CriteriaRevision>& locked) {
  const auto found = std::find_if(locked.begin(), locked.end(), [&](const CriteriaRevision& r) { return r.number == training.verdict->revision && r.sha256 == training.verdict->sha256; });
  return found == locked.end() ? nullptr : &*found;
}

}  // namespace

std::string trainingCriteriaLine(const Training& training, const std::vector<CriteriaRevision>& locked) {
  if (!training.verdict) return "";
  const CriteriaRevision* revision = judgedBy(training, locked);
  if (!revision) return fmt::format("criteria that are not locked in the session, SHA-256 {:.12}", training.verdict->sha256);
  const std::string after = session::afterResultsText(*revision);
  return fmt::format("criteria revision {} of the session, SHA-256 {:.12}{}{}", revision->number, revision->sha256, after.empty() ? "" : ", ", after);
}

std::string trainingVerdictText(const Training& training, const std::vector<CriteriaRevision>& locked) {
  const session::Verdict& verdict = *training.verdict;
  return "VERDICT " + session::name(verdict.status) + (verdict.reason.empty() ? "" : ": " + verdict.reason) + "\n  " + trainingCriteriaLine(training, locked) + "\n" + criteriaRows(verdict);
}

nlohmann::json trainingDocument(const Training& training, const std::vector<CriteriaRevision>& locked, const std::string& sessionPath) {
  nlohmann::json document = session::trainingDocument(training);
  document["session"] = sessionPath;
  if (!training.verdict) return document;
  const CriteriaRevision* revision = judgedBy(training, locked);
  document["verdict"]["criteria_after_results"] = !revision || revision->afterResults;
  document["verdict"]["revised"] = revision ? session::afterResultsText(*revision) : "";
  return document;
}

}  // namespace ulpscope::report
