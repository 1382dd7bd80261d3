// The metrics that divergence_test.cpp does not have; expected values worked out by hand.
#include "core/analysis/divergence.h"
#include "core/base/float_formats.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::nanf("");

template <typename T>
SampleDivergence compareAs(base::DType dtype, const std::vector<T>& a, const std::vector<T>& b, const CompareOptions& options = {}) {
  const auto n = static_cast<std::int64_t>(a.size());
  return compareTensors(base::Reference(TensorView{a.data(), dtype, {n}, {}}), base::Candidate(TensorView{b.data(), dtype, {n}, {}}),
                        layoutOf({n}, {}, 1), options)
      .front();
}

SampleDivergence compare(const std::vector<float>& a, const std::vector<float>& b, const CompareOptions& options = {}) {
  return compareAs(base::DType::float32, a, b, options);
}

TEST(Metrics, MeanAbsDividesByTheFinitePairs) {
  EXPECT_DOUBLE_EQ(compare({1, 2, 3, kInf}, {2, 2, 1, 0}).meanAbs(), 1);  // (1 + 0 + 2) / 3; all four would give 0.75
}

TEST(Metrics, SqnrIsTenDecibelsADecadeOfPower) {
  EXPECT_NEAR(compare({3, 4}, {3, 4.5F}).sqnrDecibels(), 20, 1e-12);  // 25 / 0.25
  EXPECT_NEAR(compare({1, 1}, {1, 3}).sqnrDecibels(), -3.0102999566398120, 1e-12);  // 2 / 4
}

TEST(Metrics, SqnrOfAnExactCopyIsInfinite) {
  EXPECT_EQ(compare({1, 2}, {1, 2}).sqnrDecibels(), kInf);
  EXPECT_EQ(compare({0, 0}, {0, -0.0F}).sqnrDecibels(), kInf);
}

TEST(Metrics, SqnrOfNoSignalIsMinusInfinity) { EXPECT_EQ(compare({0, 0}, {0, 1}).sqnrDecibels(), -kInf); }

TEST(Metrics, WithNoFinitePairNothingIsEvaluated) {
  for (const SampleDivergence& d : {compare({}, {}), compare({kNaN}, {1}), compare({1}, {kInf})}) {
    EXPECT_TRUE(std::isnan(d.meanAbs()));
    EXPECT_TRUE(std::isnan(d.sqnrDecibels()));
  }
  EXPECT_TRUE(std::isnan(compare({}, {}).shareOverTolerance()));
  EXPECT_EQ(compare({kNaN}, {1}).shareOverTolerance(), 1);
}

TEST(Metrics, RangesLeaveOutWhatIsNotFinite) {
  const SampleDivergence d = compare({-3, kNaN, 0.5F, 0, 7}, {kInf, 2, -0.25F, -0.0F, -kInf});
  EXPECT_EQ(d.referenceRange.min, -3);
  EXPECT_EQ(d.referenceRange.max, 7);  // its place is -inf in the candidate
  EXPECT_EQ(d.referenceRange.smallestNonZero, 0.5);
  EXPECT_EQ(d.candidateRange.min, -0.25);
  EXPECT_EQ(d.candidateRange.max, 2);  // its place is NaN in the reference
  EXPECT_EQ(d.candidateRange.smallestNonZero, 0.25);
  EXPECT_EQ(d.candidateMaxAbs, 2);
}

TEST(Metrics, ASideWithoutAFiniteElementHasNoRange) {
  const SampleDivergence d = compare({kInf, kNaN}, {0, 0});
  EXPECT_TRUE(std::isnan(d.referenceRange.min));
  EXPECT_TRUE(std::isnan(d.referenceRange.max));
  EXPECT_EQ(d.referenceMaxAbs, 0);
  EXPECT_EQ(d.candidateRange.min, 0);
  EXPECT_TRUE(std::isnan(d.candidateRange.smallestNonZero));
}

TEST(Metrics, SubnormalIsWhatTheLowFormatWouldHoldAsSubnormal) {
  // float16: steps of 2^-24 below 2^-14. 2^-25 is a tie to zero; 2^-14 - 2^-25 is a tie to 2^-14, a normal number.
  const std::vector<float> a{0x1p-14F, 0x1p-15F, 0x1p-24F, 0x1.000002p-25F, 0x1p-25F, 0x1p-30F, 0x1p-14F - 0x1p-25F, -0x1p-20F, 0};
  const SampleDivergence d = compare(a, a);
  EXPECT_EQ(d.referenceRange.subnormal, 4);
  EXPECT_DOUBLE_EQ(d.shareSubnormalCandidate(), 4.0 / 9);
  CompareOptions bf16;
  bf16.low = base::DType::bfloat16;
  EXPECT_EQ(compare(a, a, bf16).referenceRange.subnormal, 0);
  EXPECT_EQ(compare({0x1p-133F, 0x1p-134F, 0x1.8p-134F}, {1, 1, 1}, bf16).referenceRange.subnormal, 2);
}

TEST(Metrics, FlushedToZeroIsNoReluZero) {
  // Only the first: 1 would not round to zero, 0 was none before, and the last did not become zero.
  const SampleDivergence d = compare({0x1p-26F, 1, 0, -0x1p-27F}, {0, 0, 0, 0x1p-24F});
  EXPECT_EQ(d.flushedToZero, 1);
  EXPECT_DOUBLE_EQ(d.shareFlushedToZero(), 0.25);
  EXPECT_EQ(compare({-0x1p-25F}, {-0.0F}).flushedToZero, 1);
  EXPECT_EQ(compare({0x1.000002p-25F}, {0}).flushedToZero, 0);  // rounds to 2^-24
}

