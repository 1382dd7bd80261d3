// A session with one of everything that a run can find, made by hand.
#pragma once

#include "core/session/session.h"

namespace ulpscope::test {

// 256 samples "s0"...; run_0001: one overflow origin, three flips (one with an effect), two samples without decision,
// sites with finite, infinite and no metrics.
session::Session sampleSession();

// The same session, with a clean run_0002 that keeps encoder.0.ffn.wo in FP32.
session::Session curedSession();

}  // namespace ulpscope::test
