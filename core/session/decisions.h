// What the runs decide, sample by sample, and what that is worth against labels.
#pragma once

#include "core/session/settings.h"
#include "core/session/site_summary.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

struct ScoredClass {
  std::int64_t index = 0;
  std::string name;  // empty without class names
  double score = 0;
};

// A decision is a class index (argmax, argmin), 1 or 0 for above the threshold or not, or the whole number itself (exact); of top-k, the
// best class that the other run's set has not.
struct Flip {
  std::string sampleId;
  std::int64_t sample = -1;
  std::int64_t referenceDecision = -1;  // at the first flipped position
  std::int64_t candidateDecision = -1;
  std::vector<std::int64_t> referenceSet = {}, candidateSet = {};  // top-k: the classes, best first; else empty
  double referenceMargin = 0;           // +inf: a decision without margins (exact)
  double candidateMargin = 0;
  std::string kind;                     // "changed", "tie made", "tie broken"
  std::string effect;                   // "regressed", "fixed", "wrong to wrong"; empty without labels
  std::vector<std::int64_t> positions;  // flipped positions, row-major within the sample; empty: one decision a sample
  std::vector<ScoredClass> referenceTop;  // two best; of top-k, the last in the set and the first outside; else the score itself
  std::vector<ScoredClass> candidateTop;
  std::int64_t firstSiteOverTolerance = -1;  // index into RunRecord::sites; -1: none
  // FP32 with another sample order and thread count decides otherwise too, or moves a score far enough to: AMP is not to blame.
  bool withinNoiseFloor = false;
};

// One sample's decision in both runs, flipped or not: what margin plots and sample orders are made of.
struct SampleDecision {
  double referenceMargin = 0;  // the smallest over its positions; NaN: no decision
  double candidateMargin = 0;
  double maxError = 0;         // largest |candidate - reference| of its scores; +inf where one alone is finite, NaN: unknown
  // Whether errors of that size can flip it at all: margin <= errorsToFlip * maxError. Unknown counts as yes, and so does a rule without margins.
  bool mayFlip(const DecisionRule& rule) const { return rule.errorsToFlip() == 0 || !(referenceMargin > rule.errorsToFlip() * maxError); }
};

// Against the labels: a sample without a decision is not correct.
struct Quality {
  std::int64_t labelled = 0;
  std::int64_t referenceCorrect = 0, candidateCorrect = 0;
  double referenceAccuracy() const { return static_cast<double>(referenceCorrect) / static_cast<double>(labelled); }
  double candidateAccuracy() const { return static_cast<double>(candidateCorrect) / static_cast<double>(labelled); }
};

// |x - y| over elements that are finite in both; NaN: there are none.
struct ErrorSizes {
  double mean = 0, rootMeanSquare = 0, max = 0;
};
struct Regression {
  ErrorSizes candidateToReference;
  std::int64_t elements = 0;         // finite in both
  std::int64_t notEvaluated = 0;     // not finite in one or both
  std::string worstSample;           // id, of the largest error; empty: nothing evaluated
  ValueRange reference, candidate;   // extreme values
  std::optional<ErrorSizes> referenceToTarget, candidateToTarget;  // with targets
};

nlohmann::json toJson(const Flip& flip);
nlohmann::json toJson(const std::vector<SampleDecision>& decisions);
nlohmann::json toJson(const std::optional<Quality>& quality);        // null: none
nlohmann::json toJson(const std::optional<Regression>& regression);  // null: none
// All read back what toJson wrote and throw nlohmann::json::exception on anything else.
Flip flipFromJson(const nlohmann::json& json);
std::vector<SampleDecision> decisionsFromJson(const nlohmann::json& json);
std::optional<Quality> qualityFromJson(const nlohmann::json& json);
std::optional<Regression> regressionFromJson(const nlohmann::json& json);

// What a decision is called: "cat" or "3"; "above", "below"; the number itself.
std::string decisionName(const DecisionRule& rule, std::int64_t decision, const std::vector<std::string>& classNames);

}  // namespace ulpscope::session
