// Every path of compareTensors against a plain loop over doubles, and every instruction set against the portable one to the bit.
#include "plain_divergence.h"

#include <cfenv>
#if defined(__x86_64__)
#include <pmmintrin.h>
#endif

namespace ulpscope::analysis {
namespace {

void check(const Pair& pair, DType aType, DType bType, const CompareOptions& options) {
  const auto count = static_cast<std::int64_t>(pair.a.size());
  const TestTensor a = contiguous(aType, pair.a, {count}), b = contiguous(bType, pair.b, {count});
  Naive naive;
  for (std::size_t i = 0; i < pair.a.size(); ++i) naive.add(as(aType, pair.a[i]), as(bType, pair.b[i]), options);
  const SampleLayout layout = layoutOf({count}, {}, 1);
  const SampleDivergence portable = on(InstructionSet::portable, a.view, b.view, layout, options).front();
  expectSame(portable, naive);
  for (const InstructionSet set : instructionSets())
    EXPECT_EQ(bitsOf(on(set, a.view, b.view, layout, options).front()), bitsOf(portable)) << "instruction set " << static_cast<int>(set);
}

std::vector<CompareOptions> optionSets() {
  std::vector<CompareOptions> all;
  for (const DType low : {DType::float16, DType::bfloat16})
    for (const bool ulp : {true, false}) all.push_back({low, session::siteTolerance(low), ulp});
  all.push_back({DType::float16, {0, 0}, true});
  all.push_back({DType::float16, {0.25, 0.5}, true});  // exact ties with the tolerance occur
  return all;
}

class EveryPair : public testing::TestWithParam<std::tuple<DType, DType>> {};

TEST_P(EveryPair, AgreesWithThePlainLoopAtEveryLength) {
  std::mt19937_64 random(7);
  const auto [a, b] = GetParam();
  for (const Kind kind : {Kind::plain, Kind::close, Kind::special, Kind::extreme})
    for (std::int64_t count = 0; count <= 200; ++count) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", " << count << " elements");
      check(makePair(random, count, kind), a, b, optionSets()[static_cast<std::size_t>(count) % optionSets().size()]);
      if (HasFailure()) return;
    }
}

TEST_P(EveryPair, AgreesWithThePlainLoopOverSeveralBlocks) {
  std::mt19937_64 random(11);
  const auto [a, b] = GetParam();
  for (const Kind kind : {Kind::plain, Kind::close, Kind::special, Kind::extreme})
    for (const CompareOptions& options : optionSets()) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", low " << base::name(options.low));
      check(makePair(random, 20011, kind), a, b, options);
    }
}

INSTANTIATE_TEST_SUITE_P(Kernel, EveryPair,
                         testing::Combine(testing::Values(DType::float32, DType::float64, DType::float16, DType::bfloat16),
                                          testing::Values(DType::float32, DType::float64, DType::float16, DType::bfloat16)),
                         [](const auto& param) { return base::name(std::get<0>(param.param)) + "_" + base::name(std::get<1>(param.param)); });

// Differences that float32 rounds to the same number, each a little larger than the one before: 1 + i 2^-40, and tolerances
// right between them.
TEST(Kernel, DecidesInDoubleWhatFloat32CannotTellApart) {
  constexpr int kCount = 400;
  for (const double scale : {1.0, 0x1p-100, 0x1p100}) {
    Pair pair;
    for (int i = 0; i < kCount; ++i) {
      pair.a.push_back(scale);
      pair.b.push_back(-scale * i * 0x1p-40);
    }
    for (const CompareOptions& options : {CompareOptions{DType::bfloat16, {0, scale * (1 + 123.5 * 0x1p-40)}, true},
                                          CompareOptions{DType::bfloat16, {1 + 123.5 * 0x1p-40, 0}, true}}) {
      check(pair, DType::float32, DType::float32, options);
      const TestTensor a = contiguous(DType::float32, pair.a, {kCount}), b = contiguous(DType::float32, pair.b, {kCount});
      const SampleDivergence d = compareTensors(base::Reference(a.view), base::Candidate(b.view), layoutOf({kCount}, {}, 1), options).front();
      EXPECT_EQ(d.maxAbs, scale * (1 + (kCount - 1) * 0x1p-40));
      EXPECT_EQ(d.maxRel, 1 + (kCount - 1) * 0x1p-40);
      EXPECT_EQ(d.overTolerance, kCount - 124);
    }
  }
}

// 2 |a| is outside a tolerance of 1.5 |a|, where both are beyond float32.
TEST(Kernel, DecidesRightlyWhereFloat32DifferencesOverflow) {
  Pair pair;
  pair.a.assign(64, -0x1.fffffep127);
  pair.b.assign(64, 0x1.fffffep127);
  const CompareOptions options{DType::float16, {1.5, 1e-5}, true};
  check(pair, DType::float32, DType::float32, options);
  const TestTensor a = contiguous(DType::float32, pair.a, {64}), b = contiguous(DType::float32, pair.b, {64});
  const SampleDivergence d = compareTensors(base::Reference(a.view), base::Candidate(b.view), layoutOf({64}, {}, 1), options).front();
  EXPECT_EQ(d.overTolerance, 64);
  EXPECT_EQ(d.maxRel, 2);
}

