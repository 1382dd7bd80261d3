#include "core/analysis/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ulpscope::analysis {
namespace {

using session::DecisionRule;
using Kind = DecisionRule::Kind;

constexpr double kInf = std::numeric_limits<double>::infinity();

// The larger the better; argmin is argmax of the negated scores.
double scoreAt(const DecisionRule& rule, const TensorView& view, const PositionGrid& g, std::int64_t offset, std::int64_t c) {
  const double score = elementAt(view, offset + c * g.classStride);
  return rule.kind == Kind::argmin ? -score : score;
}

double gap(double better, double worse) { return better == worse ? 0 : better - worse; }  // inf - inf is a tie, not NaN

Choice bestClass(const DecisionRule& rule, const TensorView& view, const PositionGrid& g, std::int64_t offset) {
  std::int64_t best = -1;
  double first = -kInf, second = -kInf;
  for (std::int64_t c = 0; c < g.classes; ++c) {
    const double score = scoreAt(rule, view, g, offset, c);
    if (std::isnan(score)) return {};
    if (best < 0 || score > first) {
      second = best < 0 ? -kInf : first;
      first = score;
      best = c;
    } else {
      second = std::max(second, score);
    }
  }
  const bool alone = g.classes == 1;
  return {true, best, {}, alone ? kInf : gap(first, second), !alone && first == second};
}

// Class numbers, best first; equal scores by the lower number. Empty: a NaN among the scores.
std::vector<std::int64_t> ranked(const DecisionRule& rule, const TensorView& view, const PositionGrid& g, std::int64_t offset, std::int64_t count) {
  std::vector<double> scores;
  for (std::int64_t c = 0; c < g.classes; ++c) scores.push_back(scoreAt(rule, view, g, offset, c));
  if (std::any_of(scores.begin(), scores.end(), [](double s) { return std::isnan(s); })) return {};
  std::vector<std::int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min<std::ptrdiff_t>(count, static_cast<std::ptrdiff_t>(order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](std::int64_t a, std::int64_t b) {
    const double x = scores[static_cast<std::size_t>(a)], y = scores[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  order.erase(end, order.end());
  return order;
}

Choice bestSet(const DecisionRule& rule, const TensorView& view, const PositionGrid& g, std::int64_t offset) {
  std::vector<std::int64_t> order = ranked(rule, view, g, offset, rule.k + 1);
  if (order.empty()) return {};
  Choice choice{true, order.front(), {}, kInf, false};
  if (static_cast<std::int64_t>(order.size()) > rule.k) {
    choice.margin = gap(scoreAt(rule, view, g, offset, order[order.size() - 2]), scoreAt(rule, view, g, offset, order.back()));
    choice.tied = choice.margin == 0;
    order.pop_back();
  }
  choice.set = std::move(order);
  return choice;
}

Choice side(const DecisionRule& rule, double score) {
  if (std::isnan(score)) return {};
  const bool above = rule.orEqual ? score >= rule.threshold : score > rule.threshold;
  return {true, above ? 1 : 0, {}, std::fabs(score - rule.threshold), score == rule.threshold};
}

Choice itself(double value) {
  if (std::isnan(value)) return {};
  return {true, static_cast<std::int64_t>(value), {}, kInf, false};
}

std::vector<std::int64_t> stridesOf(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

}  // namespace

PositionGrid positionGrid(const std::vector<std::int64_t>& shape, int sampleAxis, int classAxis) {
  const std::vector<std::int64_t> strides = stridesOf(shape);
  PositionGrid g;
  g.samples = shape[static_cast<std::size_t>(sampleAxis)];
  g.sampleStride = strides[static_cast<std::size_t>(sampleAxis)];
  if (classAxis >= 0) {
    g.classes = shape[static_cast<std::size_t>(classAxis)];
    g.classStride = strides[static_cast<std::size_t>(classAxis)];
  }
  g.within = {0};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<int>(d) == sampleAxis || static_cast<int>(d) == classAxis) continue;
    std::vector<std::int64_t> wider;
    for (const std::int64_t base : g.within)
      for (std::int64_t i = 0; i < shape[d]; ++i) wider.push_back(base + i * strides[d]);
    g.within = std::move(wider);
  }
  g.positions = static_cast<std::int64_t>(g.within.size());
  return g;
}

int classAxisOf(int rank, int sampleAxis, const DecisionRule& rule) {
  if (!rule.hasClasses()) return -1;
  const int wanted = rule.dim.value_or(-1), axis = wanted < 0 ? wanted + rank : wanted;
  return axis < 0 || axis >= rank || axis == sampleAxis ? -2 : axis;
}

double scoreError(double a, double b) {
  if (std::isfinite(a) && std::isfinite(b)) return std::fabs(b - a);
  return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : kInf;
}

Choice choose(const DecisionRule& rule, const TensorView& view, const PositionGrid& grid, std::int64_t offset) {
  switch (rule.kind) {
    case Kind::argmax:
    case Kind::argmin: return bestClass(rule, view, grid, offset);
    case Kind::topk: return bestSet(rule, view, grid, offset);
    case Kind::threshold: return side(rule, elementAt(view, offset));
    case Kind::exact: return itself(elementAt(view, offset));
    case Kind::regression:
    case Kind::none: break;
  }
  return {};
}

MarginElements marginElements(const DecisionRule& rule, const TensorView& view, const PositionGrid& grid, std::int64_t sample) {
  MarginElements smallest;
  double margin = kInf;
  for (std::int64_t p = 0; p < grid.positions; ++p) {
    const std::int64_t offset = grid.offset(sample, p);
    const Choice choice = choose(rule, view, grid, offset);
    if (!choice.decided) return {};
    if (!(choice.margin < margin)) continue;
    margin = choice.margin;
    if (rule.kind == Kind::threshold) {
      smallest = {offset, -1, elementAt(view, offset) < rule.threshold ? -1.0 : 1.0};
      continue;
    }
    const std::int64_t in = rule.kind == Kind::topk ? rule.k : 1;
    const std::vector<std::int64_t> order = ranked(rule, view, grid, offset, in + 1);
    smallest = {offset + order[static_cast<std::size_t>(in - 1)] * grid.classStride, offset + order[static_cast<std::size_t>(in)] * grid.classStride, rule.kind == Kind::argmin ? -1.0 : 1.0};
  }
  return smallest;
}

std::vector<session::ScoredClass> shownScores(const DecisionRule& rule, const TensorView& view, const PositionGrid& grid, std::int64_t offset,
                                              const std::vector<std::string>& classNames) {
  const auto scored = [&](std::int64_t c) {
    const auto at = static_cast<std::size_t>(c);
    return session::ScoredClass{c, at < classNames.size() ? classNames[at] : std::string(), elementAt(view, offset + c * grid.classStride)};
  };
  if (!rule.hasClasses()) return {{choose(rule, view, grid, offset).value, "", elementAt(view, offset)}};
  std::vector<session::ScoredClass> shown;
  const bool set = rule.kind == Kind::topk;
  const std::vector<std::int64_t> order = ranked(rule, view, grid, offset, set ? rule.k + 1 : 2);
  for (std::size_t i = set ? static_cast<std::size_t>(rule.k - 1) : 0; i < order.size(); ++i) shown.push_back(scored(order[i]));
  return shown;
}

}  // namespace ulpscope::analysis
