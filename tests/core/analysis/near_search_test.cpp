// Nearest flips along ways whose boundaries are known in closed form.
#include "core/analysis/near_search.h"
#include "tests/core/analysis/scores_along.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

namespace ulpscope::analysis {
namespace {

// Class 1 beyond each way's boundary.
struct Ways {
  std::vector<double> reference, candidate;
  session::DecisionRule rule = ruleOf("argmax");
  PointReader reader{rule, session::TieRule::first, 0};
  std::size_t looked = 0, calls = 0;

  std::vector<WayResult> search(std::size_t batch = 32) {
    const auto scores = [](const std::vector<double>& boundaries, const std::vector<WayPoint>& points) {
      std::vector<double> all;
      for (const WayPoint& p : points) {
        const double boundary = boundaries[p.way];
        all.push_back(std::isnan(boundary) ? boundary : boundary - static_cast<double>(p.part));
        all.push_back(0);
      }
      return all;
    };
    auto found = searchWays(reference.size(), batch, [&](const std::vector<WayPoint>& points) {
      looked += points.size();
      ++calls;
      const std::vector<double> a = scores(reference, points), b = scores(candidate, points);
      const std::vector<std::int64_t> shape{static_cast<std::int64_t>(points.size()), 2};
      return reader.read({a.data(), base::DType::float64, shape}, {b.data(), base::DType::float64, shape}, shape[0]);
    });
    EXPECT_TRUE(found.ok());
    return std::move(found).value();
  }
};

double beyond(double boundary) { return static_cast<double>(firstFloat([boundary](double t) { return t > boundary; })); }

TEST(NearSearch, FindsTheFirstStepThatFlipsEachRunToTheLastFloat) {
  Ways ways{{0.1, 0.7, 3e-5}, {0.11, 0.65, 3.1e-5}};
  const auto found = ways.search();
  for (std::size_t way = 0; way < 3; ++way) {
    EXPECT_TRUE(found[way].reference.found);
    EXPECT_EQ(found[way].reference.step, beyond(ways.reference[way]));
    EXPECT_EQ(found[way].candidate.step, beyond(ways.candidate[way]));
  }
  EXPECT_LT(ways.calls, 30U) << "all ways at once";
}

TEST(NearSearch, WhatDoesNotFlipUpToTheLimitIsNotFound) {
  Ways ways{{0.5, 1.5}, {1.5, 0.5}};
  const auto found = ways.search();
  EXPECT_TRUE(found[0].reference.found);
  EXPECT_FALSE(found[0].candidate.found);
  EXPECT_TRUE(std::isnan(found[0].candidate.step));
  EXPECT_FALSE(found[1].reference.found);
  EXPECT_TRUE(found[1].candidate.found);
}

TEST(NearSearch, AFlipBelowTheSmallestTriedStepIsFoundToo) {
  Ways ways{{1e-12}, {1e-30}};
  const auto found = ways.search();
  EXPECT_EQ(found[0].reference.step, beyond(1e-12));
  EXPECT_EQ(found[0].candidate.step, beyond(1e-30));
}

TEST(NearSearch, ARunWithoutADecisionFlipsNowhere) {
  Ways ways{{0.5}, {std::numeric_limits<double>::quiet_NaN()}};
  const auto found = ways.search();
  EXPECT_TRUE(found[0].reference.found);
  EXPECT_FALSE(found[0].candidate.found);
  EXPECT_EQ(found[0].start.pair.candidate, session::kNoDecision);
}

// What the margins of both runs are at a part of the one way.
using MarginAt = std::function<double(double)>;
std::vector<WayResult> searchOne(const MarginAt& reference, const MarginAt& candidate) {
  const session::DecisionRule rule = ruleOf("argmax");
  PointReader reader{rule, session::TieRule::first, 0};
  std::size_t looked = 0;
  auto found = searchWays(1, 8, [&](const std::vector<WayPoint>& points) -> base::Result<std::vector<LookedAt>> {
    looked += points.size();
    if (looked > 100000) return base::Error{base::ErrorKind::run, "does not end", "search", ""};
    std::vector<double> a, b;
    for (const WayPoint& p : points) {
      a.insert(a.end(), {reference(static_cast<double>(p.part)), 0});
      b.insert(b.end(), {candidate(static_cast<double>(p.part)), 0});
    }
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(points.size()), 2};
    return reader.read({a.data(), base::DType::float64, shape}, {b.data(), base::DType::float64, shape}, shape[0]);
  });
  EXPECT_TRUE(found.ok()) << found.error().message();
  return found.ok() ? std::move(found).value() : std::vector<WayResult>(1);
}

// The candidate decides otherwise on [0.49, 0.4999] and from 0.8 on. The tried steps see 0.8 alone; the search of the reference's boundary
// then looks into the other piece.
TEST(NearSearch, APieceThatTheOtherRunsSearchLooksIntoIsTheNearest) {
  const auto found = searchOne([](double t) { return t >= 0.495 ? -1.0 : 1.0; }, [](double t) { return (t >= 0.49 && t <= 0.4999) || t >= 0.8 ? -1.0 : 1.0; });
  EXPECT_EQ(found[0].reference.step, static_cast<double>(firstFloat([](double t) { return t >= 0.495; })));
  EXPECT_EQ(found[0].candidate.step, static_cast<double>(firstFloat([](double t) { return t >= 0.49; })));
}

TEST(NearSearch, NoDecisionOnTheWayIsNotOtherwise) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto found = searchOne([&](double t) { return t < 0.55 ? 1.0 : t < 0.65 ? nan : -1.0; }, [](double t) { return t < 0.52 ? 1.0 : -1.0; });
  EXPECT_EQ(found[0].reference.step, static_cast<double>(firstFloat([](double t) { return t >= 0.65; })));
  EXPECT_EQ(found[0].candidate.step, static_cast<double>(firstFloat([](double t) { return t >= 0.52; })));
}

}  // namespace
}  // namespace ulpscope::analysis
