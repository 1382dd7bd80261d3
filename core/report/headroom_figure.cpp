#include "core/base/float_formats.h"
#include "core/base/axis_text.h"
#include "core/render/viewport.h"
#include "core/report/chart.h"
#include "core/report/figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::report {
namespace {

using render::HeadroomSite;
using render::HeadroomState;
using render::Ink;
using render::Place;
using render::Sign;

constexpr std::size_t kMostMarks = 400;  // as in the window: with more sites the lines alone stand

double position(double value, const render::HeadroomAxis& axis) {
  return value > 0 && std::isfinite(value) ? std::max(axis.low, std::log10(value)) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<Place> curve(const std::vector<HeadroomSite>& sites, const render::HeadroomAxis& axis, double HeadroomSite::*value) {
  std::vector<Place> points;
  for (std::size_t i = 0; i < sites.size(); ++i) points.push_back({static_cast<double>(i + 1), position(sites[i].*value, axis)});
  return points;
}

void addTicks(Chart& chart, const render::HeadroomAxis& axis) {
  const int first = static_cast<int>(std::ceil(axis.low)), last = static_cast<int>(std::floor(axis.high));
  const int step = std::max(1, (last - first + 5) / 6);
  for (int decade = first; decade <= last; ++decade)
    if (decade % step == 0) chart.tickY(decade, decade == 0 ? "1" : base::decadeText(std::pow(10, decade)));
}

void addLimits(const Teller& t, Chart& chart, const render::HeadroomAxis& axis) {
  const base::FormatLimits limits = base::limits(t.run->settings.autocast);
  for (const auto& [limit, ink, key] : {std::tuple{limits.maxFinite, Ink::bad, "headroom.max"}, {limits.minNormal, Ink::warn, "headroom.normal"}, {limits.minSubnormal, Ink::bad, "headroom.subnormal"}}) {
    const double at = std::log10(limit);
    if (at < axis.low || at > axis.high) continue;
    chart.across(at, {ink, 1.2, render::Dash::dashed});
    chart.tickRight(at, t.say(key, {limit >= 1 && limit < 1e6 ? t.book.groupedCell(limit) : t.book.cell(limit)}), Ink::text);
  }
}

struct Mark {
  HeadroomState state;
  Sign sign;
  Ink ink;
};
constexpr Mark kMarks[] = {{HeadroomState::tight, Sign::square, Ink::warn}, {HeadroomState::beyond, Sign::hollowTriangleUp, Ink::warn}, {HeadroomState::overflow, Sign::triangleUp, Ink::bad}};

}  // namespace

Figure headroomFigure(const Teller& t, const std::vector<HeadroomSite>& sites) {
  const render::HeadroomAxis axis = render::headroomAxis(sites, t.run->settings.autocast);
  const auto count = static_cast<double>(sites.size());
  const std::string low = lowFormat(t.run->settings);
  render::Drawing drawing{kFigureWidth, 0, {}};
  Chart chart(drawing, {70, 6, kFigureWidth - 210, 230}, {0.5 - 0.01 * count, std::max(1.5, count + 0.5 + 0.01 * count)}, {axis.low, axis.high});
  addTicks(chart, axis);
  const std::int64_t step = render::indexTickStep(std::max(1.0, count), 8);
  for (std::int64_t site = step; site <= static_cast<std::int64_t>(sites.size()); site += step) chart.tickX(static_cast<double>(site), t.book.count(site));
  addLimits(t, chart, axis);
  const bool hasMarks = sites.size() <= kMostMarks;
  chart.line(curve(sites, axis, &HeadroomSite::candidateSmallest), {Ink::muted, 1, render::Dash::dotted});
  chart.line(curve(sites, axis, &HeadroomSite::referenceMax), {Ink::text, 1.2});
  chart.line(curve(sites, axis, &HeadroomSite::candidateMax), {Ink::series, 1.2, render::Dash::dashed});
  if (hasMarks) chart.signs(Sign::ring, Ink::text, 5, curve(sites, axis, &HeadroomSite::referenceMax));
  if (hasMarks) chart.signs(Sign::dot, Ink::series, 3.5, curve(sites, axis, &HeadroomSite::candidateMax));
  std::vector<LegendItem> items{{Sign::ring, Ink::text, t.say("headroom.fp32"), false, render::Dash::solid, 6}, {Sign::dot, Ink::series, t.say("headroom.amp", {low}), false, render::Dash::solid, 6}, {Sign::dot, Ink::muted, t.say("headroom.smallest", {low}), true, render::Dash::dotted}};
  for (const Mark& mark : kMarks) {
    std::vector<Place> points;
    for (std::size_t i = 0; i < sites.size(); ++i)
      if (sites[i].state == mark.state) points.push_back({static_cast<double>(i + 1), position(std::isnan(sites[i].referenceMax) ? sites[i].candidateMax : sites[i].referenceMax, axis)});
    if (points.empty()) continue;
    chart.signs(mark.sign, mark.ink, 10, points);
    items.push_back({mark.sign, mark.ink, t.book.stored("headroom", render::label(mark.state)) + " " + t.book.count(static_cast<std::int64_t>(points.size())), false, render::Dash::solid, 9});
  }
  if (axis.below > 0) items.push_back({Sign::triangleDown, Ink::muted, t.book.counted("headroom.below", axis.below)});
  if (axis.zeros > 0) items.push_back({Sign::dot, Ink::muted, t.book.counted("headroom.zeros", axis.zeros)});
  chart.frame();
  chart.titles(t.say("headroom.x"), "|x|");
  drawing.height = drawLegend(drawing, items, 70, 280) + 2;
  std::string words = t.say("headroom.words", {t.book.count(static_cast<std::int64_t>(sites.size()))});
  for (const LegendItem& item : items) words += " " + item.words + ";";
  words.back() = '.';
  return {std::move(drawing), t.say("headroom.figure"), words};
}

}  // namespace ulpscope::report
