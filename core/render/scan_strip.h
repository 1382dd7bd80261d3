// Where a scan between two samples stands in pixels: the part of t that is shown, bands of decisions, curves of scores and margins.
#pragma once

#include "core/render/training_axes.h"
#include "core/session/scan_points.h"

#include <cstddef>
#include <vector>

namespace ulpscope::render {

enum class RunSide { reference, candidate };

// The part of t that `width` pixels show.
struct TimeView {
  double from = 0, to = 1;
  double width = 1;
  double xOf(double t) const { return (t - from) / (to - from) * width; }
  double tOf(double x) const { return from + x / width * (to - from); }
};
// Never less than 2^-20 of the segment, 16 steps of float32 just below 1; never beyond 0 and 1.
inline constexpr double kLeastTimeSpan = 0x1p-20;
TimeView zoomedTime(const TimeView& view, double factor, double x);  // factor > 1 shows less; the t under x stays
TimeView pannedTime(const TimeView& view, double dx);                // moved by pixels
TimeView timeAround(const session::Stretch& stretch, double width);  // the stretch in the middle third

using PointList = std::vector<const session::ScanPoint*>;
// Grid and closer looks, by t, each t once.
PointList pointsByTime(const session::SegmentScan& scan);
// Index of the point next to t. Precondition: there are points.
std::size_t nearestPoint(const PointList& points, double t);

// One decision from the first point that has it to the first that has another; the last ends at 1.
struct DecisionBand {
  double from = 0, to = 0;
  int decision = session::kNoDecision;
};
std::vector<DecisionBand> decisionBands(const PointList& points, RunSide side);

// Pixel columns [from, to) of one look: the decision that most of a column has; kSeveralDecisions where a column has three bands or more.
inline constexpr int kSeveralDecisions = -2;
struct PixelBand {
  int from = 0, to = 0;
  int decision = session::kNoDecision;
};
std::vector<PixelBand> pixelBands(const std::vector<DecisionBand>& bands, const TimeView& view);

// Of a stretch, at least `least` pixels wide, so that none vanishes; within the view. from > to: outside it.
struct PixelSpan {
  double from = 0, to = 0;
  bool isIn() const { return from <= to; }
};
PixelSpan spanOf(const session::Stretch& stretch, const TimeView& view, double least);

struct TimedValue {
  double t = 0, value = 0;
};
// Those in the view and one on either side of it: what a curve needs, and an axis holds.
std::vector<TimedValue> valuesInView(const std::vector<TimedValue>& values, const TimeView& view);

struct CurvePoint {
  double x = 0, at = 0;  // pixels; position on the axis
};
struct CurveMark {
  double x = 0;
  ValuePlace place = ValuePlace::nan;  // what is no value, at the edge of the axis
};
// Of many points in a pixel column first, lowest, highest and last stay; a value without a place ends a line. One mark a column and place.
struct Curve {
  std::vector<std::vector<CurvePoint>> lines;
  std::vector<CurveMark> marks;
};
Curve curveOf(const std::vector<TimedValue>& values, const TimeView& view, const ValueAxis& axis);

// Places for labels of height `gap` next to the places wanted, in their order, none over another, between low and high where there is room.
std::vector<double> spreadLabels(const std::vector<double>& wanted, double gap, double low, double high);

}  // namespace ulpscope::render
