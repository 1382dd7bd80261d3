// Two records of one training, one uninterrupted and one taken up again at a checkpoint: the first state in which they differ.
//
// Equal means equal bits (NaN is NaN's equal; 0 and -0 differ), without any tolerance.
#pragma once

#include "core/session/training_ledger.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::analysis {

struct AuditedRuns {
  const session::RecordedTraining& uninterrupted;
  const session::RecordedTraining& resumed;
};

// Of one state over the compared steps.
struct StateAudit {
  session::LedgerState state = session::LedgerState::loss;
  bool inUninterrupted = false, inResumed = false;  // recorded in any compared step
  std::int64_t compared = 0;                        // lines in which both recorded it; 0: it is never called equal
  std::int64_t different = 0;                       // of them
  std::optional<std::int64_t> firstStep;            // with a difference
  double largest = 0;                               // |resumed - uninterrupted|; infinite where one of them is not finite; 0 for texts
  std::int64_t largestStep = 0;
};

struct AuditFinding {
  std::int64_t step = 0;
  std::string optimizer;  // empty: of the whole step, or of the only one
  session::LedgerState state = session::LedgerState::loss;
  std::string uninterrupted, resumed;         // both values
  std::string meaning;                        // what that means and what to do, one line
  std::vector<session::LedgerState> further;  // what else differs in this step
};

struct SettingDifference {
  std::string key, uninterrupted, resumed;
};

struct LedgerAudit {
  std::int64_t firstStep = 0, lastStep = 0;             // compared
  std::int64_t steps = 0;                               // compared
  std::int64_t onlyUninterrupted = 0, onlyResumed = 0;  // steps between those two that the other lacks
  std::optional<std::int64_t> resumedAt;                // as recorded
  std::optional<AuditFinding> first;                    // empty: no recorded state differs
  std::vector<StateAudit> states;                       // every one, in the order of cause
  std::vector<SettingDifference> settings;              // that both recorded, and of the recipes
  std::vector<std::string> unmatchedOptimizers;         // in one record only
  bool bothBeginAtZero = false;                         // the resumed run may count its steps from its resume
};

// The states of a step are looked at in the order of cause, appliedUpdates from the first compared step on. The scheduler's steps and the growth tracker,
// recorded after the step, are causes where both runs agree on the step's skip. Error kind inconclusive: no common step, or no state in both.
base::Result<LedgerAudit> auditLedgers(const AuditedRuns& runs);

}  // namespace ulpscope::analysis
