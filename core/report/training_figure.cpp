#include "core/base/axis_text.h"
#include "core/render/training_axes.h"
#include "core/render/viewport.h"
#include "core/report/chart.h"
#include "core/report/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ulpscope::report {
namespace {

using render::AxisScale;
using render::Ink;
using render::Place;
using render::Sign;
using render::ValueAxis;
using render::ValuePlace;
using session::LedgerLine;
using session::Trajectory;
using ValueOf = double LedgerLine::*;

constexpr double kHeight = 105, kGap = 16, kLeft = 84, kTop = 6;
constexpr std::array kDashes{render::Dash::solid, render::Dash::dashed, render::Dash::dotted};

std::vector<double> valuesOf(const Trajectory& run, ValueOf value) {
  std::vector<double> values;
  for (const LedgerLine& line : run.ledger) values.push_back(line.*value);
  return values;
}

std::vector<std::string> optimizersOf(const Trajectory& run) {
  std::vector<std::string> names;
  for (const LedgerLine& line : run.ledger)
    if (std::find(names.begin(), names.end(), line.optimizer) == names.end()) names.push_back(line.optimizer);
  return names;
}

std::string tickText(const Teller& t, const ValueAxis& axis, double value, int base) {
  if (base == 2) return base::powerOfTwoText(std::lround(std::log2(value)));
  return axis.scale == AxisScale::logarithmic ? base::decadeText(value) : t.book.cell(value);
}

class Panel {
 public:
  Panel(const Teller& t, Chart chart, const ValueAxis& axis) : m_teller(t), m_chart(chart), m_axis(axis) {}

  void ticks(int base) {
    for (const double value : render::valueTicks(m_axis, 4, base)) m_chart.tickY(render::valuePoint(value, m_axis).at, tickText(m_teller, m_axis, value, base));
  }
  // A gap where a value has no place; the marks at the edges say which.
  void lines(const Trajectory& run, ValueOf value, Ink ink, double width) {
    const auto optimizers = optimizersOf(run);
    for (std::size_t i = 0; i < optimizers.size(); ++i) {
      std::vector<Place> points;
      for (const LedgerLine& line : run.ledger) {
        if (line.optimizer != optimizers[i]) continue;
        const render::ValuePoint p = render::valuePoint(line.*value, m_axis);
        points.push_back({static_cast<double>(line.step), p.place == ValuePlace::value ? p.at : std::numeric_limits<double>::quiet_NaN()});
      }
      m_chart.line(points, {ink, width, kDashes[i % kDashes.size()]});
    }
  }
  void edges(const Trajectory& run, ValueOf value) {
    std::vector<Place> infinite, nan;
    for (const LedgerLine& line : run.ledger) {
      const render::ValuePoint p = render::valuePoint(line.*value, m_axis);
      if (p.place == ValuePlace::nan) nan.push_back({static_cast<double>(line.step), p.at});
      else if (p.place != ValuePlace::value) infinite.push_back({static_cast<double>(line.step), p.at});
    }
    m_chart.signs(Sign::diamond, Ink::finding, 8, nan);
    m_chart.signs(Sign::triangleUp, Ink::bad, 8, infinite);
  }
  void skips(const Trajectory& run) {
    std::vector<Place> points;
    for (const LedgerLine& line : run.ledger)
      if (line.skipped) points.push_back({static_cast<double>(line.step), render::valuePoint(line.scaleBefore, m_axis).at});
    m_chart.signs(Sign::triangleDown, Ink::bad, 9, points);
  }
  Chart& chart() { return m_chart; }

 private:
  const Teller& m_teller;
  Chart m_chart;
  const ValueAxis& m_axis;
};

}  // namespace

Figure trainingFigure(const Teller& t, const session::Training& training) {
  const Trajectory& run = training.runs.front();
  const Trajectory* fp32 = training.run("fp32") == &run ? nullptr : training.run("fp32");
  std::vector<double> losses = valuesOf(run, &LedgerLine::loss);
  if (fp32)
    for (const double loss : valuesOf(*fp32, &LedgerLine::loss)) losses.push_back(loss);
  const std::array axes{render::valueAxis(losses, render::scaleFor(losses)), render::valueAxis(valuesOf(run, &LedgerLine::scaleBefore), AxisScale::logarithmic),
                        render::valueAxis(valuesOf(run, &LedgerLine::gradNorm), AxisScale::logarithmic)};
  const double first = static_cast<double>(run.ledger.front().step), last = std::max(first + 1, static_cast<double>(run.ledger.back().step)), span = last - first;
  render::Drawing drawing{kFigureWidth, 0, {}};
  const std::array<ValueOf, 3> values{&LedgerLine::loss, &LedgerLine::scaleBefore, &LedgerLine::gradNorm};
  const std::array titles{"curve.loss", "curve.scale", "curve.norm"};
  const auto step = render::indexTickStep(span, 10);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Panel panel(t, Chart(drawing, {kLeft, kTop + static_cast<double>(i) * (kHeight + kGap), kFigureWidth - kLeft - 20, kHeight}, {first - 0.02 * span, first + 1.02 * span}, {axes[i].low, axes[i].high}), axes[i]);
    panel.ticks(i == 1 ? 2 : 10);
    const bool isLast = i + 1 == axes.size();
    for (auto at = (static_cast<std::int64_t>(first) + step - 1) / step * step; isLast && at <= static_cast<std::int64_t>(last); at += step) panel.chart().tickX(static_cast<double>(at), t.book.count(at));
    if (i == 0 && fp32) panel.lines(*fp32, values[i], Ink::muted, 2.5);
    panel.lines(run, values[i], Ink::series, 1.4);
    if (i == 1) panel.skips(run);
    panel.edges(run, values[i]);
    panel.chart().frame();
    panel.chart().titles(isLast ? t.say("curve.step") : "", t.say(titles[i]));
  }
  std::vector<LegendItem> items{{Sign::dot, Ink::series, t.say("curve.run"), true, render::Dash::solid}};
  if (fp32) items.push_back({Sign::dot, Ink::muted, t.say("curve.fp32"), true, render::Dash::solid});
  if (run.mostSkipped() > 0) items.push_back({Sign::triangleDown, Ink::bad, t.say("curve.skipped")});
  items.push_back({Sign::diamond, Ink::finding, "NaN"});
  items.push_back({Sign::triangleUp, Ink::bad, t.say("curve.infinite")});
  drawing.height = drawLegend(drawing, items, kLeft, kTop + 3 * kHeight + 2 * kGap + 44) + 2;
  return {std::move(drawing), t.say("curve.caption"), t.say("curve.words", {t.book.count(static_cast<std::int64_t>(run.ledger.size())), t.book.count(static_cast<std::int64_t>(run.mostSkipped()))})};
}

}  // namespace ulpscope::report
