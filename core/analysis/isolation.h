// Which of autocast and scaling breaks a training: read off the 2x2 of both. No Torch.
#pragma once

#include "core/session/training.h"

#include <string>

namespace ulpscope::analysis {

// A trajectory is in trouble where it has an alarm (skips in a row while the scale finds its level are none), ended early, or its last loss is not
// finite.
bool inTrouble(const session::Trajectory& run);

// One sentence: neither, autocast, scaling, both together, autocast that scaling mends, FP32 itself; and what FP32 regions do. Empty: the
// training has not all four cells.
std::string isolationText(const session::Training& training);

// What the skipped steps of a scaler that finds its level say: "the scale found its level, 2^13, after step 3: skips at the beginning are
// harmless". Empty: there are none, they go on, or the last is in the second half of the steps.
std::string settledText(const session::Trajectory& run);

}  // namespace ulpscope::analysis
