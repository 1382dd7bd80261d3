#include "core/render/scan_strip.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace ulpscope::render {
namespace {

using session::ScanPoint;

TimeView placed(double from, double span, double width) {
  span = std::clamp(span, kLeastTimeSpan, 1.0);
  from = std::clamp(from, 0.0, 1.0 - span);
  return {from, from + span, width};
}

int decisionOf(const ScanPoint& point, RunSide side) { return side == RunSide::reference ? point.at.reference : point.at.candidate; }

// The look of the pixel column [x, x + 1); `first`: a band that ends after its beginning.
int lookOf(const std::vector<DecisionBand>& bands, std::size_t first, const TimeView& view, int x) {
  const double begin = view.tOf(x), end = view.tOf(x + 1);
  int count = 0, most = session::kNoDecision;
  double widest = -1;
  for (std::size_t i = first; i < bands.size() && (bands[i].from < end || count == 0); ++i, ++count) {
    const double share = std::min(bands[i].to, end) - std::max(bands[i].from, begin);
    if (share <= widest) continue;
    widest = share;
    most = bands[i].decision;
  }
  return count >= 3 ? kSeveralDecisions : most;
}

// Of the points of one column, which have places.
void addColumn(std::vector<CurvePoint>& line, const std::vector<CurvePoint>& column) {
  if (column.size() <= 4) return void(line.insert(line.end(), column.begin(), column.end()));
  const auto [low, high] = std::minmax_element(column.begin(), column.end(), [](const CurvePoint& a, const CurvePoint& b) { return a.at < b.at; });
  std::vector<std::ptrdiff_t> kept{0, low - column.begin(), high - column.begin(), static_cast<std::ptrdiff_t>(column.size()) - 1};
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (const std::ptrdiff_t i : kept) line.push_back(column[static_cast<std::size_t>(i)]);
}

class CurveMaker {
 public:
  CurveMaker(const TimeView& view, const ValueAxis& axis) : m_view(view), m_axis(axis) {}
  void add(const TimedValue& value) {
    const double x = m_view.xOf(value.t);
    const ValuePoint point = valuePoint(value.value, m_axis);
    if (point.place != ValuePlace::value) return endLine(x, point.place);
    if (!m_column.empty() && std::floor(m_column.back().x) != std::floor(x)) endColumn();
    m_column.push_back({x, point.at});
  }
  Curve finish() {
    endColumn();
    keepLine();
    return std::move(m_curve);
  }

 private:
  void endColumn() {
    addColumn(m_line, m_column);
    m_column.clear();
  }
  void keepLine() {
    if (!m_line.empty()) m_curve.lines.push_back(std::move(m_line));
    m_line.clear();
  }
  void endLine(double x, ValuePlace place) {
    endColumn();
    keepLine();
    if (x < 0 || x > m_view.width) return;
    const bool isThere = std::any_of(m_curve.marks.rbegin(), m_curve.marks.rend(), [&](const CurveMark& mark) { return std::floor(mark.x) == std::floor(x) && mark.place == place; });
    if (!isThere) m_curve.marks.push_back({x, place});
  }

  TimeView m_view;
  ValueAxis m_axis;
  Curve m_curve;
  std::vector<CurvePoint> m_line, m_column;
};

}  // namespace

TimeView zoomedTime(const TimeView& view, double factor, double x) {
  const double span = std::clamp((view.to - view.from) / factor, kLeastTimeSpan, 1.0);
  return placed(view.tOf(x) - x / view.width * span, span, view.width);
}

TimeView pannedTime(const TimeView& view, double dx) { return placed(view.from - dx / view.width * (view.to - view.from), view.to - view.from, view.width); }

TimeView timeAround(const session::Stretch& stretch, double width) {
  const double span = std::max(3 * stretch.width(), kLeastTimeSpan);
  return placed((static_cast<double>(stretch.from) + static_cast<double>(stretch.to) - span) / 2, span, width);
}

PointList pointsByTime(const session::SegmentScan& scan) {
  PointList points;
  for (const auto* list : {&scan.samples, &scan.refined})
    for (const ScanPoint& point : *list) points.push_back(&point);
  std::stable_sort(points.begin(), points.end(), [](const ScanPoint* a, const ScanPoint* b) { return a->t < b->t; });
  points.erase(std::unique(points.begin(), points.end(), [](const ScanPoint* a, const ScanPoint* b) { return a->t == b->t; }), points.end());
  return points;
}

std::size_t nearestPoint(const PointList& points, double t) {
  const auto after = std::lower_bound(points.begin(), points.end(), t, [](const ScanPoint* point, double at) { return static_cast<double>(point->t) < at; });
  if (after == points.begin()) return 0;
  if (after == points.end()) return points.size() - 1;
  const double above = static_cast<double>((*after)->t) - t, below = t - static_cast<double>((*std::prev(after))->t);
  return static_cast<std::size_t>(after - points.begin()) - (below <= above ? 1U : 0U);
}

std::vector<DecisionBand> decisionBands(const PointList& points, RunSide side) {
  std::vector<DecisionBand> bands;
  for (const ScanPoint* point : points) {
    const int decision = decisionOf(*point, side);
    if (!bands.empty() && bands.back().decision == decision) continue;
    if (!bands.empty()) bands.back().to = static_cast<double>(point->t);
    bands.push_back({static_cast<double>(point->t), 1, decision});
  }
  return bands;
}

std::vector<PixelBand> pixelBands(const std::vector<DecisionBand>& bands, const TimeView& view) {
  std::vector<PixelBand> pixels;
  std::size_t first = 0;
  for (int x = 0; !bands.empty() && x < static_cast<int>(view.width); ++x) {
    while (first + 1 < bands.size() && bands[first].to <= view.tOf(x)) ++first;
    const int look = lookOf(bands, first, view, x);
    if (!pixels.empty() && pixels.back().decision == look)
      pixels.back().to = x + 1;
    else
      pixels.push_back({x, x + 1, look});
  }
  return pixels;
}

PixelSpan spanOf(const session::Stretch& stretch, const TimeView& view, double least) {
  double from = view.xOf(static_cast<double>(stretch.from)), to = view.xOf(static_cast<double>(stretch.to));
  if (to < 0 || from > view.width) return {1, 0};
  if (to - from < least) {
    const double middle = (from + to) / 2;
    from = middle - least / 2;
    to = middle + least / 2;
  }
  return {std::max(0.0, from), std::min(view.width, to)};
}

std::vector<TimedValue> valuesInView(const std::vector<TimedValue>& values, const TimeView& view) {
  auto first = std::lower_bound(values.begin(), values.end(), view.from, [](const TimedValue& value, double t) { return value.t < t; });
  auto last = std::upper_bound(first, values.end(), view.to, [](double t, const TimedValue& value) { return t < value.t; });
  if (first != values.begin()) --first;
  if (last != values.end()) ++last;
  return {first, last};
}

Curve curveOf(const std::vector<TimedValue>& values, const TimeView& view, const ValueAxis& axis) {
  CurveMaker maker(view, axis);
  for (const TimedValue& value : valuesInView(values, view)) maker.add(value);
  return maker.finish();
}

std::vector<double> spreadLabels(const std::vector<double>& wanted, double gap, double low, double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  std::vector<double> places(wanted.size());
  double next = low;
  for (const std::size_t i : order) {
    places[i] = std::max(wanted[i], next);
    next = places[i] + gap;
  }
  double most = high;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    places[*i] = std::min(places[*i], most);
    most = places[*i] - gap;
  }
  return places;
}

}  // namespace ulpscope::render
