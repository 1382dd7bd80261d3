#include "core/analysis/decided.h"

#include "core/analysis/choice.h"

#include <algorithm>

namespace ulpscope::analysis {

std::vector<std::vector<std::int64_t>> decidedIn(const TensorView& scores, int sampleAxis, const session::DecisionRule& rule) {
  const int rank = static_cast<int>(scores.shape.size());
  if (sampleAxis < 0 || sampleAxis >= rank) return {};
  std::vector<std::vector<std::int64_t>> decided(static_cast<std::size_t>(scores.shape[static_cast<std::size_t>(sampleAxis)]));
  const int classAxis = classAxisOf(rank, sampleAxis, rule);
  if (!rule.decides() || classAxis < -1) return decided;
  const PositionGrid grid = positionGrid(scores.shape, sampleAxis, classAxis);
  if (grid.positions != 1 || grid.classes < 1) return decided;
  for (std::int64_t sample = 0; sample < grid.samples; ++sample) {
    Choice choice = choose(rule, scores, grid, grid.offset(sample, 0));
    if (!choice.decided) continue;
    if (choice.set.empty()) choice.set = {choice.value};
    std::sort(choice.set.begin(), choice.set.end());
    decided[static_cast<std::size_t>(sample)] = std::move(choice.set);
  }
  return decided;
}

}  // namespace ulpscope::analysis
