// The ticks of a training's charts, with texts that differ.
#pragma once

#include "core/render/training_axes.h"

#include <QString>

#include <vector>

namespace ulpscope::plots {

struct AxisTick {
  double at = 0;  // position, as render::valuePoint() has it
  QString text;
};
// At most about `most` ticks, from below, and two at least where the axis has room for two numbers. A logarithmic axis has powers of `base`
// (2 or 10); where fewer than two of them lie on it, round numbers.
std::vector<AxisTick> axisTicks(const render::ValueAxis& axis, int most, int base);

}  // namespace ulpscope::plots
