// One position's decision by a rule, in one run. Private to core/analysis.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/base/error.h"
#include "core/session/decisions.h"

#include <string>
#include <vector>

namespace ulpscope::analysis {

// Where the positions of samples lie in a tensor, with the axis of the classes taken out.
struct PositionGrid {
  std::int64_t samples = 0, classes = 1, positions = 0;  // positions: of one sample
  std::vector<std::int64_t> within;                      // [positions] element numbers, of sample 0
  std::int64_t sampleStride = 0, classStride = 0;

  std::int64_t offset(std::int64_t sample, std::int64_t position) const { return sample * sampleStride + within[static_cast<std::size_t>(position)]; }
};
// classAxis -1: every element is a position. Precondition: the axes exist and differ.
PositionGrid positionGrid(const std::vector<std::int64_t>& shape, int sampleAxis, int classAxis);

// The rule's axis of classes; -1: it has none; -2: the tensor has no such axis, or it counts the samples.
int classAxisOf(int rank, int sampleAxis, const session::DecisionRule& rule);

// |b - a| of two runs' scores; 0 where both are the same infinity or NaN, +inf where one alone is finite.
double scoreError(double a, double b);

struct Choice {
  bool decided = false;
  std::int64_t value = -1;         // as session::Flip::referenceDecision; of top-k the best class
  std::vector<std::int64_t> set;   // top-k: best first
  double margin = 0;
  bool tied = false;
};
Choice choose(const session::DecisionRule& rule, const TensorView& view, const PositionGrid& grid, std::int64_t offset);

// The scores that a sample's margin is the difference of: sign * (score[above] - score[below]), at the position where it is smallest.
struct MarginElements {
  std::int64_t above = -1;  // element number; -1: the sample has no margin (no decision, one class, rule exact)
  std::int64_t below = -1;  // -1: the threshold
  double sign = 1;
};
MarginElements marginElements(const session::DecisionRule& rule, const TensorView& view, const PositionGrid& grid, std::int64_t sample);

// What a flip shows of the scores (session::Flip::referenceTop).
std::vector<session::ScoredClass> shownScores(const session::DecisionRule& rule, const TensorView& view, const PositionGrid& grid, std::int64_t offset,
                                              const std::vector<std::string>& classNames);

}  // namespace ulpscope::analysis