TEST(Metrics, UlpsCountOverflowAsOneStepAndZeroesAsOne) {
  CompareOptions options;
  options.ulp = true;
  EXPECT_EQ(compare({65504}, {65520}, options).maxUlp, 1);
  EXPECT_EQ(compare({0x1p-24F}, {-0x1p-24F}, options).maxUlp, 2);
  EXPECT_EQ(compare({0}, {-0.0F}, options).maxUlp, 0);
  EXPECT_EQ(compare({-65504}, {65504}, options).maxUlp, 2 * 31743);
}

TEST(Metrics, CosineDistanceOfNeighboursIsNotLostInRounding) {
  // 1 - 1/sqrt(1 + e^2) = e^2/2 - 3e^4/8 with e = 2^-40; taken from 1 it would be lost even in 80 bits.
  EXPECT_DOUBLE_EQ(compareAs<double>(base::DType::float64, {1, 0}, {1, 0x1p-40}).cosineDistance(), 0x1p-81);
}

TEST(Metrics, CosineDistanceOfVeryUnequalLengthsIsRight) {
  EXPECT_NEAR(compare({0x1p60F, 0}, {0.25F, 0.25F}).cosineDistance(), 1 - 1 / std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(compare({3, 4}, {4 * 0x1p40F, -3 * 0x1p40F}).cosineDistance(), 1, 1e-15);
}

TEST(Metrics, SquaresOfHugeAndTinyFloat64ValuesNeitherOverflowNorVanish) {
  if (std::numeric_limits<long double>::max_exponent <= std::numeric_limits<double>::max_exponent) return;  // no wider type here
  EXPECT_DOUBLE_EQ(compareAs<double>(base::DType::float64, {3e200, 4e200}, {3e200, 5e200}).relL2(), 0.2);
  EXPECT_DOUBLE_EQ(compareAs<double>(base::DType::float64, {3e-200, 4e-200}, {3e-200, 5e-200}).relL2(), 0.2);
}

TEST(Metrics, IntegersDifferExactlyBeyondDoublesReach) {
  const std::int64_t big = std::int64_t{1} << 53;
  const SampleDivergence d = compareAs<std::int64_t>(base::DType::int64, {big, 5, -1}, {big + 1, 5, 1});
  EXPECT_EQ(d.differing, 2);
  EXPECT_EQ(d.elements, 3);
}

TEST(Metrics, BoolsAndNarrowIntegersCountDifferingElements) {
  EXPECT_EQ(compareAs<std::uint8_t>(base::DType::boolean, {0, 1, 1}, {1, 1, 0}).differing, 2);
  EXPECT_EQ(compareAs<std::int8_t>(base::DType::int8, {-128, 3}, {127, 3}).differing, 1);
  EXPECT_EQ(compareAs<std::int16_t>(base::DType::int16, {-300, 3}, {-300, 4}).differing, 1);
  EXPECT_EQ(compareAs<std::int32_t>(base::DType::int32, {1 << 30}, {-(1 << 30)}).differing, 1);
}

TEST(Metrics, MergingTwoPartsGivesTheWhole) {
  CompareOptions options;
  options.ulp = true;
  SampleDivergence parts = compare({1, 0x1p-20F, kInf}, {2, 0, 3}, options);
  parts.merge(compare({-4, 5}, {-4.5F, kNaN}, options));
  const SampleDivergence whole = compare({1, 0x1p-20F, kInf, -4, 5}, {2, 0, 3, -4.5F, kNaN}, options);
  EXPECT_EQ(parts.elements, whole.elements);
  EXPECT_EQ(parts.meanAbs(), whole.meanAbs());
  EXPECT_EQ(parts.sqnrDecibels(), whole.sqnrDecibels());
  EXPECT_EQ(parts.maxUlp, whole.maxUlp);
  EXPECT_EQ(parts.referenceRange.min, whole.referenceRange.min);
  EXPECT_EQ(parts.referenceRange.max, whole.referenceRange.max);
  EXPECT_EQ(parts.candidateRange.smallestNonZero, whole.candidateRange.smallestNonZero);
  EXPECT_EQ(parts.referenceRange.subnormal, 1);
  EXPECT_EQ(parts.overTolerance, whole.overTolerance);
  SampleDivergence nothing;
  nothing.merge(whole);
  EXPECT_EQ(nothing.referenceRange.min, -4);
}

TEST(StridedView, ElementsAreNumberedByShapeNotByMemory) {
  const std::vector<float> x{0, 1, 2, 3, 4, 5};
  const TensorView transposed{x.data(), base::DType::float32, {3, 2}, {1, 3}};
  std::vector<double> seen;
  for (std::int64_t i = 0; i < 6; ++i) seen.push_back(elementAt(transposed, i));
  EXPECT_THAT(seen, testing::ElementsAre(0, 3, 1, 4, 2, 5));
  std::vector<float> packed(4);
  packElements(transposed, 1, 4, packed.data());
  EXPECT_THAT(packed, testing::ElementsAre(3, 1, 4, 2));
}

TEST(StridedView, RangeReadsJustTheViewsElements) {
  const std::vector<float> x{100, 1, -200, 2, kInf, 3};
  const RangeSummary r = rangeOf({x.data() + 1, base::DType::float32, {3}, {2}});
  EXPECT_EQ(r.range.min, 1);
  EXPECT_EQ(r.range.max, 3);
  EXPECT_EQ(r.nonfinite.total(), 0);
}

}  // namespace
}  // namespace ulpscope::analysis
