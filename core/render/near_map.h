// How near samples are to deciding otherwise, as a picture: FP32's smallest step to a flip against the candidate's, and the margins of the set
// against its errors.
#pragma once

#include "core/render/training_axes.h"
#include "core/session/scan.h"

#include <cstddef>
#include <vector>

namespace ulpscope::render {

// One axis for both runs' steps, so that the diagonal is where they are equal: logarithmic over all steps that were found.
ValueAxis stepAxis(const session::NearScan& near);

// A step that was not found stands at the top of the axis: beyond what was tried. A sample that was not tried has no point.
struct StepPoint {
  std::size_t index = 0;  // into NearScan::samples
  ValuePoint reference, candidate;
};
std::vector<StepPoint> stepPoints(const session::NearScan& near, const ValueAxis& axis);

// Margins and bounds of the curve, logarithmic; 0 stands at the bottom.
ValueAxis marginAxis(const session::NearScan& near);

}  // namespace ulpscope::render
