// Pairs with a complex side, in complex<double>. Private to core/analysis.
#pragma once

#include "core/analysis/divergence.h"
#include "core/analysis/divergence_kernel.h"
#include "core/analysis/pair_tiles.h"

#include <complex>
#include <vector>

namespace ulpscope::analysis {

class ComplexComparison {
 public:
  ComplexComparison(const PairParameters& parameters, std::vector<SampleDivergence>& samples) : m_parameters(parameters), m_samples(samples) {}

  void add(std::int64_t sample, const Runs& a, const Runs& b);

 private:
  const PairParameters& m_parameters;
  std::vector<SampleDivergence>& m_samples;

  void addFinite(SampleDivergence& sample, std::complex<double> a, std::complex<double> b) const;
};

}  // namespace ulpscope::analysis
