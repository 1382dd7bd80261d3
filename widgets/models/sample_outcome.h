// What became of each sample's decision.
#pragma once

#include "core/session/outcome.h"
#include "widgets/models/loaded_run.h"

#include <memory>
#include <vector>

namespace ulpscope::models {

using session::Outcome;
using session::SampleOutcome;
QString name(Outcome outcome);  // "regressed", "wrong to wrong", "no decision"
std::vector<SampleOutcome> sampleOutcomes(const LoadedRun& run);

// By sample: the numbers decided in FP32 (core/storage/run_decided.h); empty entries: not known.
using Decided = std::vector<std::vector<std::int64_t>>;
using DecidedPointer = std::shared_ptr<const Decided>;

QString sampleId(const session::Session& session, std::int64_t sample);
// "three", or "three (position 7, 12 positions flip)" where a sample has several.
QString referenceDecision(const LoadedRun& run, const session::Flip& flip);
QString candidateDecision(const LoadedRun& run, const session::Flip& flip);
// "three", of top-k "one, three"; empty where it is not known. decided may be null.
QString decidedName(const LoadedRun& run, const DecidedPointer& decided, std::int64_t sample);
QString labelName(const LoadedRun& run, std::int64_t sample);  // the true class; empty: no label
QString lowName(const session::RunRecord& run);  // "AMP FP16"

// Which samples flips table and gallery show.
struct DecisionFilter {
  bool all = false;                                                // else flips and samples without a decision
  double marginBelow = std::numeric_limits<double>::infinity();  // of the reference; +inf: all, those without a margin too
  bool accepts(const SampleOutcome& outcome, double referenceMargin) const;
};
// By outcome, then by margin (NaN last), then as given.
std::vector<std::int64_t> samplesToShow(const LoadedRun& run, const DecisionFilter& filter);

}  // namespace ulpscope::models
