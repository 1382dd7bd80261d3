// What the points of a segment say: crossings, strips of disagreement, flicker.
#pragma once

#include "core/analysis/point_reader.h"
#include "core/session/scan_points.h"

#include <map>
#include <vector>

namespace ulpscope::analysis {

// By t. Each decision holds from its point up to the next one.
using SegmentPoints = std::map<float, LookedAt>;

std::vector<session::Crossing> crossingsOf(const SegmentPoints& points, int session::PairAtPoint::*run);
std::vector<session::Crossing> noiseCrossingsOf(const SegmentPoints& points);
// Where both decide and not the same; `reference` and `candidate` are those at its first point.
std::vector<session::Disagreement> disagreementOf(const SegmentPoints& points);
// Where a run has no decision.
std::vector<session::Stretch> noDecisionOf(const SegmentPoints& points, int session::PairAtPoint::*run);
// Of one stretch, both ends counted; see session::Flicker. Empty: none there.
std::vector<session::Flicker> flickerIn(const SegmentPoints& points, const session::Stretch& stretch);

}  // namespace ulpscope::analysis
