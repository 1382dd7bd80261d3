// What one run was asked to do otherwise than another.
#pragma once

#include "core/session/settings.h"

#include <string>
#include <vector>

namespace ulpscope::session {

// One text a change, from `from` to `to`: "+ layers.3.wo in FP32", "- layers.2 with autocast off", "FP16 -> BF16". First the precision
// policy, then what else decides the numbers (mode, decision, samples, what is observed). Empty: the same run again.
std::vector<std::string> policyChanges(const RunSettings& from, const RunSettings& to);

}  // namespace ulpscope::session
