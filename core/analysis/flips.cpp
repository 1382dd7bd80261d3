#include "core/analysis/flips.h"

#include "core/base/nearest_names.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

using session::Flip;
using session::ScoredClass;
using session::TieRule;

// One position's decision in one run.
struct Choice {
  std::int64_t best = -1;  // -1: no decision
  double margin = std::numeric_limits<double>::quiet_NaN();
  std::int64_t tiedWith = 1;  // classes that share the best score
};

// [outer, samples, positionsInner] with the class axis taken out, as strides into the tensor.
struct Geometry {
  std::int64_t samples = 0, classes = 0, positions = 0;
  std::vector<std::int64_t> offsets;  // [samples x positions]
  std::int64_t classStride = 0;
};

Geometry geometryOf(const TensorView& view, int sampleAxis, int classAxis) {
  const auto rank = static_cast<int>(view.shape.size());
  std::vector<std::int64_t> strides(view.shape.size(), 1);
  for (int d = rank - 2; d >= 0; --d)
    strides[static_cast<std::size_t>(d)] = strides[static_cast<std::size_t>(d + 1)] * view.shape[static_cast<std::size_t>(d + 1)];
  Geometry g;
  g.samples = view.shape[static_cast<std::size_t>(sampleAxis)];
  g.classes = view.shape[static_cast<std::size_t>(classAxis)];
  g.classStride = strides[static_cast<std::size_t>(classAxis)];
  std::vector<std::int64_t> within{0};  // offsets of the positions of sample 0
  for (int d = 0; d < rank; ++d) {
    if (d == sampleAxis || d == classAxis) continue;
    std::vector<std::int64_t> wider;
    for (const std::int64_t base : within)
      for (std::int64_t i = 0; i < view.shape[static_cast<std::size_t>(d)]; ++i) wider.push_back(base + i * strides[static_cast<std::size_t>(d)]);
    within = std::move(wider);
  }
  g.positions = static_cast<std::int64_t>(within.size());
  for (std::int64_t s = 0; s < g.samples; ++s)
    for (const std::int64_t offset : within) g.offsets.push_back(offset + s * strides[static_cast<std::size_t>(sampleAxis)]);
  return g;
}

Choice chooseAt(const TensorView& view, const Geometry& g, std::int64_t offset) {
  Choice choice;
  double best = 0, second = 0;
  for (std::int64_t c = 0; c < g.classes; ++c) {
    const double score = elementAt(view, offset + c * g.classStride);
    if (std::isnan(score)) return Choice{};
    if (choice.best < 0) {
      choice.best = 0;
      best = score;
      second = -std::numeric_limits<double>::infinity();
    } else if (score > best) {
      second = best;
      best = score;
      choice.best = c;
      choice.tiedWith = 1;
    } else {
      if (score == best) ++choice.tiedWith;
      second = std::max(second, score);
    }
  }
  if (choice.best >= 0) choice.margin = best == second ? 0 : best - second;  // inf - inf is a tie, not NaN
  return choice;
}

bool flipped(const Choice& a, const Choice& b, TieRule tie) {
  if (a.best < 0 || b.best < 0) return false;
  if (tie == TieRule::flag && (a.tiedWith > 1) != (b.tiedWith > 1)) return true;
  return a.best != b.best;
}

std::string kindOf(const Choice& a, const Choice& b) {
  if (b.tiedWith > 1 && a.tiedWith == 1) return "tie made";
  if (a.tiedWith > 1 && b.tiedWith == 1) return "tie broken";
  return "changed";
}

std::string effectOf(std::int64_t reference, std::int64_t candidate, std::int64_t label) {
  if (reference == label) return candidate == label ? "" : "regressed";
  return candidate == label ? "fixed" : "wrong to wrong";
}

std::vector<ScoredClass> topTwo(const TensorView& view, const Geometry& g, std::int64_t offset, const std::vector<std::string>& names) {
  std::vector<ScoredClass> all;
  for (std::int64_t c = 0; c < g.classes; ++c) {
    const auto at = static_cast<std::size_t>(c);
    all.push_back({c, at < names.size() ? names[at] : std::string(), elementAt(view, offset + c * g.classStride)});
  }
  const auto end = all.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const ScoredClass& a, const ScoredClass& b) {
    return a.score != b.score ? a.score > b.score : a.index < b.index;
  });
  all.erase(end, all.end());
  return all;
}

