// A run over some of a session's samples, put among all of them. Private to core/engine.
#pragma once

#include "core/engine/engine.h"

namespace ulpscope::engine {

// outcome counts the samples of `chosen`, which are some of `all`, in their order. Afterwards sample numbers, cells and decisions
// count those of `all`: what was not run is "not run" and has no decision. Outputs keep the samples that ran.
void spreadOver(const session::SampleSet& all, const session::SampleSet& chosen, RunOutcome& outcome);

}  // namespace ulpscope::engine
