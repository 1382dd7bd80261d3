// Decisions of a run that has ended: margins, flips, and which of them FP32's own noise explains. Private to core/engine.
#pragma once

#include "core/analysis/decisions.h"
#include "core/engine/engine.h"
#include "core/engine/noise_floor.h"
#include "core/engine/output_collector.h"

namespace ulpscope::engine {

// Whether a rule reads outputs of this dtype where nobody named one: whole numbers for exact, floating ones for the others.
bool readsDtype(const session::DecisionRule& rule, base::DType dtype);

// floor may be null. Fills flips, decisions, noDecision and warnings of outcome.run. Errors: usage (no such output or dimension), run
// (no axis counts the samples, ties refused).
base::Status decide(RunOutcome& outcome, const OutputCollector& outputs, const session::SampleSet& samples, const NoiseFloorRun* floor);

// Error kind input where labels are no classes of the output that decides, or some of its classes have no name. As soon as the first
// batch is in `outputs`; what is wrong with the rule itself is decide()'s to say.
base::Status checkClasses(const session::RunSettings& settings, const OutputCollector& outputs, const session::SampleSet& samples);

// The same of any two runs' outputs; error kind usage without a decision rule.
base::Result<analysis::DecisionResult> flipsOf(const session::RunSettings& settings, const OutputCollector& outputs, const session::SampleSet& samples);

}  // namespace ulpscope::engine