double smaller(double a, double b) { return std::isnan(a) || b < a ? b : a; }

struct SampleWalk {
  const DecisionInput& input;
  const session::SampleSet& samples;
  const Geometry& geometry;
  TieRule tie;

  void operator()(std::int64_t s, DecisionResult& result) const {
    Flip flip;
    session::SampleDecision decision{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    bool candidateNaN = false, referenceNaN = false, tied = false;
    std::int64_t firstOffset = -1;
    for (std::int64_t p = 0; p < geometry.positions; ++p) {
      const std::int64_t offset = geometry.offsets[static_cast<std::size_t>(s * geometry.positions + p)];
      const Choice a = chooseAt(input.reference, geometry, offset);
      const Choice b = chooseAt(input.candidate, geometry, offset);
      referenceNaN |= a.best < 0;
      candidateNaN |= b.best < 0;
      tied |= a.tiedWith > 1 || b.tiedWith > 1;
      if (a.best >= 0) decision.referenceMargin = smaller(decision.referenceMargin, a.margin);
      if (b.best >= 0) decision.candidateMargin = smaller(decision.candidateMargin, b.margin);
      if (!flipped(a, b, tie)) continue;
      if (geometry.positions > 1) flip.positions.push_back(p);
      if (firstOffset >= 0) continue;
      firstOffset = offset;
      flip.referenceDecision = a.best;
      flip.candidateDecision = b.best;
      flip.referenceMargin = a.margin;
      flip.candidateMargin = b.margin;
      flip.kind = kindOf(a, b);
    }
    const std::string& id = samples.ids[static_cast<std::size_t>(s)];
    result.ties += tied;
    if (referenceNaN) result.referenceNoDecision.push_back(id);
    if (candidateNaN) {
      result.noDecision.push_back(id);
      decision.candidateMargin = std::numeric_limits<double>::quiet_NaN();
    }
    result.decisions.push_back(decision);
    if (firstOffset < 0) return;
    flip.sampleId = id;
    flip.sample = s;
    flip.referenceTop = topTwo(input.reference, geometry, firstOffset, samples.classNames);
    flip.candidateTop = topTwo(input.candidate, geometry, firstOffset, samples.classNames);
    if (geometry.positions == 1 && static_cast<std::size_t>(s) < samples.labels.size())
      flip.effect = effectOf(flip.referenceDecision, flip.candidateDecision, samples.labels[static_cast<std::size_t>(s)]);
    result.flips.push_back(std::move(flip));
  }
};

}  // namespace

base::Result<DecisionResult> argmaxFlips(const DecisionInput& input, const session::SampleSet& samples, TieRule tie) {
  const auto rank = static_cast<int>(input.reference.shape.size());
  const int classAxis = input.classAxis < 0 ? input.classAxis + rank : input.classAxis;
  if (classAxis < 0 || classAxis >= rank)
    return base::Error{base::ErrorKind::usage, fmt::format("dimension {} does not exist in an output of {} dimensions", input.classAxis, rank),
                       "--decision argmax", "choose argmax:DIM with the dimension that counts classes"};
  if (classAxis == input.sampleAxis)
    return base::Error{base::ErrorKind::usage, fmt::format("dimension {} counts the samples, not classes", classAxis),
                       "--decision argmax", "choose argmax:DIM with the dimension that counts classes"};
  const Geometry geometry = geometryOf(input.reference, input.sampleAxis, classAxis);
  ULPSCOPE_CHECK(static_cast<std::size_t>(geometry.samples) == samples.ids.size());
  if (geometry.classes < 1)
    return base::Error{base::ErrorKind::run, "has no classes to decide between", "the decision's output", "choose another --decision-output"};
  DecisionResult result;
  const SampleWalk walk{input, samples, geometry, tie};
  for (std::int64_t s = 0; s < geometry.samples; ++s) walk(s, result);
  if (tie == TieRule::refuse && result.ties > 0)
    return base::Error{base::ErrorKind::run, fmt::format("{} tied for the best score, and the tie rule is 'refuse'", base::counted(result.ties, "sample")),
                       "decisions", "choose --tie first or --tie flag"};
  return result;
}

}  // namespace ulpscope::analysis
