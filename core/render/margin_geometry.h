// Where decisions stand in the margin plot: candidate margin minus reference margin against the reference's margin, both symlog.
#pragma once

#include "core/session/run_record.h"

#include <vector>

namespace ulpscope::render {

// Linear within +-linear, decades from there to `high` (render::symlog).
struct SymlogAxis {
  double linear = 1e-3;
  double high = 1;
  double at(double value) const;        // position
  double valueAt(double position) const;  // the reverse
  double top() const { return at(high); }
};

// The run's decisions with the candidate's margin negative where its decision is another one than the reference's: it lies beyond the
// boundary. (Both margins are each run's own; with more than two classes the reference's class may lie further beyond.)
std::vector<session::SampleDecision> signedMargins(const session::RunRecord& run);

struct MarginAxes {
  SymlogAxis margin;      // of the reference, from 0
  SymlogAxis difference;  // about 0
};
// Decades that hold every finite value; at most six of them, so that the smallest do not take the plot's room. 1e-3 to 1 where there is none.
MarginAxes marginAxes(const std::vector<session::SampleDecision>& decisions);

// Beside the values, one row (column) each: no decision in the candidate, an infinite difference, no decision in the reference.
enum class MarginPlace { value, candidateNan, infinite, referenceNan };
struct MarginPoint {
  MarginPlace place = MarginPlace::value;
  double x = 0, y = 0;  // positions; x of referenceNan and y of the others that are no value: as marginRugs
};
// Positions of the rugs: left of 0, below the least and above the largest difference.
struct MarginRugs {
  double referenceNan, candidateNan, infinite;
};
MarginRugs marginRugs(const MarginAxes& axes);
MarginPoint marginPoint(const session::SampleDecision& decision, const MarginAxes& axes);

// Steps of the slider "margin below m": m grows from the smallest positive margin to the largest, evenly in its logarithm, two digits;
// the last step is +inf ("all"). Empty: no sample has a positive finite margin, so there is nothing to choose.
std::vector<double> marginSteps(const std::vector<session::SampleDecision>& decisions, int steps);

}  // namespace ulpscope::render
