// The criteria that the trainings of a session are held against: those of its first training that had any, until somebody revises them.
#pragma once

#include "core/base/error.h"
#include "core/session/verdict.h"

#include <string>
#include <vector>

namespace ulpscope::session {

struct TrainingTerms {
  std::string criteria;        // canonicalText of the recipe's; empty: it has none of its own
  std::string revisionReason;  // why they take the place of those that are locked; empty: they must be the same
};

// The revisions that a training of these terms is judged by: `locked`, the session's, and where it locks or revises them one more. The last
// counts; empty: there are none. trainingsKnown: the session has trainings, so what is locked now was written after results. Error kind usage
// (of which the caller names the session): other criteria than the locked without a reason, a reason where nothing is revised.
base::Result<std::vector<CriteriaRevision>> agreedCriteria(std::vector<CriteriaRevision> locked, const TrainingTerms& terms, bool trainingsKnown);

// Whether `revisions` begin with all of `locked`.
bool continues(const std::vector<CriteriaRevision>& locked, const std::vector<CriteriaRevision>& revisions);

// "revised after results: REASON", "locked after results"; empty: locked by the session's first training.
std::string afterResultsText(const CriteriaRevision& revision);

}  // namespace ulpscope::session
