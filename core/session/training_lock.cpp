#include "core/session/training_lock.h"

#include "core/base/clock.h"
#include "core/base/hashing.h"

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::session {

using base::Error;
using base::ErrorKind;

base::Result<std::vector<CriteriaRevision>> agreedCriteria(std::vector<CriteriaRevision> locked, const TrainingTerms& terms, bool trainingsKnown) {
  const std::string sha256 = terms.criteria.empty() ? "" : base::sha256(terms.criteria);
  const bool revises = !terms.revisionReason.empty();
  const bool differs = !locked.empty() && !terms.criteria.empty() && locked.back().sha256 != sha256;
  if (revises && !differs) {
    const char* what = terms.criteria.empty() ? "the recipe has no criteria, so it revises none"
                       : locked.empty()       ? "no training has locked criteria yet, so there are none to revise"
                                              : "the recipe's criteria are those that are locked already";
    return Error{ErrorKind::usage, what, "--revise-criteria", "leave it out"};
  }
  if (differs && !revises)
    return Error{ErrorKind::usage,
                 fmt::format("the recipe's criteria, SHA-256 {:.12}, are not revision {} that its trainings are held against, SHA-256 {:.12}", sha256, locked.back().number, locked.back().sha256), "",
                 "train into a session of its own, or say why with --revise-criteria \"REASON\""};
  if (!terms.criteria.empty() && (locked.empty() || differs)) {
    const int number = locked.empty() ? 1 : locked.back().number + 1;
    locked.push_back({number, base::utcNow(), sha256, terms.criteria, differs || trainingsKnown, terms.revisionReason});
  }
  return locked;
}

bool continues(const std::vector<CriteriaRevision>& locked, const std::vector<CriteriaRevision>& revisions) {
  return locked.size() <= revisions.size() && std::equal(locked.begin(), locked.end(), revisions.begin(), [](const auto& a, const auto& b) { return a.sha256 == b.sha256; });
}

std::string afterResultsText(const CriteriaRevision& revision) {
  if (!revision.afterResults) return "";
  return revision.number == 1 ? "locked after results" : "revised after results: " + revision.reason;
}

}  // namespace ulpscope::session
