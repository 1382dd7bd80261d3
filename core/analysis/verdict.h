// Holds a run against criteria.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/session/criteria.h"
#include "core/session/session.h"
#include "core/session/verdict.h"

#include <string>
#include <vector>

namespace ulpscope::analysis {

// An output of both runs, whole; borrowed.
struct JudgedOutput {
  std::string name;
  TensorView reference, candidate;
  session::SampleAxis axis;  // wholeBatch: the samples are not told apart
};

// The verdict on `run`: pass when every criterion passes, fail when one fails or the candidate raised, else not evaluated. Not judged as a whole
// (`reason` says why): a run that is partial, over chosen samples only, whose reference is no baseline, or that observing changed; a refused or
// raised candidate fails.
// measured and worst sample by kind (criteria.h); an element that is non-finite in one run alone, or otherwise non-finite, is outside any tolerance
// (+inf). Not evaluated: an output that the run has not, no decision, no labels or targets, no site of that name, nothing finite to compare.
session::Verdict judge(const session::Criteria& criteria, const session::RunRecord& run, const session::SampleSet& samples, const std::vector<JudgedOutput>& outputs);

}  // namespace ulpscope::analysis
