// Private: a rectangle with two axes that shapes are put into.
#pragma once

#include "core/render/drawing.h"

#include <string>
#include <vector>

namespace ulpscope::report {

inline constexpr double kFigureWidth = 760;
inline constexpr double kTextSize = 11;

struct ChartArea {
  double left = 0, top = 0, width = 1, height = 1;
};
// Positions that lie at its ends; high > low.
struct AxisSpan {
  double low = 0, high = 1;
};

class Chart {
 public:
  Chart(render::Drawing& drawing, ChartArea area, AxisSpan x, AxisSpan y);

  render::Place at(double x, double y) const;
  bool hasX(double x) const { return x >= m_x.low && x <= m_x.high; }
  bool hasY(double y) const { return y >= m_y.low && y <= m_y.high; }
  // A faint line across, a mark and the words beside it.
  void tickX(double x, const std::string& words);
  void tickY(double y, const std::string& words);
  void tickRight(double y, const std::string& words, render::Ink ink = render::Ink::muted);
  void titles(const std::string& x, const std::string& y);
  // Cut at NaN into pieces.
  void line(const std::vector<render::Place>& points, const render::Stroke& stroke);
  // Equal to half a pixel are drawn once.
  void signs(render::Sign sign, render::Ink ink, double size, const std::vector<render::Place>& points);
  void across(double y, const render::Stroke& stroke);  // from side to side
  void upright(double x, const render::Stroke& stroke);
  // Last: over the lines that touch it.
  void frame();
  const ChartArea& area() const { return m_area; }

 private:
  render::Drawing& m_drawing;
  ChartArea m_area;
  AxisSpan m_x, m_y;
};

// Signs with their words in a row, wrapped at the drawing's width, from `top` down; gives where it ends.
struct LegendItem {
  render::Sign sign = render::Sign::dot;
  render::Ink ink = render::Ink::series;
  std::string words;
  bool isLine = false;
  render::Dash dash = render::Dash::solid;
  double size = 8;
};
double drawLegend(render::Drawing& drawing, const std::vector<LegendItem>& items, double left, double top);

}  // namespace ulpscope::report
