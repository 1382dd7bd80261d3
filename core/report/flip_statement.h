// What a run may say of flipped decisions: counted once, and put into the sentence that a release manager signs.
#pragma once

#include "core/session/session.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ulpscope::report {

// A sample counts once, however many of its positions flip. Every sample that was asked for is either decided or has no decision.
struct FlipFacts {
  std::int64_t asked = 0;        // samples that the run was to compare
  std::int64_t decided = 0;      // with a decision in both runs: what rates are of
  std::int64_t flips = 0;
  std::int64_t positions = 0;    // flipped positions where samples have several; 0: one decision a sample
  std::int64_t regressed = 0, fixed = 0, wrongToWrong = 0;  // by labels
  std::int64_t tieFlips = 0;     // make or break a tie
  std::int64_t withinNoise = 0;  // FP32 in another order decides otherwise as well
  std::int64_t noDecision = 0;   // NaN among the candidate's scores alone
  std::int64_t noReferenceDecision = 0;  // NaN among the reference's
  std::int64_t tiedInReference = 0;      // a margin of 0
  std::int64_t possible = 0;     // decided samples that errors as large as their own could flip; 0 with a rule without margins
  double largestFlipMargin = 0;  // reference margin; NaN: no flip, or no margins
  // No sample with a larger reference margin can flip by an error as large as the largest (finite) one of any sample. NaN: not known.
  double impossibleBeyond = 0;
  std::int64_t unbounded = 0;    // decided samples whose error is infinite or unknown: that limit does not hold for them
};
FlipFacts flipFacts(const session::Session& session, const session::RunRecord& run);

// Of the decided samples, those whose reference margin is below a limit.
struct MarginCut {
  std::int64_t samples = 0;
  std::int64_t flips = 0;
};
MarginCut marginCut(const session::Session& session, const session::RunRecord& run, double below);

struct FlipStatement {
  bool isSignable = false;   // false: the sentence says why there is nothing to sign
  std::string sentence;      // one line, with its interval where there may be one
  std::vector<std::string> conditions;  // what it does not claim, and which files it is about; one line each
  std::string text() const;  // all of it, for the clipboard and reports
};

// A rate with an interval is given only for a complete run over the whole set that found a decision in both runs.
// marginBelow: the sentence also says how many samples have a smaller reference margin, and which part of the flips lies there.
FlipStatement flipStatement(const session::Session& session, const session::RunRecord& run,
                            double marginBelow = std::numeric_limits<double>::infinity());

}  // namespace ulpscope::report
