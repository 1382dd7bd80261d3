// Clocks, pairs that take turns, and the RESULT lines of the benches.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace ulpscope::bench {

struct Cost {
  double cpuSeconds = 0;   // of the whole process
  double wallSeconds = 0;
};

template <typename F>
Cost costOf(F&& body) {
  timespec before{}, after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  const auto start = std::chrono::steady_clock::now();
  body();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  return {static_cast<double>(after.tv_sec - before.tv_sec) + 1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec), wall};
}

// A median and its 95 % interval by order statistics: the true median lies between low and high in 95 of 100 experiments.
struct Spread {
  double median = 0, low = 0, high = 0;
};

inline Spread spreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - 0.98 * std::sqrt(n))));
  return {values[values.size() / 2], values[low], values[values.size() - 1 - low]};
}

inline std::string json(const Spread& s) { return fmt::format(R"({{"median": {:.4g}, "low": {:.4g}, "high": {:.4g}}})", s.median, s.low, s.high); }

struct Ratios {
  std::vector<double> cpu, wall;
};

// candidate() / base(), both warm; the two take turns and change places from pair to pair, so that a machine that slows down slows both.
template <typename Base, typename Candidate>
Ratios measurePairs(int pairs, Base&& base, Candidate&& candidate) {
  Ratios ratios;
  base();
  candidate();
  for (int i = 0; i < pairs; ++i) {
    Cost b, c;
    if (i % 2 == 0) b = costOf(base);
    c = costOf(candidate);
    if (i % 2 != 0) b = costOf(base);
    ratios.cpu.push_back(c.cpuSeconds / b.cpuSeconds);
    ratios.wall.push_back(c.wallSeconds / b.wallSeconds);
  }
  return ratios;
}

struct Bars {
  double cpu = 0;   // 0: none
  double wall = 0;
};

inline bool withinBar(const Spread& spread, double bar) { return bar == 0 || spread.low <= bar; }

inline void printRatios(const std::string& name, const std::string& workload, const Ratios& ratios, Bars bars) {
  const Spread cpu = spreadOf(ratios.cpu), wall = spreadOf(ratios.wall);
  fmt::print("RESULT {{\"name\": \"{}\", \"workload\": \"{}\", \"cpu_ratio\": {}, \"wall_ratio\": {}, \"bar\": {}, \"wall_bar\": {}, \"pairs\": {}, \"holds\": {}}}\n",
             name, workload, json(cpu), json(wall), bars.cpu, bars.wall, ratios.cpu.size(), withinBar(cpu, bars.cpu) && withinBar(wall, bars.wall));
  std::fflush(stdout);
}

inline void printValues(const std::string& name, const std::string& workload, const std::string& unit, const std::vector<double>& values, double bar) {
  const Spread spread = spreadOf(values);
  fmt::print("RESULT {{\"name\": \"{}\", \"workload\": \"{}\", \"unit\": \"{}\", \"value\": {}, \"bar\": {}, \"repetitions\": {}, \"holds\": {}}}\n", name,
             workload, unit, json(spread), bar, values.size(), withinBar(spread, bar));
  std::fflush(stdout);
}

}  // namespace ulpscope::bench
