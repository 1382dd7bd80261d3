// What a stored run decided for each sample, flipped or not.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage {

// By sample of the session, as analysis::decidedIn of the reference's output that decides: the candidate's too, where the sample does not
// flip. Empty entries: no decision, or not run. Errors (kind input) as readOutputs', and where no such output was stored.
base::Result<std::vector<std::vector<std::int64_t>>> decidedSamples(const std::string& masterPath, const session::Session& session, const session::RunRecord& run);

}  // namespace ulpscope::storage
