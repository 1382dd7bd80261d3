// From one sample's sums to the numbers that are shown and stored.
#pragma once

#include "core/analysis/divergence.h"
#include "core/session/metric.h"

namespace ulpscope::analysis {

// Every metric of a floating-point pair but introduced and inherited error, which need a third tensor. d: with ULP distances.
// low: float16 or bfloat16. A side without finite elements has no range; distances without a finite pair are not evaluated.
session::MetricValues metricValues(const SampleDivergence& d, base::DType low);

// ||difference|| / norm; norm = 0: 0 if the difference is 0, else +inf.
double relativeTo(double norm, double difference);

}  // namespace ulpscope::analysis
