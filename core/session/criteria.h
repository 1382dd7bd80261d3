// Acceptance criteria: limits fixed before results are read. A JSON file (resources/schema/criteria.schema.json) and its parts.
#pragma once

#include "core/base/error.h"
#include "core/session/metric.h"
#include "core/session/settings.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

// One limit. `id` is that of its entry in the file, with the measure after a dot: "logits.rel_l2".
struct Criterion {
  enum class Kind {
    tolerance,      // outputs: |b - a| / (atol + rtol |a|), the worst element; limit 1
    shareOutside,   // outputs: share of the elements outside that tolerance
    outputMetric,   // outputs: `metric`, the worst sample
    nonfinite,      // samples with NaN or inf that the reference has not and no rule explains
    flips,          // decisions that flip
    flipRate,       // of all decisions
    flipMargin,     // the largest FP32 margin among the flips
    regressions,    // flips from right to wrong, by the labels
    accuracy,       // of the candidate; at least the limit
    accuracyDrop,   // the reference's less the candidate's
    error,          // to the targets, `errorMeasure`
    errorIncrease,  // the candidate's less the reference's
    siteMetric      // op sites: `metric`, the worst site
  } kind = Kind::flips;
  std::string id;
  double limit = 0;
  std::string target;                  // output name, "*": every one; op sites as allow_nonfinite names them
  Metric metric = Metric::relL2;       // outputMetric, siteMetric
  double atol = 0, rtol = 0;           // tolerance, shareOutside
  std::string errorMeasure;            // "mean_error", "root_mean_square_error", "max_error"

  bool atLeast() const;                // the measured value must not be smaller than the limit, instead of not larger
};

struct Criteria {
  std::string title;
  std::optional<DecisionRule> decision;     // what the decisions are read by; empty: as the run asks
  std::string decisionOutput;
  std::optional<TieRule> tie;
  std::vector<std::string> allowNonfinite;  // allowed_nonfinite.h; for the reference and for the candidate alike
  bool noDecisionIsFlip = true;             // a sample that the candidate gives NaN scores, and the reference none
  bool noiseFlipsCount = true;              // flips that FP32 in another order makes as well
  std::vector<Criterion> list;

  std::string canonical;  // the file's JSON, keys sorted, without spaces
  std::string sha256;     // of that text
};

// Errors (kind input) name the place in the file: an unknown key and the nearest known one, a limit that is missing, negative or no number,
// an id twice, nothing to judge.
base::Result<Criteria> criteriaFromJson(const nlohmann::json& json);
// Of JSON text, such as a revision's canonical one; what is no JSON is an error of kind input too.
base::Result<Criteria> criteriaFromText(const std::string& text);
base::Result<Criteria> readCriteria(const std::string& path);

// What the criteria fix of a run beside the limits: the decision, its output, the tie rule, what NaN or inf is intended.
void takeOver(const Criteria& criteria, RunSettings& settings);

// A file to fill in for these outputs: every limit is null, which criteriaFromJson refuses. No limit is proposed.
nlohmann::json criteriaTemplate(const std::vector<std::string>& outputs, const DecisionRule& decision);

}  // namespace ulpscope::session
