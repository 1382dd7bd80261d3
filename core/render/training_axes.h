// Where the numbers of a training's ledger stand on an axis. What is not finite, or has no place on a logarithmic axis, stands at its edge:
// nothing is left out.
#pragma once

#include <vector>

namespace ulpscope::render {

enum class AxisScale { linear, logarithmic };

// In positions: the value itself, or its log10.
struct ValueAxis {
  AxisScale scale = AxisScale::linear;
  double low = 0, high = 1;    // the ends, with room for marks
  double bottom = 0, top = 1;  // where marks at the edges stand
};
// Holds every finite value (of a logarithmic axis: every positive one); from 0 to 1, or from 1 to 10, where there is none.
ValueAxis valueAxis(const std::vector<double>& values, AxisScale scale);
// Logarithmic where every finite value is positive and the largest is 100 times the smallest or more.
AxisScale scaleFor(const std::vector<double>& values);

// notPositive: 0 or less on a logarithmic axis.
enum class ValuePlace { value, plusInf, minusInf, nan, notPositive };
struct ValuePoint {
  ValuePlace place = ValuePlace::value;
  double at = 0;  // position; of +inf and NaN the top, of the others that are no value the bottom
};
ValuePoint valuePoint(double value, const ValueAxis& axis);

// Rising values for at most `most` ticks (2 at least): steps of 1, 2 or 5 x 10^n; of a logarithmic axis powers of `base`, evenly thinned.
std::vector<double> valueTicks(const ValueAxis& axis, int most, int base = 10);

}  // namespace ulpscope::render
