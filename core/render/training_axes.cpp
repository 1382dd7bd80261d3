#include "core/render/training_axes.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::render {
namespace {

constexpr double kRoom = 0.16;      // of the span, at each end
constexpr double kMarkRoom = 0.08;  // of the span, from the end to the marks
constexpr double kLargest = 1e300;  // so that the span of two finite values is one too

bool hasPosition(double value, AxisScale scale) { return std::isfinite(value) && (scale == AxisScale::linear || value > 0); }

double positionOf(double value, AxisScale scale) { return scale == AxisScale::linear ? std::clamp(value, -kLargest, kLargest) : std::log10(value); }

ValueAxis withRoom(AxisScale scale, double low, double high) {
  const double span = high - low;
  return {scale, low - kRoom * span, high + kRoom * span, low - (kRoom - kMarkRoom) * span, high + (kRoom - kMarkRoom) * span};
}

// The least of 1, 2, 5 x 10^n that is not below `least`.
double roundStep(double least) {
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= least * (1 - 1e-9)) return factor * decade;
  return 10 * decade;
}

}  // namespace

ValueAxis valueAxis(const std::vector<double>& values, AxisScale scale) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double value : values) {
    if (!hasPosition(value, scale)) continue;
    low = std::min(low, positionOf(value, scale));
    high = std::max(high, positionOf(value, scale));
  }
  if (low > high) return withRoom(scale, 0, 1);
  if (high - low > 1e-12 * std::max(std::fabs(low), std::fabs(high))) return withRoom(scale, low, high);
  // One value has no span: half of it, or a factor of 2, on both sides.
  const double side = scale == AxisScale::logarithmic ? std::log10(2.0) : low == 0 ? 0.5 : 0.5 * std::fabs(low);
  return withRoom(scale, low - side, high + side);
}

AxisScale scaleFor(const std::vector<double>& values) {
  double low = HUGE_VAL, high = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    if (value <= 0) return AxisScale::linear;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > 0 && high / low >= 100 ? AxisScale::logarithmic : AxisScale::linear;
}

ValuePoint valuePoint(double value, const ValueAxis& axis) {
  if (std::isnan(value)) return {ValuePlace::nan, axis.top};
  if (std::isinf(value)) return value > 0 ? ValuePoint{ValuePlace::plusInf, axis.top} : ValuePoint{ValuePlace::minusInf, axis.bottom};
  if (!hasPosition(value, axis.scale)) return {ValuePlace::notPositive, axis.bottom};
  return {ValuePlace::value, positionOf(value, axis.scale)};
}

std::vector<double> valueTicks(const ValueAxis& axis, int most, int base) {
  const bool isLogarithmic = axis.scale == AxisScale::logarithmic;
  const double unit = isLogarithmic ? std::log10(static_cast<double>(base)) : 1;
  const double low = axis.low / unit, high = axis.high / unit;
  const double least = (high - low) / std::max(1, most - 1);
  if (!(least > 0) || !std::isfinite(least)) return {};
  const double step = isLogarithmic ? std::max(1.0, std::ceil(least)) : roundStep(least);
  std::vector<double> ticks;
  for (double k = std::ceil(low / step); k * step <= high; ++k) ticks.push_back(isLogarithmic ? std::pow(base, k * step) : k * step);
  return ticks;
}

}  // namespace ulpscope::render
