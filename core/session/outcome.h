// What became of each sample's decision.
#pragma once

#include "core/session/session.h"

#include <vector>

namespace ulpscope::session {

// In the order in which a reader wants to see them. flipped: without labels.
enum class Outcome { regressed, flipped, wrongToWrong, fixed, noDecision, same, notRun };
std::string outcomeName(Outcome outcome);  // "regressed", "wrong to wrong", "no decision"

struct SampleOutcome {
  Outcome outcome = Outcome::same;
  const Flip* flip = nullptr;  // in the run; nullptr: it does not flip
};
// One a sample of run.decisions; empty where the run reads no decisions.
std::vector<SampleOutcome> sampleOutcomes(const Session& session, const RunRecord& run);
// By outcome, then by reference margin (NaN last), then as given.
std::vector<const Flip*> flipsByOutcome(const RunRecord& run);

}  // namespace ulpscope::session
