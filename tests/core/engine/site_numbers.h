// Per-sample numbers of a run against those that a fixture's expected.json has from numpy.
#pragma once

#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace ulpscope::tests {

inline engine::RunOutcome runOf(const session::RunRequest& request) {
  engine::Engine engine;
  auto outcome = engine.run(request, {}, {});
  EXPECT_TRUE(outcome.ok()) << outcome.error().message();
  return outcome.ok() ? std::move(outcome).value() : engine::RunOutcome{};
}

// The nth (from 0) site of an op in a module, in execution order; -1 and a failure: none.
inline std::int64_t siteAt(const engine::RunOutcome& outcome, const std::string& module, const std::string& op, int nth = 0) {
  for (std::size_t i = 0; i < outcome.run.sites.size(); ++i) {
    const auto& site = outcome.run.sites[i];
    if (site.modulePath == module && site.op == op && nth-- == 0) return static_cast<std::int64_t>(i);
  }
  ADD_FAILURE() << "no such site: " << op << " in '" << module << "'";
  return -1;
}

inline std::int64_t siteAt(const engine::RunOutcome& outcome, const nlohmann::json& wanted) {
  return siteAt(outcome, wanted.at("module"), wanted.at("op"), wanted.at("nth").get<int>());
}

// Cells are float32: equal to numpy's float64 to its rounding.
inline void expectCells(const storage::MetricMatrix& found, std::int64_t site, const nlohmann::json& expected, const std::string& what) {
  for (std::size_t sample = 0; sample < expected.size(); ++sample) {
    const double b = found.at(site, static_cast<std::int64_t>(sample));
    if (expected[sample].is_number())
      EXPECT_NEAR(b, expected[sample].get<double>(), 1e-7 * expected[sample].get<double>()) << what << " of sample " << sample;
    else if (expected[sample] == "NaN")
      EXPECT_TRUE(std::isnan(b)) << what << " of sample " << sample;
    else
      EXPECT_EQ(b, INFINITY) << what << " of sample " << sample;
  }
}

// By value: a loop over a member of what expectedOf returns would outlive it.
inline nlohmann::json sitesOf(const std::string& fixture) { return expectedOf(fixture).at("sites"); }

// max_abs and rel_l2 of one entry of expected.json's "sites"; entries without numbers expect nothing.
inline void expectNumbers(const engine::RunOutcome& outcome, const nlohmann::json& expected) {
  const std::int64_t site = siteAt(outcome, expected);
  if (site < 0 || !expected.contains("max_abs")) return;
  const std::string where = expected.at("op").get<std::string>() + " in '" + expected.at("module").get<std::string>() + "', ";
  expectCells(outcome.metrics[session::Metric::maxAbs], site, expected.at("max_abs"), where + "max_abs");
  expectCells(outcome.metrics[session::Metric::relL2], site, expected.at("rel_l2"), where + "rel_l2");
}

// {metric: [per sample]} and the worst of each in the summary.
inline void expectMetrics(const engine::RunOutcome& outcome, std::int64_t site, const nlohmann::json& expected) {
  for (const auto& [key, values] : expected.items()) {
    const auto metric = std::find_if(session::allMetrics().begin(), session::allMetrics().end(), [&k = key](session::Metric m) { return session::key(m) == k; });
    ASSERT_NE(metric, session::allMetrics().end()) << key;
    double worst = std::nan("");
    for (std::size_t s = 0; s < values.size(); ++s) {
      const double wanted = values[s];
      EXPECT_NEAR(outcome.metrics[*metric].at(site, static_cast<std::int64_t>(s)), wanted, 1e-6 * std::fabs(wanted) + 1e-12) << key << ", sample " << s;
      const bool worse = session::smallerIsWorse(*metric) ? wanted < worst : wanted > worst;
      if (worse || std::isnan(worst)) worst = wanted;
    }
    EXPECT_NEAR(outcome.run.sites[static_cast<std::size_t>(site)].values[*metric], worst, 1e-9 * std::fabs(worst) + 1e-12) << key;
  }
}

}  // namespace ulpscope::tests
