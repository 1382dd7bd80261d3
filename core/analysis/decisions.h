// What both runs decide by a rule: margins, flips, quality against labels.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/base/error.h"
#include "core/session/session.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::analysis {

struct DecisionInput {
  TensorView reference;   // [.., samples, ..]; floating, or any real dtype with rule exact
  TensorView candidate;   // same shape
  int sampleAxis = 0;
};

struct DecisionResult {
  std::vector<session::Flip> flips;               // firstSiteOverTolerance and withinNoiseFloor are not filled here
  std::vector<session::SampleDecision> decisions;  // one a sample; empty with rule regression
  std::vector<std::string> noDecision;            // ids of samples with a NaN among the candidate's scores
  std::vector<std::string> referenceNoDecision;   // likewise the reference's
  std::int64_t ties = 0;                          // samples with a tie in either run
  std::optional<session::Quality> quality;        // empty: no labels, or several positions a sample
  std::optional<session::Regression> regression;
};

// A sample may have several positions (dimensions other than samples and classes; with threshold and exact every element is one); its margin is
// the smallest of theirs, and it flips when any of them does.
//   argmax, argmin  the best class; margin = best - second best (one class: +inf)
//   topk            the set of the k best, compared as a set; margin = s_k - s_(k+1) (no further class: +inf)
//   threshold       score > t, or >= t; margin = |score - t|
//   exact           the whole number itself; no error is small enough: margin +inf
//   regression      no decision, DecisionResult::regression instead
// Ties (the best scores, s_k and s_(k+1), or score and threshold are equal), by rule: first = the lowest index is better, as argmax; flag = a
// tie is a decision of its own, so that making or breaking one is a flip; refuse = an error.
// A NaN among a position's scores in either run: no decision there and no flip.
// Flip kind: "tie made" / "tie broken" when one side is tied, else "changed". Effect against labels (one a sample, only where a sample has one
// position; with topk the label is in the set): regressed, fixed, wrong to wrong.
// Error kind usage: an axis that does not exist or counts the samples, k beyond the classes; kind run: no classes, ties refused, a fraction
// with rule exact, targets that do not fit.
base::Result<DecisionResult> decide(const DecisionInput& input, const session::DecisionRule& rule, const session::SampleSet& samples, session::TieRule tie);

}  // namespace ulpscope::analysis
