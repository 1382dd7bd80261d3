// What must be the same in two runs before their numbers may be held against each other.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <string>
#include <vector>

namespace ulpscope::session {

// A part of the experiment that differs: "the seed", "0", "7".
struct Difference {
  std::string part, was, is;
};

// Model code and weights, inputs and samples, preprocessing, batch plan, train/eval mode, seed, device: all but the precision policy (autocast
// dtype, policy table, mode, FP32 regions, cast cache, accumulation). In that order; empty: comparable.
std::vector<Difference> differences(const Session& sessionA, const RunSettings& a, const Session& sessionB, const RunSettings& b);
// Of the settings alone, within one session.
std::vector<Difference> differences(const RunSettings& a, const RunSettings& b);

// Error kind run naming the first difference, its old value and its new one; `which`: what was to be compared.
base::Status checkComparable(const std::vector<Difference>& differences, const std::string& which);

}  // namespace ulpscope::session
