#include "core/analysis/output_limits.h"

#include "core/analysis/divergence.h"
#include "core/analysis/site_metrics.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// |b - a| over what the tolerance allows at a; +inf where no tolerance allows it.
double overTolerance(double a, double b, const session::Criterion& c) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kInf;
  const double allowed = c.atol + c.rtol * std::fabs(a);
  return allowed > 0 ? std::fabs(b - a) / allowed : kInf;
}

OutputMeasure byTolerance(const JudgedOutput& output, const session::Criterion& c, const SampleLayout& layout) {
  const std::int64_t count = output.reference.elementCount();
  if (count == 0) return {kNaN, -1, ""};
  OutputMeasure worst{0, -1, ""};
  std::int64_t outside = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double over = overTolerance(elementAt(output.reference, i), elementAt(output.candidate, i), c);
    outside += over > 1;
    if (over <= worst.value) continue;
    worst.value = over;
    worst.sample = layout.kind == session::SampleAxis::Kind::wholeBatch ? -1 : layout.sampleOf(i / layout.inner % layout.axis);
  }
  worst.note = fmt::format("{} of {} outside", base::groupedInteger(outside), base::counted(count, "element"));
  if (c.kind == session::Criterion::Kind::shareOutside) worst.value = static_cast<double>(outside) / static_cast<double>(count);
  return worst;
}

// The worst sample's metric; integers and bools have none.
OutputMeasure byMetric(const JudgedOutput& output, const session::Criterion& c, base::DType low, const SampleLayout& layout) {
  OutputMeasure worst{kNaN, -1, ""};
  if (!base::isInexact(output.candidate.dtype)) return worst;
  const auto samples = compareTensors(base::Reference(output.reference), base::Candidate(output.candidate), layout, {low, session::siteTolerance(low), true});
  for (std::size_t s = 0; s < samples.size(); ++s) {
    // An element that is non-finite in one run alone is as wrong as can be.
    const double value = samples[s].candidateOnly.total() > 0 ? (c.atLeast() ? -kInf : kInf) : metricValues(samples[s], low)[c.metric];
    if (std::isnan(value) || !(std::isnan(worst.value) || (c.atLeast() ? value < worst.value : value > worst.value))) continue;
    worst.value = value;
    worst.sample = layout.kind == session::SampleAxis::Kind::wholeBatch ? -1 : static_cast<std::int64_t>(s);
  }
  return worst;
}

}  // namespace

OutputMeasure measureOutput(const JudgedOutput& output, const session::Criterion& criterion, base::DType low, std::size_t samples) {
  const SampleLayout layout = layoutOf(output.reference.shape, output.axis, static_cast<std::int64_t>(samples));
  const bool metric = criterion.kind == session::Criterion::Kind::outputMetric;
  return metric ? byMetric(output, criterion, low, layout) : byTolerance(output, criterion, layout);
}

}  // namespace ulpscope::analysis
