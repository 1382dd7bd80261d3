// How far samples are from deciding otherwise, along one direction each.
#pragma once

#include "core/analysis/point_reader.h"
#include "core/base/error.h"
#include "core/session/scan.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace ulpscope::analysis {

// A step along the way of one sample, in units of its largest: 0 the sample itself, 1 the limit.
struct WayPoint {
  std::size_t way = 0;
  float part = 0;
};
using LookAtWays = std::function<base::Result<std::vector<LookedAt>>(const std::vector<WayPoint>&)>;

struct WayResult {
  LookedAt start;
  session::NearestFlip reference, candidate;  // step: in parts of the largest; relative is not filled
};

inline constexpr int kTriedSteps = 48;  // of each way: 1, 1/sqrt(2), 1/2, ..., the smallest 8e-8
inline constexpr int kLookedBelow = 64;  // of each flip: 24 evenly down to 1/sqrt(2) of it, 40 within its last 32nd

// For each way and run the first part at which the run does not decide as the reference does at the start: another decision, or none (NaN). Part 0:
// not even at the start. Parts are tried, smallest first; a flip between two is bisected, all ways at once, to neighbouring float32 parts, and
// kLookedBelow parts below it are looked at, since a run may flicker there: closer pieces between those are not seen. A reference that decides
// nothing at the start flips nowhere, and the candidate is held to its own decision then. batch: points that cost as much as one. Errors: those
// of lookAt.
base::Result<std::vector<WayResult>> searchWays(std::size_t ways, std::size_t batch, const LookAtWays& lookAt);

}  // namespace ulpscope::analysis
