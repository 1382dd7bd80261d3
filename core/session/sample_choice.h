// Which samples a further run looks at again.
#pragma once

#include "core/session/session.h"

#include <string>
#include <vector>

namespace ulpscope::session {

// text: "flips" (decisions that flipped), "near:N" (the N smallest margins of the reference), "nonfinite" (non-finite outputs or
// origins, or no decision), each of the session's latest run over all samples; or sample ids, separated by commas. Gives ids in the
// set's order, each once. Error kind usage: no such id, no run to choose from, nothing chosen.
base::Result<std::vector<std::string>> chooseSamples(const Session& session, const std::string& text);

// Whether the text needs an earlier run to choose from.
bool choosesFromRun(const std::string& text);
// Ids separated by commas, as they stand.
std::vector<std::string> sampleIdsIn(const std::string& text);

}  // namespace ulpscope::session
