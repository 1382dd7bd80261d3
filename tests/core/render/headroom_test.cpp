// Limits of binary16: 65504, 2^-14, 2^-24 (IEEE 754-2019, table 3.5); log10 of them 4.816, -4.214, -7.225.
#include "core/render/headroom.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::render {
namespace {

using base::DType;
using session::Metric;

session::SiteSummary site(double maxAbs, double smallest, DType dtype = DType::float16) {
  session::SiteSummary s;
  s.modulePath = "m";
  s.op = "aten::linear";
  s.candidateDtype = dtype;
  s.values[Metric::referenceMaxAbs] = maxAbs;
  s.values[Metric::candidateMaxAbs] = maxAbs;
  s.values[Metric::referenceSmallest] = s.values[Metric::candidateSmallest] = smallest;
  s.values[Metric::headroomBits] = std::log2(65504 / maxAbs);
  return s;
}

TEST(Headroom, TellsWhatOverflowsFromWhatIsCloseToIt) {
  EXPECT_EQ(headroomState(site(100, 1), DType::float16), HeadroomState::ample);
  EXPECT_EQ(headroomState(site(32752, 1), DType::float16), HeadroomState::ample) << "exactly 1 bit";
  EXPECT_EQ(headroomState(site(32753, 1), DType::float16), HeadroomState::tight);
  EXPECT_EQ(headroomState(site(65504, 1), DType::float16), HeadroomState::tight) << "the largest value itself fits";
  EXPECT_EQ(headroomState(site(81920, 1), DType::float16), HeadroomState::overflow);
  EXPECT_EQ(headroomState(site(81920, 1, DType::float32), DType::float16), HeadroomState::beyond);
  session::SiteSummary inf = site(100, 1);
  inf.candidateOnly.minusInf = 1;
  EXPECT_EQ(headroomState(inf, DType::float16), HeadroomState::overflow) << "whatever FP32's range is";
}

TEST(Headroom, LeavesOutWhatHasNoRange) {
  session::RunRecord run;
  run.sites = {site(1, 1), site(2, 1), site(3, 1), site(4, 1)};
  run.sites[1].viewOf = "m: x";
  run.sites[2].candidateDtype = DType::int64;
  run.sites[3].values[Metric::referenceMaxAbs] = run.sites[3].values[Metric::candidateMaxAbs] = std::nan("");
  const auto sites = headroomSites(run);
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_EQ(sites[0].site, 0);
  run.sites[3].values[Metric::referenceMaxAbs] = 8;
  EXPECT_EQ(headroomSites(run).back().site, 3) << "a candidate that is NaN throughout still has FP32's range";
}

TEST(Headroom, FindsTheSameSiteInAnotherRun) {
  session::RunRecord a, b;
  b.sites = {site(1, 1), site(2, 1), site(3, 1)};
  b.sites[1].occurrence = 2;
  b.sites[2].modulePath = "n";
  a.sites = {b.sites[2], b.sites[0]};
  a.sites[0].values[Metric::candidateMaxAbs] = 30;
  a.sites[1].values[Metric::candidateMaxAbs] = 10;
  const auto maxima = candidateMaxima(b, headroomSites(b), a);
  ASSERT_EQ(maxima.size(), 3U);
  EXPECT_EQ(maxima[0], 10);
  EXPECT_TRUE(std::isnan(maxima[1])) << "the second occurrence is not the first";
  EXPECT_EQ(maxima[2], 30);
}

TEST(Headroom, ShowsTheLimitsThatAreNear) {
  session::RunRecord run;
  run.sites = {site(1000, 1e-3)};
  HeadroomAxis axis = headroomAxis(headroomSites(run), DType::float16);
  EXPECT_NEAR(axis.high, 4.816 + 0.6, 1e-3);
  EXPECT_NEAR(axis.low, -4.214 - 0.6, 1e-3) << "2^-24 is more than four decades below 1e-3";
  axis = headroomAxis(headroomSites(run), DType::bfloat16);
  EXPECT_NEAR(axis.high, 3 + 0.6, 1e-12) << "3.4e38 would leave the values no room";
  EXPECT_NEAR(axis.low, -3 - 0.6, 1e-12);
}

// 2^-149, the smallest float32, is 1.4e-45: 37 decades below anything that binary16 can tell from 0.
TEST(Headroom, EndsADecadeBelowTheSmallestSubnormalAndCountsWhatLiesBelow) {
  session::RunRecord run;
  run.sites = {site(1000, 1.4e-45), site(10, 1e-3), site(0, std::nan("")), site(1e-12, 1e-13)};
  const auto sites = headroomSites(run);
  const HeadroomAxis axis = headroomAxis(sites, DType::float16);
  EXPECT_NEAR(axis.low, -7.225 - 1, 1e-3);
  EXPECT_EQ(axis.below, 2);
  EXPECT_EQ(axis.zeros, 1);
  EXPECT_TRUE(isBelow(sites[0], axis));
  EXPECT_FALSE(isBelow(sites[1], axis));
  EXPECT_FALSE(isBelow(sites[2], axis)) << "0 is no small value";
  EXPECT_TRUE(isZeros(sites[2]));
  // bfloat16's smallest subnormal is 2^-133 = 9.2e-41, log10 -40.04.
  EXPECT_NEAR(headroomAxis(sites, DType::bfloat16).low, -40.04 - 1, 1e-2);
  EXPECT_EQ(headroomAxis(sites, DType::bfloat16).below, 1);
}

TEST(Headroom, HasAnAxisWithoutValues) {
  EXPECT_LT(headroomAxis({}, DType::float16).low, headroomAxis({}, DType::float16).high);
  session::RunRecord run;
  run.sites = {site(0, std::nan(""))};
  const HeadroomAxis axis = headroomAxis(headroomSites(run), DType::float16);
  EXPECT_TRUE(std::isfinite(axis.low));
  EXPECT_LT(axis.low, axis.high);
}

}  // namespace
}  // namespace ulpscope::render
