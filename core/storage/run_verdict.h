// Verdicts on runs of a session, from what is stored of them.
#pragma once

#include "core/analysis/verdict.h"
#include "core/storage/session_store.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

// Borrows from `outputs`. Their samples lie as the run's summaries say.
std::vector<analysis::JudgedOutput> judgedOutputs(const session::RunRecord& run, const std::vector<OutputTensors>& outputs);

// By the session's latest locked criteria. Error kind input when their text was changed after the lock.
base::Result<session::Verdict> lockedVerdict(const session::Session& session, const session::RunRecord& run, const std::vector<OutputTensors>& outputs);

// Of a stored run, by criteria of any origin. Outputs that cannot be read leave their criteria unjudged.
session::Verdict verdictOf(const std::string& masterPath, const session::Session& session, const session::RunRecord& run, const session::Criteria& criteria);

// By the criteria that are locked now: the stored one where it is by those, else judged anew. nullopt: exploratory. Error kind input when their text
// was changed after the lock.
base::Result<std::optional<session::Verdict>> standingVerdict(const std::string& masterPath, const session::Session& session, const session::RunRecord& run);

// Writes another revision into the session. afterResults is set where the session has runs. Errors as addRun's.
base::Result<session::Session> lockCriteria(const std::string& masterPath, const session::Criteria& criteria, const std::string& reason);

}  // namespace ulpscope::storage
