#include "core/analysis/site_metrics.h"

#include "core/base/float_formats.h"

#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

using session::Metric;
using session::MetricValues;

struct SideMetrics {
  Metric min, max, maxAbs, smallest;
};

void setRange(MetricValues& values, const SideMetrics& to, const SideRange& range, double maxAbs) {
  if (std::isnan(range.max)) return;  // nothing is finite
  values[to.min] = range.min;
  values[to.max] = range.max;
  values[to.maxAbs] = maxAbs;
  values[to.smallest] = range.smallestNonZero;
}

}  // namespace

double relativeTo(double norm, double difference) {
  if (difference == 0) return 0;
  return norm == 0 ? std::numeric_limits<double>::infinity() : difference / norm;
}

MetricValues metricValues(const SampleDivergence& d, base::DType low) {
  MetricValues values;
  if (d.finitePairs > 0) {
    values[Metric::relL2] = d.relL2();
    values[Metric::maxAbs] = d.maxAbsOrNan();
    values[Metric::meanAbs] = d.meanAbs();
    values[Metric::maxRel] = d.maxRel;
    values[Metric::cosineDistance] = d.cosineDistance();
    values[Metric::sqnr] = d.sqnrDecibels();
    values[Metric::maxUlp] = static_cast<double>(d.maxUlp);
  }
  setRange(values, {Metric::referenceMin, Metric::referenceMax, Metric::referenceMaxAbs, Metric::referenceSmallest}, d.referenceRange, d.referenceMaxAbs);
  setRange(values, {Metric::candidateMin, Metric::candidateMax, Metric::candidateMaxAbs, Metric::candidateSmallest}, d.candidateRange, d.candidateMaxAbs);
  if (d.referenceMaxAbs > 0) values[Metric::headroomBits] = std::log2(base::limits(low).maxFinite / d.referenceMaxAbs);
  values[Metric::shareOverTolerance] = d.shareOverTolerance();
  values[Metric::shareSubnormalReference] = d.shareSubnormalReference();
  values[Metric::shareSubnormalCandidate] = d.shareSubnormalCandidate();
  values[Metric::shareFlushed] = d.shareFlushedToZero();
  return values;
}

}  // namespace ulpscope::analysis
