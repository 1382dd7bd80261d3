// Which samples a further run looks at again.
#pragma once

#include "core/session/session.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

struct SampleChoice {
  std::vector<std::string> ids;  // in the set's order, each once
  std::string runId;             // chosen from; empty: the ids were named
};
// text: "flips" (decisions that flipped), "near:N" (the N smallest margins of the reference), "nonfinite" (non-finite outputs or
// origins, or no decision), each of the session's latest whole run (over all samples, to the end); or sample ids as sampleIdsIn takes
// them. Flips or nonfinite may choose nothing: the run has none. Error kind usage: no such id, no run to choose from, nothing named.
// autocast: of the run to come; a run in the same dtype is preferred to a later one in the other.
base::Result<SampleChoice> chooseSamples(const Session& session, const std::string& text, std::optional<base::DType> autocast = std::nullopt);

// Whether the text needs an earlier run to choose from.
bool choosesFromRun(const std::string& text);
// Ids separated by commas, as they stand; or a JSON array of strings, for ids that hold commas. Error kind usage: no id, no such array.
base::Result<std::vector<std::string>> sampleIdsIn(const std::string& text);
// The reverse, as short as it can be said.
std::string sampleIdsText(const std::vector<std::string>& ids);

}  // namespace ulpscope::session
