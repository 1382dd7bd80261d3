// The numbers of one op site: what each is called, and which of two values is the worse.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace ulpscope::session {

// Formulas: core/analysis/divergence.h. Introduced and inherited error: ||op_policy(x) - op_fp32(x)|| and ||b - op_policy(x)||,
// both over ||a||, where x are the reference's inputs in the dtypes that arrived in the candidate.
enum class Metric {
  relL2,
  maxAbs,
  meanAbs,
  maxRel,
  cosineDistance,
  sqnr,  // dB
  maxUlp,
  shareOverTolerance,
  introducedRelL2,
  inheritedRelL2,
  referenceMin,
  referenceMax,
  referenceMaxAbs,
  referenceSmallest,  // smallest non-zero magnitude
  candidateMin,
  candidateMax,
  candidateMaxAbs,
  candidateSmallest,
  headroomBits,  // log2(largest finite value of the low format / the reference's largest magnitude)
  shareSubnormalReference,
  shareSubnormalCandidate,
  shareFlushed,
};
inline constexpr std::size_t kMetricCount = static_cast<std::size_t>(Metric::shareFlushed) + 1;
const std::array<Metric, kMetricCount>& allMetrics();

std::string key(Metric metric);    // "rel_l2": in JSON, columns and files
std::string label(Metric metric);  // "relative L2 error": the same words in every place
std::string unit(Metric metric);   // "dB", "bits", "" for most
bool smallerIsWorse(Metric metric);

// NaN: not evaluated.
class MetricValues {
 public:
  MetricValues() { m_values.fill(std::numeric_limits<double>::quiet_NaN()); }
  double& operator[](Metric metric) { return m_values[static_cast<std::size_t>(metric)]; }
  double operator[](Metric metric) const { return m_values[static_cast<std::size_t>(metric)]; }
  bool has(Metric metric) const { return !((*this)[metric] != (*this)[metric]); }
  // Each number becomes the worse of the two; one that was not evaluated never wins.
  void takeWorse(const MetricValues& other);

 private:
  std::array<double, kMetricCount> m_values;
};

}  // namespace ulpscope::session
