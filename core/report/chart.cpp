#include "core/report/chart.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ulpscope::report {

using render::Anchor;
using render::Ink;
using render::Place;
using render::Stroke;

namespace {

constexpr double kTick = 4;

}  // namespace

Chart::Chart(render::Drawing& drawing, ChartArea area, AxisSpan x, AxisSpan y) : m_drawing(drawing), m_area(area), m_x(x), m_y(y) {}

Place Chart::at(double x, double y) const {
  return {m_area.left + (x - m_x.low) / (m_x.high - m_x.low) * m_area.width, m_area.top + (m_y.high - y) / (m_y.high - m_y.low) * m_area.height};
}

void Chart::tickX(double x, const std::string& words) {
  const double bottom = m_area.top + m_area.height, px = at(x, m_y.low).x;
  m_drawing.shapes.emplace_back(render::Line{{{px, m_area.top}, {px, bottom}}, {Ink::line, 0.7}});
  m_drawing.shapes.emplace_back(render::Line{{{px, bottom}, {px, bottom + kTick}}, {Ink::muted, 1}});
  m_drawing.shapes.emplace_back(render::Words{{px, bottom + kTick + kTextSize + 1}, words, Ink::muted, Anchor::middle, kTextSize});
}

void Chart::tickY(double y, const std::string& words) {
  const double py = at(m_x.low, y).y;
  m_drawing.shapes.emplace_back(render::Line{{{m_area.left, py}, {m_area.left + m_area.width, py}}, {Ink::line, 0.7}});
  m_drawing.shapes.emplace_back(render::Line{{{m_area.left - kTick, py}, {m_area.left, py}}, {Ink::muted, 1}});
  m_drawing.shapes.emplace_back(render::Words{{m_area.left - kTick - 3, py + kTextSize * 0.35}, words, Ink::muted, Anchor::end, kTextSize});
}

void Chart::tickRight(double y, const std::string& words, Ink ink) {
  const double py = at(m_x.low, y).y, right = m_area.left + m_area.width;
  m_drawing.shapes.emplace_back(render::Line{{{right, py}, {right + kTick, py}}, {Ink::muted, 1}});
  m_drawing.shapes.emplace_back(render::Words{{right + kTick + 3, py + kTextSize * 0.35}, words, ink, Anchor::start, kTextSize});
}

void Chart::titles(const std::string& x, const std::string& y) {
  if (!x.empty()) m_drawing.shapes.emplace_back(render::Words{{m_area.left + m_area.width / 2, m_area.top + m_area.height + kTick + 2 * kTextSize + 8}, x, Ink::text, Anchor::middle, kTextSize});
  if (!y.empty()) m_drawing.shapes.emplace_back(render::Words{{kTextSize + 2, m_area.top + m_area.height / 2}, y, Ink::text, Anchor::middle, kTextSize, true});
}

void Chart::line(const std::vector<Place>& points, const Stroke& stroke) {
  render::Line piece{{}, stroke};
  const auto flush = [&] {
    if (piece.points.size() > 1) m_drawing.shapes.emplace_back(piece);
    piece.points.clear();
  };
  for (const Place& p : points) {
    if (std::isnan(p.x) || std::isnan(p.y)) flush();
    else piece.points.push_back(at(p.x, std::clamp(p.y, m_y.low, m_y.high)));
  }
  flush();
}

void Chart::signs(render::Sign sign, Ink ink, double size, const std::vector<Place>& points) {
  render::Signs all{sign, ink, size, {}};
  std::set<std::pair<long, long>> seen;
  for (const Place& p : points) {
    if (std::isnan(p.x) || std::isnan(p.y)) continue;
    const Place on = at(p.x, p.y);
    if (seen.emplace(std::lround(2 * on.x), std::lround(2 * on.y)).second) all.at.push_back(on);
  }
  if (!all.at.empty()) m_drawing.shapes.emplace_back(std::move(all));
}

void Chart::across(double y, const Stroke& stroke) {
  const double py = at(m_x.low, y).y;
  m_drawing.shapes.emplace_back(render::Line{{{m_area.left, py}, {m_area.left + m_area.width, py}}, stroke});
}

void Chart::upright(double x, const Stroke& stroke) {
  const double px = at(x, m_y.low).x;
  m_drawing.shapes.emplace_back(render::Line{{{px, m_area.top}, {px, m_area.top + m_area.height}}, stroke});
}

void Chart::frame() { m_drawing.shapes.emplace_back(render::Box{m_area.left, m_area.top, m_area.width, m_area.height, Ink::none, Ink::line, {}, false}); }

double drawLegend(render::Drawing& drawing, const std::vector<LegendItem>& items, double left, double top) {
  constexpr double kSign = 14, kGap = 5, kBetween = 18, kRow = 18;
  double x = left, y = top;
  for (const LegendItem& item : items) {
    const double width = kSign + kGap + render::textWidth(item.words, kTextSize);
    if (x > left && x + width > drawing.width) {
      x = left;
      y += kRow;
    }
    const Place middle{x + kSign / 2, y + kRow / 2};
    if (item.isLine) drawing.shapes.emplace_back(render::Line{{{x, middle.y}, {x + kSign, middle.y}}, {item.ink, 1.5, item.dash}});
    else drawing.shapes.emplace_back(render::Signs{item.sign, item.ink, item.size, {middle}});
    drawing.shapes.emplace_back(render::Words{{x + kSign + kGap, middle.y + kTextSize * 0.36}, item.words, Ink::text, Anchor::start, kTextSize});
    x += width + kBetween;
  }
  return items.empty() ? top : y + kRow;
}

}  // namespace ulpscope::report