// Ratio 2^-23, then 2 / 1.75 of it: the threshold 1.75 2^-149 for the latter rounds to its very difference, 2 2^-149.
TEST(Kernel, FindsTheLargestRatioWhereTheThresholdRoundsUp) {
  Pair pair;
  pair.a.assign(16, 0x1p-120);
  pair.b.assign(16, 0x1p-120 + 0x1p-143);
  pair.a.resize(32, 0x1.cp-126);
  pair.b.resize(32, 0x1.cp-126 + 0x1p-148);
  check(pair, DType::float32, DType::float32, {DType::bfloat16, {1e-3, 1e-5}, true});
}

// Differences of subnormal size, where thresholds that are products of two small numbers lose their last bits.
TEST(Kernel, DecidesRightlyAmongSubnormalDifferences) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 200; ++round) {
    Pair pair;
    for (int i = 0; i < 100; ++i) {
      pair.a.push_back(static_cast<double>(random() % 64) * 0x1p-149);
      pair.b.push_back(pair.a.back() + static_cast<double>(random() % 8) * 0x1p-149);
    }
    check(pair, DType::float32, DType::float32, {DType::bfloat16, {0.125, static_cast<double>(random() % 8) * 0x1p-149}, true});
    if (HasFailure()) return;
  }
}

// All 65,536 patterns of both 16-bit formats, NaNs included, on either side against their values as float32.
TEST(Kernel, ReadsEveryPatternOfBothLowFormatsExactly) {
  constexpr std::int64_t kPatterns = 65536;
  for (const DType type : {DType::float16, DType::bfloat16}) {
    std::vector<std::uint16_t> bits;
    std::vector<float> values;
    for (std::int64_t i = 0; i < kPatterns; ++i) {
      bits.push_back(static_cast<std::uint16_t>(i));
      values.push_back(type == DType::float16 ? base::floatFromHalf(bits.back()) : base::floatFromBfloat16(bits.back()));
    }
    const TensorView low{bits.data(), type, {kPatterns}, {}}, wide{values.data(), DType::float32, {kPatterns}, {}};
    for (const InstructionSet set : instructionSets())
      for (const auto& [a, b] : {std::pair(low, wide), std::pair(wide, low)}) {
        const SampleDivergence d = on(set, a, b, layoutOf({kPatterns}, {}, 1), {type, {0, 0}, true}).front();
        EXPECT_EQ(d.differing, 0);
        EXPECT_EQ(d.maxUlp, 0);
        EXPECT_EQ(d.reference.total(), type == DType::float16 ? 2 * 1024 : 2 * 128);
        EXPECT_EQ(d.candidateOnly.total(), 0);
        EXPECT_EQ(d.referenceRange.subnormal, type == DType::float16 ? 2 * 1023 : 2 * 127);
        EXPECT_EQ(d.candidateRange.smallestNonZero, type == DType::float16 ? 0x1p-24 : 0x1p-133);
      }
  }
}

// Around every rounding border of the low formats, in steps of float32, and the same borders in steps of float64.
TEST(Kernel, RoundsIntoTheLowFormatsAsCoreBaseDoes) {
  for (const DType low : {DType::float16, DType::bfloat16})
    for (std::int64_t pattern = 0; pattern < 0x7C00; pattern += 7) {
      const auto bits = static_cast<std::uint16_t>(pattern), next = static_cast<std::uint16_t>(pattern + 1);
      const double x = low == DType::float16 ? base::floatFromHalf(bits) : base::floatFromBfloat16(bits);
      const double y = low == DType::float16 ? std::min<double>(base::floatFromHalf(next), 65536) : base::floatFromBfloat16(next);
      const double tie = (x + y) / 2;
      for (const double v : {x, y, tie, std::nextafter(tie, 0), std::nextafter(tie, 1e300)}) {
        EXPECT_EQ(orderedLow(v, low == DType::float16), base::ulpDistance(low, 0, v)) << v;
        const auto f = static_cast<float>(v);
        for (const float u : {f, std::nextafter(f, 0.0F), std::nextafter(f, 1e38F)})
          EXPECT_EQ(orderedLow(-u, low == DType::float16), -base::ulpDistance(low, 0, u)) << u;
      }
    }
}

// torch.set_flush_denormal and rounding modes are set per thread, and the model's thread is the one that compares.
TEST(Kernel, IgnoresTheThreadsRoundingModeAndFlushing) {
  std::mt19937_64 random(13);
  const Pair pair = makePair(random, 3000, Kind::extreme);
  const TestTensor a = contiguous(DType::float32, pair.a, {3000}), b = contiguous(DType::bfloat16, pair.b, {3000});
  const CompareOptions options{DType::bfloat16, {1e-3, 1e-5}, true};
  const SampleLayout layout = layoutOf({3000}, {}, 1);
  const auto expected = bitsOf(compareTensors(base::Reference(a.view), base::Candidate(b.view), layout, options).front());
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
#endif
  const auto changed = bitsOf(compareTensors(base::Reference(a.view), base::Candidate(b.view), layout, options).front());
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
#if defined(__x86_64__)
  EXPECT_EQ(_mm_getcsr() & 0x8040U, 0x8040U);
  _mm_setcsr(before);
#endif
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(changed, expected);
}

}  // namespace
}  // namespace ulpscope::analysis
