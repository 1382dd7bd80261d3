// The verdict on a training: by which criteria, and what was known when they were locked.
#pragma once

#include "core/session/session.h"
#include "core/session/training.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ulpscope::report {

// `locked`: the revisions that the session's trainings are held against (storage::lockedTrainingCriteria).
// "criteria revision 2 of the session, SHA-256 0123456789ab, revised after results: REASON"; a line without its end, empty without a verdict.
std::string trainingCriteriaLine(const session::Training& training, const std::vector<session::CriteriaRevision>& locked);
// "VERDICT pass", that line, and a row a criterion. Precondition: the training has a verdict.
std::string trainingVerdictText(const session::Training& training, const std::vector<session::CriteriaRevision>& locked);
// The document of `ulpscope train --json` and `check --json`: session::trainingDocument with the session's path, and in its verdict
// "criteria_after_results" and "revised" ("revised after results: REASON", or empty). resources/schema/training.schema.json.
nlohmann::json trainingDocument(const session::Training& training, const std::vector<session::CriteriaRevision>& locked, const std::string& sessionPath);

}  // namespace ulpscope::report
