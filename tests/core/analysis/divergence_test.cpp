// Expected values worked out by hand from the formulas of divergence.h.
#include "core/analysis/divergence.h"
#include "core/base/float_formats.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::nanf("");

SampleDivergence compare(const std::vector<float>& a, const std::vector<float>& b, CompareOptions options = {}) {
  const auto n = static_cast<std::int64_t>(a.size());
  const TensorView reference{a.data(), base::DType::float32, {n}};
  const TensorView candidate{b.data(), base::DType::float32, {n}};
  return compareTensors(base::Reference(reference), base::Candidate(candidate), layoutOf({n}, {}, 1), options).front();
}

TEST(Divergence, RelativeL2DividesByTheReferencesNorm) {
  const SampleDivergence d = compare({3, 4}, {3, 5});
  EXPECT_DOUBLE_EQ(d.relL2(), 1.0 / 5.0);  // the candidate's norm would give 1/sqrt(34)
  EXPECT_DOUBLE_EQ(d.maxAbsOrNan(), 1);
  EXPECT_DOUBLE_EQ(d.maxRel, 0.25);
}

TEST(Divergence, WidensBeforeItSubtracts) {
  // In float32 the difference of these neighbours is exact, its square is not representable beside 1e30.
  const SampleDivergence d = compare({1e15F}, {std::nextafter(1e15F, 2e15F)});
  EXPECT_DOUBLE_EQ(d.maxAbs, 67108864.0);  // 2^26: the step of float32 at 1e15
  EXPECT_DOUBLE_EQ(d.sumSquaredDifference, 67108864.0 * 67108864.0);
}

TEST(Divergence, AZeroReferenceGivesZeroOrInfinityNeverNaN) {
  EXPECT_EQ(compare({0, 0}, {0, 0}).relL2(), 0);
  EXPECT_EQ(compare({0, 0}, {0, 1}).relL2(), kInf);
  EXPECT_EQ(compare({0, 0}, {0, 0}).cosineDistance(), 0);
  EXPECT_EQ(compare({0, 0}, {0, 1}).cosineDistance(), 1);
}

TEST(Divergence, RangesAreEachSidesOwn) {
  const SampleDivergence d = compare({70000, 2, kNaN}, {kInf, 3, 5});
  EXPECT_EQ(d.referenceMaxAbs, 70000);  // its place overflowed in the candidate
  EXPECT_EQ(d.candidateMaxAbs, 5);
  EXPECT_EQ(d.maxAbs, 1);
}

TEST(Divergence, WithNoFinitePairNothingIsEvaluated) {
  for (const SampleDivergence& d : {compare({}, {}), compare({kNaN}, {1}), compare({1}, {kInf})}) {
    EXPECT_TRUE(std::isnan(d.relL2()));
    EXPECT_TRUE(std::isnan(d.maxAbsOrNan()));
    EXPECT_TRUE(std::isnan(d.cosineDistance()));
  }
}

TEST(Divergence, CountsOnlyWhatTheReferenceHasNot) {
  const SampleDivergence d = compare({1, -kInf, kNaN, kInf, 2}, {kInf, -kInf, kNaN, -kInf, kNaN});
  EXPECT_EQ(d.candidateOnly.plusInf, 1);
  EXPECT_EQ(d.candidateOnly.minusInf, 1);  // +inf became -inf: another kind
  EXPECT_EQ(d.candidateOnly.nan, 1);
  EXPECT_EQ(d.reference.total(), 3);
  EXPECT_EQ(d.candidate.total(), 5);
  EXPECT_EQ(d.overTolerance, 3);  // a mask's -inf in both is none
}

TEST(Divergence, AnElementFiniteInTheCandidateOnlyIsOutsideAnyTolerance) {
  const SampleDivergence d = compare({kInf}, {1});
  EXPECT_EQ(d.overTolerance, 1);
  EXPECT_EQ(d.candidateOnly.total(), 0);
}

TEST(Divergence, ToleranceIsAtolPlusRtolTimesTheReference) {
  CompareOptions options;
  options.tolerance = {0.1, 1};
  EXPECT_EQ(compare({100}, {110.5F}, options).overTolerance, 0);  // limit 11
  EXPECT_EQ(compare({100}, {111.5F}, options).overTolerance, 1);  // rtol times the candidate would give 12.15
}

TEST(Divergence, RelativeErrorIsBoundedByTheLowFormatsSmallestNormal) {
  const float below = 0x1p-20F;  // below float16's 2^-14
  EXPECT_DOUBLE_EQ(compare({below}, {0}).maxRel, 0x1p-20 / 0x1p-14);
  CompareOptions bf16;
  bf16.low = base::DType::bfloat16;
  EXPECT_DOUBLE_EQ(compare({below}, {0}, bf16).maxRel, 1);
}

