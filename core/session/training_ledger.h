// A training as it was recorded step by step: our own ledger, or one that a Python loop wrote (resources/schema/ledger.schema.json).
#pragma once

#include "core/base/error.h"
#include "core/session/training.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ulpscope::session {

// What a ledger may hold of a step, in the order of cause: rows to scaleBefore stand as the step begins, growthTracker and what
// follows it after update().
enum class LedgerState {
  rows, rng, weights, buffers, optimizerState, scaleBefore, lr, loss, scaledNorm, gradNorm, clippedNorm,
  zeroShare, subnormalShare, nonfiniteShare, foundInf, skipped, applied, updateNorm, growthTracker, scaleAfter, schedulerSteps, appliedUpdates
};
const std::vector<LedgerState>& ledgerStates();  // all, in that order
std::string name(LedgerState state);             // its key: "scale_before"

// A number (flags: 0 or 1), or a text: a digest, or the rows.
using LedgerValue = std::variant<double, std::string>;
std::string valueText(LedgerState state, const LedgerValue& value);  // reads back as the value; flags as true and false, long texts cut

struct RecordedLine {
  std::int64_t step = 0;  // from the training's first
  std::string optimizer;
  std::map<LedgerState, LedgerValue> values;  // what is not there was not recorded
};

struct RecordedTraining {
  std::map<std::string, std::string> settings;  // what ought to be equal in two runs
  std::optional<Recipe> recipe;                 // of our own trainings, where the record has it
  std::optional<std::int64_t> resumedAt;        // steps that were done when it was last taken up again; empty: not known, or never
  std::vector<RecordedLine> lines;              // by step; one a step and optimizer
};

// Errors (kind input) name the line: no JSON, an unknown key and the nearest known one, a value of another kind, a step and optimizer that stand twice.
base::Result<RecordedTraining> ledgerFromLines(const std::string& text);
base::Result<RecordedTraining> readLedger(const std::string& path);
// Of the document of `ulpscope train --json`: its top trajectory.
base::Result<RecordedTraining> ledgerFromDocument(const nlohmann::json& document);
base::Result<RecordedTraining> readTrainingDocument(const std::string& path);
// The recipe's trajectory, with the recipe.
base::Result<RecordedTraining> ledgerOf(const Training& training);

}  // namespace ulpscope::session
