#include "core/analysis/regression.h"

#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class Errors {
 public:
  void add(double error) {
    ++m_count;
    m_sum += error;
    m_squares += error * error;
    m_max = std::max(m_max, error);
  }
  std::int64_t count() const { return m_count; }
  double max() const { return m_max; }
  session::ErrorSizes sizes() const {
    if (m_count == 0) return {kNaN, kNaN, kNaN};
    const auto n = static_cast<double>(m_count);
    return {static_cast<double>(m_sum) / n, std::sqrt(static_cast<double>(m_squares) / n), m_max};
  }

 private:
  std::int64_t m_count = 0;
  long double m_sum = 0, m_squares = 0;
  double m_max = 0;
};

struct Walk {
  const DecisionInput& input;
  const PositionGrid& grid;
  const session::SampleSet& samples;
  Errors between = {}, referenceToTarget = {}, candidateToTarget = {};
  RangeSummary reference = emptyRange(), candidate = emptyRange();
  std::int64_t notEvaluated = 0;
  std::string worst = {};

  void element(std::int64_t s, std::int64_t p) {
    const double a = elementAt(input.reference, grid.offset(s, p)), b = elementAt(input.candidate, grid.offset(s, p));
    analysis::add(reference, a);
    analysis::add(candidate, b);
    if (!samples.targets.empty()) {
      const double target = samples.targets[static_cast<std::size_t>(s * grid.positions + p)];
      referenceToTarget.add(std::isfinite(a) ? std::fabs(a - target) : kInf);
      candidateToTarget.add(std::isfinite(b) ? std::fabs(b - target) : kInf);
    }
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ++notEvaluated;
      return;
    }
    if (between.count() == 0 || std::fabs(b - a) > between.max()) worst = samples.ids[static_cast<std::size_t>(s)];
    between.add(std::fabs(b - a));
  }
};

}  // namespace

base::Result<session::Regression> regressionOf(const DecisionInput& input, const PositionGrid& grid, const session::SampleSet& samples) {
  const auto targets = static_cast<std::int64_t>(samples.targets.size());
  if (targets > 0 && targets != grid.samples * grid.positions)
    return base::Error{base::ErrorKind::run, fmt::format("{} for an output of {}", base::counted(targets, "target"), base::counted(grid.samples * grid.positions, "value")),
                       "--decision regression", "give one target for each value of the decision's output"};
  Walk walk{input, grid, samples};
  for (std::int64_t s = 0; s < grid.samples; ++s)
    for (std::int64_t p = 0; p < grid.positions; ++p) walk.element(s, p);
  session::Regression result;
  result.candidateToReference = walk.between.sizes();
  result.elements = walk.between.count();
  result.notEvaluated = walk.notEvaluated;
  result.worstSample = walk.worst;
  result.reference = walk.reference.range;
  result.candidate = walk.candidate.range;
  if (targets > 0) {
    result.referenceToTarget = walk.referenceToTarget.sizes();
    result.candidateToTarget = walk.candidateToTarget.sizes();
  }
  return result;
}

}  // namespace ulpscope::analysis
