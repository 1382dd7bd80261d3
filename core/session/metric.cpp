#include "core/session/metric.h"

namespace ulpscope::session {
namespace {

enum class Worse { larger, smaller };
struct Info {
  const char* key;
  const char* label;
  const char* unit;
  Worse worse;
};

constexpr std::array<Info, kMetricCount> kInfo{{
    {"rel_l2", "relative L2 error", "", Worse::larger},
    {"max_abs", "max abs error", "", Worse::larger},
    {"mean_abs", "mean abs error", "", Worse::larger},
    {"max_rel", "max relative error", "", Worse::larger},
    {"cosine_distance", "cosine distance", "", Worse::larger},
    {"sqnr_db", "SQNR", "dB", Worse::smaller},
    {"max_ulp", "max ULP distance", "ULP", Worse::larger},
    {"share_over_tolerance", "share outside tolerance", "", Worse::larger},
    {"introduced_rel_l2", "introduced error", "", Worse::larger},
    {"inherited_rel_l2", "inherited error", "", Worse::larger},
    {"reference_min", "min, FP32", "", Worse::smaller},
    {"reference_max", "max, FP32", "", Worse::larger},
    {"reference_max_abs", "max |x|, FP32", "", Worse::larger},
    {"reference_smallest", "smallest non-zero |x|, FP32", "", Worse::smaller},
    {"candidate_min", "min, candidate", "", Worse::smaller},
    {"candidate_max", "max, candidate", "", Worse::larger},
    {"candidate_max_abs", "max |x|, candidate", "", Worse::larger},
    {"candidate_smallest", "smallest non-zero |x|, candidate", "", Worse::smaller},
    {"headroom_bits", "headroom", "bits", Worse::smaller},
    {"share_subnormal_reference", "share subnormal, FP32", "", Worse::larger},
    {"share_subnormal_candidate", "share subnormal, candidate", "", Worse::larger},
    {"share_flushed", "share flushed to zero", "", Worse::larger},
}};

const Info& infoOf(Metric metric) { return kInfo[static_cast<std::size_t>(metric)]; }

constexpr std::array<Metric, kMetricCount> everyMetric() {
  std::array<Metric, kMetricCount> all{};
  for (std::size_t i = 0; i < kMetricCount; ++i) all[i] = static_cast<Metric>(i);
  return all;
}
constexpr std::array<Metric, kMetricCount> kAll = everyMetric();

}  // namespace

const std::array<Metric, kMetricCount>& allMetrics() { return kAll; }

std::string key(Metric metric) { return infoOf(metric).key; }
std::string label(Metric metric) { return infoOf(metric).label; }
std::string unit(Metric metric) { return infoOf(metric).unit; }
bool smallerIsWorse(Metric metric) { return infoOf(metric).worse == Worse::smaller; }

void MetricValues::takeWorse(const MetricValues& other) {
  for (const Metric metric : kAll) {
    double& mine = (*this)[metric];
    const double theirs = other[metric];
    const bool worse = smallerIsWorse(metric) ? theirs < mine : theirs > mine;  // false where one is NaN
    if (worse || !has(metric)) mine = theirs;
  }
}

}  // namespace ulpscope::session
