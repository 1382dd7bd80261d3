// Finds where two runs change their decisions on a segment, to the last float32 step.
#pragma once

#include "core/analysis/segment_findings.h"
#include "core/base/error.h"
#include "core/session/scan_points.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ulpscope::analysis {

struct SegmentPlan {
  std::int64_t steps = 1001;  // points of the grid, both ends among them
  std::size_t batch = 32;     // points that cost as much as one
  int errorsToFlip = 2;       // DecisionRule::errorsToFlip()
};

// Evaluates points in the order given: both runs, each point once; FP32 against itself.
using LookAt = std::function<base::Result<std::vector<LookedAt>>(const std::vector<float>&)>;
using NoiseAt = std::function<base::Result<std::vector<NoiseAtPoint>>(const std::vector<float>&)>;

struct SegmentResult {
  session::SegmentScan scan;          // but for its length
  std::vector<std::string> warnings;
};

// The grid; between neighbours whose decisions differ in any run, further points until they are neighbouring floats (all such gaps at once, so
// that a batch is full); then a closer look, at kCloseLookPoints or twice the grid's density, wherever the error reaches the reference's margin
// or a run changes: only there can the candidate flicker; where it does, another on either side of its changes. What changes and changes back between two points that were looked at is not seen.
// Last FP32's own noise at all of these points, and its crossings in the same way; noiseAt may be empty: no noise floor.
// Errors: those of lookAt and noiseAt.
base::Result<SegmentResult> searchSegment(const SegmentPlan& plan, const LookAt& lookAt, const NoiseAt& noiseAt);
inline constexpr std::int64_t kCloseLookPoints = 257;

}  // namespace ulpscope::analysis
