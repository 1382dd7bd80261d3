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

struct Choice {
  bool decided = false;
  std::int64_t value = -1;         // as session::Flip::referenceDecision; of top-k the best class
  std::vector<std::int64_t> set;   // top-k: best first
  double margin = 0;
  bool tied = false;
};
Choice choose(const session::DecisionRule& rule, const TensorView& view, const PositionGrid& grid, std::int64_t offset);

// What a flip shows of the scores (session::Flip::referenceTop).
std::vector<session::ScoredClass> shownScores(const session::DecisionRule& rule, const TensorView& view, const PositionGrid& grid, std::int64_t offset,
                                              const std::vector<std::string>& classNames);

}  // namespace ulpscope::analysis
