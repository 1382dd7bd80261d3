#include "core/session/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace ulpscope::session {
namespace {

TEST(Metric, KeysAndLabelsAreAllDifferent) {
  std::set<std::string> keys, labels;
  for (const Metric metric : allMetrics()) {
    keys.insert(key(metric));
    labels.insert(label(metric));
  }
  EXPECT_EQ(keys.size(), kMetricCount);
  EXPECT_EQ(labels.size(), kMetricCount);
}

TEST(MetricValues, KeepTheWorseOfTwo) {
  MetricValues a, b;
  a[Metric::relL2] = 1;
  b[Metric::relL2] = 2;
  a[Metric::sqnr] = 60;  // less is worse
  b[Metric::sqnr] = 40;
  a[Metric::referenceMin] = -3;
  b[Metric::referenceMin] = -1;
  a.takeWorse(b);
  EXPECT_EQ(a[Metric::relL2], 2);
  EXPECT_EQ(a[Metric::sqnr], 40);
  EXPECT_EQ(a[Metric::referenceMin], -3);
}

TEST(MetricValues, ThatWereNotEvaluatedNeverWin) {
  MetricValues a, b;
  a[Metric::relL2] = 1;
  b[Metric::maxUlp] = std::numeric_limits<double>::infinity();
  a.takeWorse(b);
  EXPECT_EQ(a[Metric::relL2], 1);
  EXPECT_EQ(a[Metric::maxUlp], std::numeric_limits<double>::infinity());
  EXPECT_FALSE(a.has(Metric::sqnr));
}

}  // namespace
}  // namespace ulpscope::session
