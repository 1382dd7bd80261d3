#include "core/analysis/decisions.h"

#include "core/analysis/choice.h"
#include "core/analysis/regression.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using session::DecisionRule;
using session::Flip;
using session::TieRule;
using Kind = DecisionRule::Kind;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool flipped(const Choice& a, const Choice& b, TieRule tie) {
  if (!a.decided || !b.decided) return false;
  if (tie == TieRule::flag && a.tied != b.tied) return true;
  if (a.set.empty()) return a.value != b.value;
  return !std::is_permutation(a.set.begin(), a.set.end(), b.set.begin(), b.set.end());
}

std::string kindOf(const Choice& a, const Choice& b) {
  if (b.tied && !a.tied) return "tie made";
  if (a.tied && !b.tied) return "tie broken";
  return "changed";
}

bool isCorrect(const Choice& choice, std::int64_t label) {
  if (!choice.decided) return false;
  return choice.set.empty() ? choice.value == label : std::find(choice.set.begin(), choice.set.end(), label) != choice.set.end();
}

std::string effectOf(bool referenceCorrect, bool candidateCorrect) {
  if (referenceCorrect) return candidateCorrect ? "" : "regressed";
  return candidateCorrect ? "fixed" : "wrong to wrong";
}

double smaller(double a, double b) { return std::isnan(a) || b < a ? b : a; }

// The best of a set that is not in the other one; without sets the decision itself.
std::int64_t leading(const Choice& choice, const Choice& other) {
  for (const std::int64_t c : choice.set)
    if (std::find(other.set.begin(), other.set.end(), c) == other.set.end()) return c;
  return choice.value;
}

struct SampleWalk {
  const DecisionInput& input;
  const DecisionRule& rule;
  const session::SampleSet& samples;
  const PositionGrid& grid;
  TieRule tie;

  // Labels say something of samples with one decision.
  bool labelled(std::int64_t s) const { return grid.positions == 1 && static_cast<std::size_t>(s) < samples.labels.size(); }

  double maxError(std::int64_t s) const {
    double largest = 0;
    for (std::int64_t p = 0; p < grid.positions; ++p)
      for (std::int64_t c = 0; c < grid.classes; ++c) {
        const std::int64_t at = grid.offset(s, p) + c * grid.classStride;
        largest = std::max(largest, scoreError(elementAt(input.reference, at), elementAt(input.candidate, at)));
      }
    return largest;
  }

  void describe(Flip& flip, std::int64_t s, std::int64_t offset, const Choice& a, const Choice& b) const {
    flip.sampleId = samples.ids[static_cast<std::size_t>(s)];
    flip.sample = s;
    flip.referenceDecision = leading(a, b);
    flip.candidateDecision = leading(b, a);
    flip.referenceSet = a.set;
    flip.candidateSet = b.set;
    flip.referenceMargin = a.margin;
    flip.candidateMargin = b.margin;
    flip.kind = kindOf(a, b);
    flip.referenceTop = shownScores(rule, input.reference, grid, offset, samples.classNames);
    flip.candidateTop = shownScores(rule, input.candidate, grid, offset, samples.classNames);
    if (!labelled(s)) return;
    const std::int64_t label = samples.labels[static_cast<std::size_t>(s)];
    flip.effect = effectOf(isCorrect(a, label), isCorrect(b, label));
  }

  void judge(std::int64_t s, const Choice& a, const Choice& b, DecisionResult& result) const {
    if (!labelled(s)) return;
    if (!result.quality) result.quality.emplace();
    const std::int64_t label = samples.labels[static_cast<std::size_t>(s)];
    ++result.quality->labelled;
    result.quality->referenceCorrect += isCorrect(a, label);
    result.quality->candidateCorrect += isCorrect(b, label);
  }

