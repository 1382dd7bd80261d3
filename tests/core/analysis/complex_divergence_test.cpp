// Complex pairs; expected values worked out by hand from the moduli.
#include "core/analysis/divergence.h"
#include "core/analysis/sample_ranges.h"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <limits>

namespace ulpscope::analysis {
namespace {

using C = std::complex<float>;
using Z = std::complex<double>;
constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::nanf("");

TensorView viewOf(const std::vector<C>& values) { return {values.data(), base::DType::complex64, {static_cast<std::int64_t>(values.size())}, {}}; }

SampleDivergence compare(const std::vector<C>& a, const std::vector<C>& b) {
  CompareOptions options;
  options.ulp = true;
  return compareTensors(base::Reference(viewOf(a)), base::Candidate(viewOf(b)), layoutOf({static_cast<std::int64_t>(a.size())}, {}, 1), options).front();
}

TEST(ComplexDivergence, TakesTheModulusOfTheDifference) {
  const SampleDivergence d = compare({{3, 4}, {1, 0}}, {{6, 8}, {1, 0}});
  EXPECT_EQ(d.maxAbs, 5);  // |3 + 4i|; the larger part alone would be 4, the sum of both 7
  EXPECT_EQ(d.meanAbs(), 2.5);
  EXPECT_EQ(d.maxRel, 1);
  EXPECT_EQ(d.differing, 1);
  EXPECT_EQ(d.overTolerance, 1);
  EXPECT_NEAR(d.relL2(), std::sqrt(25.0 / 26.0), 1e-15);
  EXPECT_EQ(d.referenceMaxAbs, 5);
  EXPECT_EQ(d.candidateMaxAbs, 10);
  EXPECT_EQ(d.referenceRange.min, 1);
}

TEST(ComplexDivergence, ATurnedPhaseIsSeenThoughTheModuliAgree) {
  const SampleDivergence d = compare({{1, 0}}, {{0, 1}});
  EXPECT_DOUBLE_EQ(d.maxAbs, std::sqrt(2.0));  // | |b| - |a| | would be 0
  EXPECT_DOUBLE_EQ(d.cosineDistance(), 1);
}

TEST(ComplexDivergence, UlpDistanceIsThatOfTheWorsePart) {
  // Half has 2^-10 steps from 1 to 2.
  EXPECT_EQ(compare({{1, 1}}, {{1 + 0x1p-10F, 1 - 3 * 0x1p-11F}}).maxUlp, 3);
}

TEST(ComplexDivergence, NonFinitePartsMakeNonFiniteElements) {
  const SampleDivergence d = compare({{1, 0}, {1, 0}, {0, -kInf}, {2, 2}}, {{kNaN, kInf}, {0, -kInf}, {-kInf, 0}, {2, 2}});
  EXPECT_EQ(d.candidate.nan, 1);
  EXPECT_EQ(d.candidate.plusInf, 2);  // an infinite modulus has no sign
  EXPECT_EQ(d.candidateOnly.plusInf, 1);
  EXPECT_EQ(d.finitePairs, 1);
  EXPECT_EQ(d.elements, 4);
  EXPECT_EQ(d.maxAbs, 0);
}

TEST(ComplexDivergence, WithNoFinitePairNothingIsEvaluated) {
  EXPECT_TRUE(std::isnan(compare({}, {}).relL2()));
  EXPECT_TRUE(std::isnan(compare({{kNaN, 0}}, {{1, 1}}).maxAbsOrNan()));
}

TEST(ComplexDivergence, FlushedNeedsBothPartsBelowTheSmallestStep) {
  EXPECT_EQ(compare({{1e-9F, 1e-9F}}, {{0, 0}}).flushedToZero, 1);
  EXPECT_EQ(compare({{1e-9F, 1e-3F}}, {{0, 0}}).flushedToZero, 0);
}

TEST(ComplexDivergence, FollowsStridesSamplesAndWiderTypes) {
  const std::vector<C> a{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}};
  const std::vector<Z> b{{1, 0}, {4, 0}, {2, 0}, {5, 0}, {3, 0}, {6, 1}};  // its transpose
  const TensorView x{a.data(), base::DType::complex64, {2, 3}, {}};
  const TensorView y{b.data(), base::DType::complex128, {2, 3}, {1, 2}};
  const auto samples = compareTensors(base::Reference(x), base::Candidate(y), layoutOf({2, 3}, {session::SampleAxis::Kind::plain, 1}, 3), {});
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[0].maxAbs, 0);
  EXPECT_EQ(samples[1].maxAbs, 0);
  EXPECT_EQ(samples[2].maxAbs, 1);
  EXPECT_EQ(samples[2].elements, 2);
}

TEST(ComplexDivergence, RangesAreThoseOfTheModulus) {
  const std::vector<Z> z{{3, 4}, {0, 0}, {-1, 0}, {kNaN, 0}};
  const RangeSummary range = rangeOf({z.data(), base::DType::complex128, {2, 2}, {1, 2}});
  EXPECT_EQ(range.range.min, 0);
  EXPECT_EQ(range.range.max, 5);
  EXPECT_EQ(range.zeros, 1);
  EXPECT_EQ(range.nonfinite.nan, 1);
}

}  // namespace
}  // namespace ulpscope::analysis
