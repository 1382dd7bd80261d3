// The calls of one iteration, in order. No Torch.
#pragma once

#include "core/session/recipe.h"
#include "core/session/training_events.h"

#include <vector>

namespace ulpscope::train {

inline constexpr int kEveryOptimizer = -1;

struct Call {
  session::EventKind kind = session::EventKind::forward;
  int optimizer = kEveryOptimizer;
};

struct LoopParts {
  bool autocast = false, scaler = false;  // of the trajectory; calls to what it has not are left out
};

// The right order; or the recipe's own, taken literally, where it names `forward` (`loss` follows forward unless it is named). One that
// does not gets what it cannot do without: zero_grad first, and before each backward autocast { forward, loss } and scale. A single
// backward then stands for all micro-batches, and the scheduler steps last by its rule unless it is named.
// Error kind usage for an optimizer that is not there.
base::Result<std::vector<Call>> programFor(const session::Recipe& recipe, LoopParts parts);

}  // namespace ulpscope::train
