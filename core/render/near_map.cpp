#include "core/render/near_map.h"

#include <cmath>
#include <limits>

namespace ulpscope::render {
namespace {

double stepOf(const session::NearestFlip& flip) { return flip.found ? flip.step : std::numeric_limits<double>::infinity(); }

}  // namespace

ValueAxis stepAxis(const session::NearScan& near) {
  std::vector<double> steps;
  for (const session::NearSample& sample : near.samples)
    if (sample.skipped.empty()) steps.insert(steps.end(), {stepOf(sample.reference), stepOf(sample.candidate)});
  return valueAxis(steps, AxisScale::logarithmic);
}

std::vector<StepPoint> stepPoints(const session::NearScan& near, const ValueAxis& axis) {
  std::vector<StepPoint> points;
  for (std::size_t i = 0; i < near.samples.size(); ++i)
    if (const session::NearSample& sample = near.samples[i]; sample.skipped.empty()) points.push_back({i, valuePoint(stepOf(sample.reference), axis), valuePoint(stepOf(sample.candidate), axis)});
  return points;
}

ValueAxis marginAxis(const session::NearScan& near) {
  std::vector<double> values;
  for (const session::DecidedWithin& each : near.curve) values.insert(values.end(), {each.margin, each.bound});
  return valueAxis(values, AxisScale::logarithmic);
}

}  // namespace ulpscope::render
