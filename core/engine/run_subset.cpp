#include "core/engine/run_subset.h"

#include <cmath>
#include <limits>
#include <unordered_map>

namespace ulpscope::engine {
namespace {

// Numbers among all samples, by number among the chosen ones.
std::vector<std::size_t> placesOf(const session::SampleSet& all, const session::SampleSet& chosen) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < all.ids.size(); ++i) numbers.emplace(all.ids[i], i);
  std::vector<std::size_t> places;
  for (const std::string& id : chosen.ids) places.push_back(numbers.at(id));
  return places;
}

template <typename T>
std::vector<T> spread(const std::vector<T>& cells, std::size_t rows, const std::vector<std::size_t>& places, std::size_t all, T absent) {
  std::vector<T> wide(rows * all, absent);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < places.size(); ++i) wide[row * all + places[i]] = cells[row * places.size() + i];
  return wide;
}

}  // namespace

void spreadOver(const session::SampleSet& all, const session::SampleSet& chosen, RunOutcome& outcome) {
  if (chosen.ids.size() == all.ids.size()) return;  // all of them: everything is in its place
  const std::vector<std::size_t> places = placesOf(all, chosen);
  const std::size_t count = all.ids.size();
  const std::size_t sites = outcome.run.sites.size();
  for (const session::Metric metric : session::allMetrics()) {
    storage::MetricMatrix& matrix = outcome.metrics[metric];
    if (matrix.samples == 0) continue;
    matrix.values = spread(matrix.values, sites, places, count, std::numeric_limits<float>::quiet_NaN());
    matrix.samples = static_cast<std::int64_t>(count);
  }
  outcome.metrics.flags = spread<std::uint8_t>(outcome.metrics.flags, sites, places, count, storage::kCellNotRun);
  const auto place = [&](std::int64_t& sample) {
    if (sample >= 0) sample = static_cast<std::int64_t>(places[static_cast<std::size_t>(sample)]);
  };
  for (session::SiteSummary& site : outcome.run.sites) place(site.worstSample);
  for (session::Flip& flip : outcome.run.flips) place(flip.sample);
  if (outcome.run.decisions.empty()) return;
  const double none = std::nan("");
  outcome.run.decisions = spread(outcome.run.decisions, 1, places, count, session::SampleDecision{none, none, none});
}

}  // namespace ulpscope::engine