TEST(Divergence, UlpsAreThoseOfTheLowFormat) {
  CompareOptions options;
  options.ulp = true;
  EXPECT_EQ(compare({1}, {1 + 3 * 0x1p-10F}, options).maxUlp, 3);
  options.low = base::DType::bfloat16;
  EXPECT_EQ(compare({1}, {1 + 3 * 0x1p-7F}, options).maxUlp, 3);
}

TEST(Divergence, CosineDistanceOfOppositeVectorsIsTwo) {
  EXPECT_NEAR(compare({1, 2}, {-1, -2}).cosineDistance(), 2, 1e-15);
  EXPECT_NEAR(compare({1, 0}, {1, 1}).cosineDistance(), 1 - 1 / std::sqrt(2.0), 1e-15);
}

TEST(Divergence, ReadsHalfAndBfloat16AgainstFloat32) {
  const std::vector<float> a{1.0F, 2.0F};
  const std::vector<std::uint16_t> half{base::halfFromFloat(1.5F), base::halfFromFloat(2.0F)};
  const std::vector<std::uint16_t> brain{base::bfloat16FromFloat(1.5F), base::bfloat16FromFloat(2.0F)};
  const TensorView reference{a.data(), base::DType::float32, {2}};
  for (const TensorView& b : {TensorView{half.data(), base::DType::float16, {2}}, TensorView{brain.data(), base::DType::bfloat16, {2}}}) {
    const auto d = compareTensors(base::Reference(reference), base::Candidate(b), layoutOf({2}, {}, 1), {}).front();
    EXPECT_EQ(d.maxAbs, 0.5) << base::name(b.dtype);
    EXPECT_EQ(d.finitePairs, 2);
  }
}

TEST(Divergence, IntegersAndBoolsCountDifferingElements) {
  const std::vector<std::int64_t> a{1, 2, 3}, b{1, 5, 4};
  const auto d = compareTensors(base::Reference(TensorView{a.data(), base::DType::int64, {3}}),
                                base::Candidate(TensorView{b.data(), base::DType::int64, {3}}), layoutOf({3}, {}, 1), {})
                     .front();
  EXPECT_EQ(d.differing, 2);
}

TEST(Divergence, SplitsByPlainAndFoldedSampleAxes) {
  using Kind = session::SampleAxis::Kind;
  const std::vector<float> a(12, 1.0F);
  std::vector<float> b = a;
  b[7] = 2;  // of [4, 3]: row 2, column 1; of a folded axis of 4 with 2 samples: major sample 1, minor sample 0
  const TensorView reference{a.data(), base::DType::float32, {4, 3}};
  const TensorView candidate{b.data(), base::DType::float32, {4, 3}};
  const auto worst = [&](session::SampleAxis axis, std::int64_t samples) {
    std::vector<std::int64_t> bad;
    const auto split = compareTensors(base::Reference(reference), base::Candidate(candidate), layoutOf({4, 3}, axis, samples), {});
    for (std::size_t s = 0; s < split.size(); ++s)
      if (split[s].maxAbs > 0) bad.push_back(static_cast<std::int64_t>(s));
    return bad;
  };
  EXPECT_THAT(worst({Kind::plain, 0}, 4), testing::ElementsAre(2));
  EXPECT_THAT(worst({Kind::plain, 1}, 3), testing::ElementsAre(1));
  EXPECT_THAT(worst({Kind::sampleMajor, 0}, 2), testing::ElementsAre(1));
  EXPECT_THAT(worst({Kind::sampleMinor, 0}, 2), testing::ElementsAre(0));
}

TEST(Range, NeverLetsNaNIntoMinimumOrMaximum) {
  const std::vector<float> x{kNaN, -3, kInf, 2, -0.0F, kNaN};
  const RangeSummary r = rangeOf({x.data(), base::DType::float32, {6}});
  EXPECT_EQ(r.range.min, -3);
  EXPECT_EQ(r.range.max, 2);
  EXPECT_EQ(r.range.maxAbs, 3);
  EXPECT_EQ(r.zeros, 1);
  EXPECT_EQ(r.smallestNonZero, 2);
  EXPECT_EQ(r.nonfinite.nan, 2);
  EXPECT_EQ(r.nonfinite.plusInf, 1);
  const RangeSummary none = rangeOf({x.data(), base::DType::float32, {0}});
  EXPECT_TRUE(std::isnan(none.range.min));
}

}  // namespace
}  // namespace ulpscope::analysis
