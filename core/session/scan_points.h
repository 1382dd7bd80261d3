// Both runs' decisions at points between two samples, where they change, and the strips in which they differ.
//
// On a segment an input is x(t) = A + t (B - A), in double, rounded once to the input's dtype (analysis/interpolation.h); t is a float32
// from 0 (A itself) to 1 (B itself).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ulpscope::session {

// One of the decisions that came up; points name it by its index in Scan::decisions.
struct ScanDecision {
  std::vector<std::int64_t> values;  // one a position (Flip::referenceDecision); of top-k the set, ascending. At most kShownPositions of them
  std::int64_t count = 1;            // of all values
  bool tied = false;                 // tie rule flag: a tie is a decision of its own. With another rule never
  std::string key = {};              // where count > values.size(): what tells it from others
  friend bool operator==(const ScanDecision&, const ScanDecision&) = default;
};
inline constexpr int kNoDecision = -1;  // a NaN among the scores
inline constexpr std::size_t kShownPositions = 64, kShownClasses = 16, kMostScores = std::size_t{1} << 18;  // scores: of one run

// Both runs at one input. Margins as SampleDecision's: never negative; NaN without a decision.
struct PairAtPoint {
  int reference = kNoDecision, candidate = kNoDecision;
  double referenceMargin = std::numeric_limits<double>::quiet_NaN(), candidateMargin = std::numeric_limits<double>::quiet_NaN();
  double maxError = std::numeric_limits<double>::quiet_NaN();    // largest |candidate - reference| of the scores; +inf where one alone is finite
  double noiseError = std::numeric_limits<double>::quiet_NaN();  // the same of FP32 against itself; NaN: not measured
  bool withinNoise = false;  // FP32 in another order decides otherwise too, or moves a score far enough to
  std::vector<double> referenceScores = {}, candidateScores = {};  // of Scan::classes; empty: several decisions a sample, or more than kMostScores in the scan
  // Two decisions, and not the same. (Without a decision nothing differs: those points have lists of their own.)
  bool differs() const { return reference != kNoDecision && candidate != kNoDecision && reference != candidate; }
};

struct ScanPoint {
  float t = 0;
  PairAtPoint at;
};

// Where a run decides anew. No decision on one side is no crossing.
struct Crossing {
  float t = 0;       // the first float32 with the later decision
  float before = 0;  // the last with the earlier one: the float32 just below t
  int from = kNoDecision, to = kNoDecision;
};

// From the first t of it to the first after it; to the end: 1, which then belongs to it.
struct Stretch {
  float from = 0, to = 0;
  double width() const { return static_cast<double>(to) - static_cast<double>(from); }
};
struct Disagreement {
  Stretch at;
  int reference = kNoDecision, candidate = kNoDecision;  // there; both stay the same within it
  bool withinNoise = false;  // at every point looked at
};
// The candidate's decision goes back and forth where the reference's does not: it comes back to one that it had left more often than the
// reference's does, in a stretch in which its error reaches the reference's margin, and changes three times or more.
struct Flicker {
  Stretch at;  // from the first of its changes to the last
  std::int64_t changes = 0, referenceChanges = 0;
};
// A stretch in which the error reaches the margin (margin <= errorsToFlip * max|error|), which was looked at more closely.
struct CloseLook {
  Stretch at;
  std::int64_t points = 0;
  double resolution() const { return points > 1 ? at.width() / static_cast<double>(points - 1) : at.width(); }
};

struct SegmentScan {
  double length = 0;                         // ||B - A||, over all inputs that move
  std::vector<ScanPoint> samples;            // the grid, t_i = i / (steps - 1) rounded to float32
  std::vector<ScanPoint> refined;            // every other point that was looked at, in the order of t
  std::vector<Crossing> referenceCrossings, candidateCrossings;
  std::vector<Crossing> noiseCrossings;      // of FP32 in another order
  std::vector<Disagreement> disagreement;
  std::vector<Flicker> flicker;
  std::vector<Stretch> referenceNoDecision, candidateNoDecision;
  std::vector<CloseLook> closeLooks;
  double disagreeing() const;                // sum of the widths
  std::vector<Disagreement> beyondNoise() const;  // the strips that FP32's own noise does not explain
};

}  // namespace ulpscope::session
