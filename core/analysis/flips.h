// Decisions by argmax: margins and flips.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/base/error.h"
#include "core/base/pair.h"
#include "core/session/session.h"

#include <vector>

namespace ulpscope::analysis {

struct DecisionInput {
  TensorView reference;   // [.., samples, ..] float
  TensorView candidate;   // same shape
  int sampleAxis = 0;
  int classAxis = -1;     // counted from the end when negative; differs from the sample axis
};

struct DecisionResult {
  std::vector<session::Flip> flips;               // firstSiteOverTolerance is not filled here
  std::vector<session::SampleDecision> decisions;  // one a sample
  std::vector<std::string> noDecision;            // ids of samples with a NaN among the candidate's scores
  std::vector<std::string> referenceNoDecision;   // likewise the reference's
  std::int64_t ties = 0;                          // samples with a tie for the best score in either run
};

// Decision of a position = index of the largest score; margin = top1 - top2 (one class: +inf). A sample may have several
// positions (other dimensions); its margin is the smallest, it flips when any position does.
// Ties, by rule: first = lowest index wins, as argmax; flag = a tie is a decision of its own, so that making or breaking
// one is a flip; refuse = an error naming the samples.
// A sample with a NaN score in either run has no decision there and is no flip.
// Flip kind: "tie made" / "tie broken" when one side's best score is tied, else "changed". Effect against labels (one a
// sample; only where a sample has one position): regressed, fixed, wrong to wrong.
base::Result<DecisionResult> argmaxFlips(const DecisionInput& input, const session::SampleSet& samples, session::TieRule tie);

}  // namespace ulpscope::analysis
