#include "core/base/axis_text.h"
#include "core/render/margin_geometry.h"
#include "core/render/viewport.h"
#include "core/report/chart.h"
#include "core/report/figures.h"
#include "core/session/outcome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace ulpscope::report {
namespace {

using render::Ink;
using render::MarginPlace;
using render::Place;
using render::Sign;
using session::Outcome;

constexpr int kTieCurvePoints = 60;
constexpr std::array kOutcomes{Outcome::same, Outcome::noDecision, Outcome::wrongToWrong, Outcome::flipped, Outcome::fixed, Outcome::regressed};  // the last on top

struct Look {
  Sign sign;
  Ink ink;
  double size;
};
Look lookOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::regressed: return {Sign::triangleDown, Ink::bad, 9};
    case Outcome::flipped: return {Sign::square, Ink::bad, 8};
    case Outcome::wrongToWrong: return {Sign::square, Ink::warn, 8};
    case Outcome::fixed: return {Sign::triangleUp, Ink::good, 9};
    case Outcome::noDecision: return {Sign::diamond, Ink::finding, 9};
    case Outcome::same:
    case Outcome::notRun: break;
  }
  return {Sign::dot, Ink::series, 4};
}

struct Points {
  std::array<std::vector<Place>, kOutcomes.size()> byOutcome;
  bool hasCandidateNan = false, hasReferenceNan = false, hasInfinite = false;
};

Points pointsOf(const Teller& t, const std::vector<session::SampleDecision>& decisions, const render::MarginAxes& axes) {
  Points points;
  const auto outcomes = session::sampleOutcomes(t.content.session, *t.run);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto kind = std::find(kOutcomes.begin(), kOutcomes.end(), outcomes[i].outcome);
    if (kind == kOutcomes.end()) continue;  // not run
    const render::MarginPoint p = render::marginPoint(decisions[i], axes);
    points.hasCandidateNan = points.hasCandidateNan || p.place == MarginPlace::candidateNan;
    points.hasReferenceNan = points.hasReferenceNan || p.place == MarginPlace::referenceNan;
    points.hasInfinite = points.hasInfinite || p.place == MarginPlace::infinite;
    points.byOutcome[static_cast<std::size_t>(kind - kOutcomes.begin())].push_back({p.x, p.y});
  }
  return points;
}

// 0 and the decades of a symlog axis, both ways where it has two.
void addTicks(const render::SymlogAxis& axis, bool isSigned, int most, const std::function<void(double, const std::string&)>& add) {
  const int first = static_cast<int>(std::lround(std::log10(axis.linear))), last = static_cast<int>(std::lround(std::log10(axis.high)));
  const int step = std::max(1, (last - first + most) / most);
  add(0, "0");
  for (int decade = last; decade >= first; decade -= step) {
    const double value = std::pow(10.0, decade);
    add(axis.at(value), base::decadeText(value));
    if (isSigned) add(axis.at(-value), base::decadeText(-value));
  }
}

void drawGuides(Chart& chart, const render::MarginAxes& axes, double impossibleBeyond) {
  std::vector<Place> tie;
  for (int i = 0; i <= kTieCurvePoints; ++i) {
    const double x = axes.margin.top() * i / kTieCurvePoints, y = axes.difference.at(-axes.margin.valueAt(x));
    if (y >= -axes.difference.top()) tie.push_back({x, y});
  }
  chart.line(tie, {Ink::muted, 1, render::Dash::dotted});
  if (!std::isnan(impossibleBeyond)) chart.upright(axes.margin.at(std::min(impossibleBeyond, axes.margin.high)), {Ink::bad, 1.3, render::Dash::dashed});
}

std::vector<LegendItem> legendOf(const Teller& t, const Points& points, const FlipFacts& facts) {
  std::vector<LegendItem> items;
  for (std::size_t i = kOutcomes.size(); i-- > 0;) {
    if (points.byOutcome[i].empty()) continue;
    const Look look = lookOf(kOutcomes[i]);
    items.push_back({look.sign, look.ink, t.book.stored("outcome", session::outcomeName(kOutcomes[i])) + " " + t.book.count(static_cast<std::int64_t>(points.byOutcome[i].size())), false, render::Dash::solid, look.size});
  }
  items.push_back({Sign::dot, Ink::muted, t.say("margin.tie"), true, render::Dash::dotted});
  const bool isTwice = t.run->settings.decision.errorsToFlip() == 2;
  if (!std::isnan(facts.impossibleBeyond)) items.push_back({Sign::dot, Ink::bad, t.say(isTwice ? "margin.impossibleTwice" : "margin.impossibleOnce", {t.book.cell(facts.impossibleBeyond)}), true, render::Dash::dashed});
  return items;
}

}  // namespace

Figure marginFigure(const Teller& t, const FlipFacts& facts) {
  const std::vector<session::SampleDecision> decisions = render::signedMargins(*t.run);
  const render::MarginAxes axes = render::marginAxes(decisions);
  const render::MarginRugs rugs = render::marginRugs(axes);
  const Points points = pointsOf(t, decisions, axes);
  const double top = axes.difference.top(), right = axes.margin.top();
  render::Drawing drawing{kFigureWidth, 0, {}};
  Chart chart(drawing, {70, 6, kFigureWidth - 90, 250}, {points.hasReferenceNan ? 1.6 * rugs.referenceNan : -0.04 * right, 1.04 * right},
              {points.hasCandidateNan ? rugs.candidateNan - 0.14 * top : -1.1 * top, points.hasInfinite ? rugs.infinite + 0.14 * top : 1.1 * top});
  addTicks(axes.margin, false, 6, [&](double at, const std::string& words) { chart.tickX(at, words); });
  addTicks(axes.difference, true, 4, [&](double at, const std::string& words) { chart.tickY(at, words); });
  if (points.hasCandidateNan) chart.tickY(rugs.candidateNan, "NaN");
  if (points.hasInfinite) chart.tickY(rugs.infinite, "+inf");
  if (points.hasReferenceNan) chart.tickX(rugs.referenceNan, "NaN");
  drawGuides(chart, axes, facts.impossibleBeyond);
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) chart.signs(lookOf(kOutcomes[i]).sign, lookOf(kOutcomes[i]).ink, lookOf(kOutcomes[i]).size, points.byOutcome[i]);
  chart.frame();
  chart.titles(t.say("margin.x"), t.say("margin.y"));
  const auto items = legendOf(t, points, facts);
  drawing.height = drawLegend(drawing, items, 70, 300) + 2;
  std::string words = t.say("margin.words");
  for (const LegendItem& item : items) words += " " + item.words + ";";
  words.back() = '.';
  return {std::move(drawing), t.say("margin.caption"), words};
}

}  // namespace ulpscope::report