  void operator()(std::int64_t s, DecisionResult& result) const {
    Flip flip;
    session::SampleDecision decision{kNaN, kNaN, maxError(s)};
    bool candidateMissing = false, referenceMissing = false, tied = false, found = false;
    for (std::int64_t p = 0; p < grid.positions; ++p) {
      const Choice a = choose(rule, input.reference, grid, grid.offset(s, p));
      const Choice b = choose(rule, input.candidate, grid, grid.offset(s, p));
      referenceMissing |= !a.decided;
      candidateMissing |= !b.decided;
      tied |= a.tied || b.tied;
      if (a.decided) decision.referenceMargin = smaller(decision.referenceMargin, a.margin);
      if (b.decided) decision.candidateMargin = smaller(decision.candidateMargin, b.margin);
      judge(s, a, b, result);
      if (!flipped(a, b, tie)) continue;
      if (grid.positions > 1) flip.positions.push_back(p);
      if (!found) describe(flip, s, grid.offset(s, p), a, b);
      found = true;
    }
    const std::string& id = samples.ids[static_cast<std::size_t>(s)];
    result.ties += tied;
    if (referenceMissing) result.referenceNoDecision.push_back(id);
    if (candidateMissing) {
      result.noDecision.push_back(id);
      decision.candidateMargin = kNaN;
    }
    result.decisions.push_back(decision);
    if (found) result.flips.push_back(std::move(flip));
  }
};

base::Result<int> checkedClassAxis(const DecisionInput& input, const DecisionRule& rule) {
  if (!rule.hasClasses()) return -1;
  const auto rank = static_cast<int>(input.reference.shape.size());
  const int wanted = rule.dim.value_or(-1);
  const int axis = wanted < 0 ? wanted + rank : wanted;
  const std::string which = "--decision " + rule.text();
  const std::string remedy = fmt::format("name the dimension that counts classes, for instance {}:1", rule.kind == Kind::topk ? fmt::format("topk:{}", rule.k) : rule.kind == Kind::argmin ? "argmin" : "argmax");
  if (axis < 0 || axis >= rank) return Error{ErrorKind::usage, fmt::format("dimension {} does not exist in an output of {} dimensions", wanted, rank), which, remedy};
  if (axis == input.sampleAxis) return Error{ErrorKind::usage, fmt::format("dimension {} counts the samples, not classes", axis), which, remedy};
  return axis;
}

base::Status checkClasses(const PositionGrid& grid, const DecisionRule& rule) {
  if (grid.classes < 1) return Error{ErrorKind::run, "has no classes to decide between", "the decision's output", "choose another --decision-output"};
  if (rule.kind == Kind::topk && rule.k > grid.classes)
    return Error{ErrorKind::usage, fmt::format("the output has {} {}, fewer than the set", grid.classes, grid.classes == 1 ? "class" : "classes"), "--decision " + rule.text(), "choose a smaller k"};
  return base::success();
}

// 2^53 and beyond a double holds no fractions, and not all whole numbers.
base::Status checkWhole(const TensorView& view) {
  if (!base::isInexact(view.dtype)) return base::success();
  for (std::int64_t i = 0; i < view.elementCount(); ++i) {
    const double x = elementAt(view, i);
    if (std::isnan(x) || (std::isfinite(x) && x == std::trunc(x) && std::fabs(x) < 0x1p53)) continue;
    return Error{ErrorKind::run, fmt::format("holds {}, which is no whole number", base::shortNumber(x)), "--decision exact", "use threshold:T or regression for scores"};
  }
  return base::success();
}

base::Status check(const DecisionInput& input, const DecisionRule& rule, const PositionGrid& grid) {
  if (auto classes = checkClasses(grid, rule); !classes) return classes;
  if (rule.kind != Kind::exact) return base::success();
  if (auto whole = checkWhole(input.reference); !whole) return whole;
  return checkWhole(input.candidate);
}

}  // namespace

base::Result<DecisionResult> decide(const DecisionInput& input, const DecisionRule& rule, const session::SampleSet& samples, TieRule tie) {
  const auto axis = checkedClassAxis(input, rule);
  if (!axis) return axis.error();
  const PositionGrid grid = positionGrid(input.reference.shape, input.sampleAxis, axis.value());
  ULPSCOPE_CHECK(static_cast<std::size_t>(grid.samples) == samples.ids.size());
  DecisionResult result;
  if (rule.kind == Kind::regression) {
    auto regression = regressionOf(input, grid, samples);
    if (!regression) return regression.error();
    result.regression = std::move(regression).value();
    return result;
  }
  if (auto checked = check(input, rule, grid); !checked) return checked.error();
  const SampleWalk walk{input, rule, samples, grid, tie};
  for (std::int64_t s = 0; s < grid.samples; ++s) walk(s, result);
  if (tie == TieRule::refuse && result.ties > 0)
    return Error{ErrorKind::run, fmt::format("{} tied for the best score, and the tie rule is 'refuse'", base::counted(result.ties, "sample")), "decisions",
                 "choose --tie first or --tie flag"};
  return result;
}

}  // namespace ulpscope::analysis
