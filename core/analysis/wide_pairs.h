// Pairs with a float64 or integer side, in double. Private to core/analysis.
#pragma once

#include "core/analysis/divergence.h"
#include "core/analysis/divergence_kernel.h"
#include "core/analysis/pair_tiles.h"

#include <vector>

namespace ulpscope::analysis {

// Counts of a pair of which one at least is not finite.
void countNonfinite(SampleDivergence& sample, double a, double b);

class WideComparison {
 public:
  WideComparison(const PairParameters& parameters, std::vector<SampleDivergence>& samples) : m_parameters(parameters), m_samples(samples) {}

  void add(std::int64_t sample, const Runs& a, const Runs& b);

 private:
  const PairParameters& m_parameters;
  std::vector<SampleDivergence>& m_samples;
  TileBuffer m_joinedA, m_joinedB, m_wideA, m_wideB;
};

}  // namespace ulpscope::analysis
