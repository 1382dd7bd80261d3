#include "core/render/margin_geometry.h"

#include "core/render/viewport.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::render {
namespace {

constexpr double kMostDecades = 1e6;  // from the linear part to the end of an axis
constexpr double kRugDistance = 0.35;  // of an axis, beyond its end

struct Extent {
  double least = std::numeric_limits<double>::infinity();  // above 0
  double most = 0;
  void add(double magnitude) {
    if (!std::isfinite(magnitude) || magnitude == 0) return;
    least = std::min(least, magnitude);
    most = std::max(most, magnitude);
  }
};

// Of those that a double and a tenth of it have in full.
double decade(double exponent) { return std::pow(10, std::clamp(exponent, -306.0, 308.0)); }
double decadeBelow(double v) { return decade(std::floor(std::log10(v))); }
double decadeAbove(double v) { return decade(std::ceil(std::log10(v))); }

SymlogAxis axisOf(const Extent& extent) {
  if (extent.most == 0) return {};
  const double high = decadeAbove(extent.most);
  return {std::min(decadeBelow(std::max(extent.least, high / kMostDecades)), high / 10), high};
}

// 0.0123456 -> 0.012: what a person would choose. Rounded up, so that the last step holds every sample.
double twoDigits(double v) {
  const double unit = std::pow(10, std::floor(std::log10(v)) - 1);
  return std::ceil(v / unit - 1e-9) * unit;
}

}  // namespace

double SymlogAxis::at(double value) const { return symlog(value, linear); }

double SymlogAxis::valueAt(double position) const {
  const double steps = std::fabs(position);
  return std::copysign(steps <= 1 ? steps * linear : linear * std::pow(10, steps - 1), position);
}

MarginAxes marginAxes(const std::vector<session::SampleDecision>& decisions) {
  Extent margin, difference;
  for (const session::SampleDecision& d : decisions) {
    margin.add(d.referenceMargin);
    difference.add(std::fabs(d.candidateMargin - d.referenceMargin));
  }
  return {axisOf(margin), axisOf(difference)};
}

MarginRugs marginRugs(const MarginAxes& axes) {
  const double top = axes.difference.top();
  return {-kRugDistance / 2 * axes.margin.top(), -top * (1 + kRugDistance), top * (1 + kRugDistance)};
}

std::vector<session::SampleDecision> signedMargins(const session::RunRecord& run) {
  std::vector<session::SampleDecision> decisions = run.decisions;
  for (const session::Flip& flip : run.flips)
    if (flip.sample >= 0 && static_cast<std::size_t>(flip.sample) < decisions.size()) {
      double& margin = decisions[static_cast<std::size_t>(flip.sample)].candidateMargin;
      margin = -margin;
    }
  return decisions;
}

MarginPoint marginPoint(const session::SampleDecision& decision, const MarginAxes& axes) {
  const MarginRugs rugs = marginRugs(axes);
  const double x = std::isfinite(decision.referenceMargin) ? axes.margin.at(decision.referenceMargin) : axes.margin.top();
  if (std::isnan(decision.referenceMargin)) return {MarginPlace::referenceNan, rugs.referenceNan, std::isnan(decision.candidateMargin) ? rugs.candidateNan : 0};
  if (std::isnan(decision.candidateMargin)) return {MarginPlace::candidateNan, x, rugs.candidateNan};
  if (decision.candidateMargin == decision.referenceMargin) return {MarginPlace::value, x, 0};  // +inf in both has no difference
  const double difference = decision.candidateMargin - decision.referenceMargin;
  if (!std::isfinite(difference)) return {MarginPlace::infinite, x, std::copysign(rugs.infinite, difference)};
  return {MarginPlace::value, x, axes.difference.at(difference)};
}

std::vector<double> marginSteps(const std::vector<session::SampleDecision>& decisions, int steps) {
  Extent extent;
  for (const session::SampleDecision& d : decisions) extent.add(d.referenceMargin);
  if (extent.most == 0) return {};
  std::vector<double> values;
  const int last = std::max(1, steps - 2);
  for (int i = 0; i <= last; ++i) {
    const double value = twoDigits(extent.least * std::pow(extent.most / extent.least, static_cast<double>(i) / last));
    if (values.empty() || value > values.back()) values.push_back(value);
  }
  values.push_back(std::numeric_limits<double>::infinity());
  return values;
}

}  // namespace ulpscope::render
