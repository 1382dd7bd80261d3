// Every path of compareTensors against a plain loop over doubles, and every instruction set against the portable one to the bit.
// The plain loop uses nothing of core/analysis but the element numbering of its own test tensors; rounding into the low formats
// comes from core/base, which is tested against c10.
#include "core/analysis/divergence_walk.h"
#include "core/base/float_formats.h"

#include <gmock/gmock.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#if defined(__x86_64__)
#include <pmmintrin.h>
#endif

namespace ulpscope::analysis {
namespace {

using base::DType;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

std::vector<InstructionSet> instructionSets() {
  std::vector<InstructionSet> sets;
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512})
    if (isSupported(set)) sets.push_back(set);
  return sets;
}

// A tensor that owns its elements, lying as `strides` say.
struct TestTensor {
  std::vector<std::byte> memory;
  TensorView view;
};

void put(std::byte* at, DType dtype, double x) {
  switch (dtype) {
    case DType::float64: std::memcpy(at, &x, 8); break;
    case DType::float32: {
      const auto f = static_cast<float>(x);
      std::memcpy(at, &f, 4);
      break;
    }
    default: {
      const std::uint16_t bits = dtype == DType::float16 ? base::halfFromDouble(x) : base::bfloat16FromDouble(x);
      std::memcpy(at, &bits, 2);
    }
  }
}

double as(DType dtype, double x) { return base::roundTo(dtype, x); }

TestTensor contiguous(DType dtype, const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  TestTensor t;
  const std::size_t size = base::sizeBytes(dtype);
  t.memory.resize(values.size() * size + 1);
  for (std::size_t i = 0; i < values.size(); ++i) put(t.memory.data() + i * size, dtype, values[i]);
  t.view = {t.memory.data(), dtype, shape, {}};
  return t;
}

enum class Kind { plain, close, special, extreme };

double valueOf(std::mt19937_64& random, Kind kind) {
  std::normal_distribution<double> normal;
  const double x = normal(random);
  if (kind == Kind::plain || kind == Kind::close) return x;
  switch (random() % (kind == Kind::special ? 24 : 12)) {
    case 0: return 0.0;
    case 1: return -0.0;
    case 2: return x * 0x1p-24;   // float16: subnormal, or rounds to zero
    case 3: return x * 0x1p-133;  // bfloat16: so
    case 4: return x * 0x1p-149;
    case 5: return x * 65504;
    case 6: return x * (kind == Kind::extreme ? 0x1p127 : 0x1p120);
    case 7: return kind == Kind::extreme ? (random() % 2 ? 1 : -1) * 0x1.fffffep127 : kNaN;
    case 8: return kind == Kind::extreme ? x * 1e-300 : kInf;
    case 9: return kind == Kind::extreme ? std::ldexp(1.0, static_cast<int>(random() % 40) - 30) : -kInf;
    default: return x;
  }
}

struct Pair {
  std::vector<double> a, b;
};

Pair makePair(std::mt19937_64& random, std::int64_t count, Kind kind) {
  Pair pair;
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = valueOf(random, kind);
    pair.a.push_back(a);
    const bool near = kind == Kind::close || random() % 2;
    pair.b.push_back(near ? a * (1 + std::normal_distribution<double>()(random) * 1e-3) : valueOf(random, kind));
    if (random() % 16 == 0) pair.b.back() = a;
  }
  return pair;
}

// The definitions of divergence.h, written down once more.
struct Naive {
  std::int64_t elements = 0, pairs = 0, over = 0, differing = 0, ulp = 0, flushed = 0, subnormalA = 0, subnormalB = 0;
  std::int64_t candidateOnly[3] = {}, candidate[3] = {}, reference[3] = {};
  double maxAbs = 0, maxRel = 0, maxA = 0, maxB = 0;
  double least[2] = {kInf, kInf}, most[2] = {-kInf, -kInf}, smallest[2] = {kInf, kInf};
  long double abs = 0, dd = 0, aa = 0, bb = 0, ab = 0;

  static int kindOf(double x) { return std::isnan(x) ? 0 : x > 0 ? 1 : 2; }

  void side(int i, double x, DType low, double& maximum, std::int64_t& subnormal) {
    if (!std::isfinite(x)) return;
    least[i] = std::min(least[i], x);
    most[i] = std::max(most[i], x);
    maximum = std::max(maximum, std::fabs(x));
    if (x != 0) smallest[i] = std::min(smallest[i], std::fabs(x));
    const double rounded = std::fabs(base::roundTo(low, x));
    subnormal += rounded > 0 && rounded < base::limits(low).minNormal;
  }

  void add(double a, double b, const CompareOptions& o) {
    ++elements;
    side(0, a, o.low, maxA, subnormalA);
    side(1, b, o.low, maxB, subnormalB);
    const bool finiteA = std::isfinite(a), finiteB = std::isfinite(b);
    if (!finiteA) ++reference[kindOf(a)];
    if (!finiteB) ++candidate[kindOf(b)];
    if (!finiteA || !finiteB) {
      const bool same = !finiteA && !finiteB && kindOf(a) == kindOf(b);
      if (!finiteB && !same) ++candidateOnly[kindOf(b)];
      over += !same;
      differing += !same;
      return;
    }
    ++pairs;
    const double d = std::fabs(b - a);
    maxAbs = std::max(maxAbs, d);
    maxRel = std::max(maxRel, d / std::max(std::fabs(a), base::limits(o.low).minNormal));
    over += d > o.tolerance.atol + o.tolerance.rtol * std::fabs(a);
    differing += a != b;
    if (o.ulp) ulp = std::max(ulp, base::ulpDistance(o.low, a, b));
    flushed += b == 0 && a != 0 && base::roundTo(o.low, a) == 0;
    abs += d;
    dd += static_cast<long double>(d) * d;
    aa += static_cast<long double>(a) * a;
    bb += static_cast<long double>(b) * b;
    ab += static_cast<long double>(a) * b;
  }
};

void expectClose(long double actual, long double expected, const char* what) {
  if (actual == expected) return;
  EXPECT_LE(std::fabs(actual - expected), 1e-13L * std::fabs(expected)) << what;
}

void expectRange(const SideRange& r, double least, double most, double smallest) {
  if (least > most) {
    EXPECT_TRUE(std::isnan(r.min) && std::isnan(r.max) && std::isnan(r.smallestNonZero));
    return;
  }
  EXPECT_EQ(r.min, least);
  EXPECT_EQ(r.max, most);
  EXPECT_FALSE(r.min == 0 && std::signbit(r.min)) << "a zero is +0";
  if (smallest == kInf)
    EXPECT_TRUE(std::isnan(r.smallestNonZero));
  else
    EXPECT_EQ(r.smallestNonZero, smallest);
}

void expectCounts(const session::NonfiniteCounts& c, const std::int64_t (&expected)[3]) {
  EXPECT_EQ(c.nan, expected[0]);
  EXPECT_EQ(c.plusInf, expected[1]);
  EXPECT_EQ(c.minusInf, expected[2]);
}

void expectSame(const SampleDivergence& d, const Naive& n) {
  EXPECT_EQ(d.elements, n.elements);
  EXPECT_EQ(d.finitePairs, n.pairs);
  EXPECT_EQ(d.maxAbs, n.maxAbs);
  EXPECT_EQ(d.maxRel, n.maxRel);
  EXPECT_EQ(d.referenceMaxAbs, n.maxA);
  EXPECT_EQ(d.candidateMaxAbs, n.maxB);
  EXPECT_EQ(d.overTolerance, n.over);
  EXPECT_EQ(d.differing, n.differing);
  EXPECT_EQ(d.maxUlp, n.ulp);
  EXPECT_EQ(d.flushedToZero, n.flushed);
  EXPECT_EQ(d.referenceRange.subnormal, n.subnormalA);
  EXPECT_EQ(d.candidateRange.subnormal, n.subnormalB);
  expectRange(d.referenceRange, n.least[0], n.most[0], n.smallest[0]);
  expectRange(d.candidateRange, n.least[1], n.most[1], n.smallest[1]);
  expectCounts(d.candidateOnly, n.candidateOnly);
  expectCounts(d.candidate, n.candidate);
  expectCounts(d.reference, n.reference);
  expectClose(d.sumAbs, n.abs, "sum |d|");
  expectClose(d.sumSquaredDifference, n.dd, "sum d^2");
  expectClose(d.sumSquaredReference, n.aa, "sum a^2");
  expectClose(d.sumSquaredCandidate, n.bb, "sum b^2");
  if (n.aa > 0 && n.bb > 0) {
    EXPECT_NEAR(d.cosineDistance(), static_cast<double>(1 - n.ab / (std::sqrt(n.aa) * std::sqrt(n.bb))), 1e-13);
  }
}

// NaN by its bits too.
auto bitsOf(const SampleDivergence& d) {
  const auto b = [](long double x) { return std::bit_cast<std::uint64_t>(static_cast<double>(x)); };
  const auto r = [&](const SideRange& s) { return std::vector<std::uint64_t>{b(s.min), b(s.max), b(s.smallestNonZero), static_cast<std::uint64_t>(s.subnormal)}; };
  return std::make_tuple(d.elements, d.finitePairs, b(d.maxAbs), b(d.maxRel), b(d.sumAbs), b(d.sumSquaredDifference), b(d.sumSquaredReference),
                         b(d.sumSquaredCandidate), b(d.sumProduct), b(d.referenceMaxAbs), b(d.candidateMaxAbs), r(d.referenceRange), r(d.candidateRange), d.flushedToZero,
                         d.overTolerance, d.differing, d.maxUlp, d.candidateOnly.total(), d.candidate.total(), d.reference.total());
}

std::vector<SampleDivergence> on(InstructionSet set, const TensorView& a, const TensorView& b, const SampleLayout& layout, const CompareOptions& options) {
  return compareTensorsWith(set, base::Reference(a), base::Candidate(b), layout, options);
}

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

// Views of one memory: a shape, its strides and where it starts.
struct Geometry {
  const char* name;
  std::vector<std::int64_t> shape, strides;
  std::int64_t first;
};

const std::vector<Geometry> kGeometries{{"contiguous", {6, 5, 64}, {320, 64, 1}, 0},
                                        {"transposed", {64, 5, 6}, {1, 64, 320}, 0},
                                        {"inner pair swapped", {6, 64, 5}, {320, 1, 64}, 0},
                                        {"channels last", {2, 3, 4, 6}, {72, 1, 18, 3}, 0},
                                        {"expanded rows", {6, 7, 33}, {33, 0, 1}, 0},
                                        {"expanded scalar", {6, 4, 5}, {0, 0, 0}, 3},
                                        {"every second", {6, 5, 31}, {320, 64, 2}, 1},
                                        {"a slice", {6, 3, 17}, {320, 64, 1}, 70},
                                        {"reversed", {6, 50}, {-50, -1}, 299},
                                        {"long rows", {6, 9001}, {3, 1}, 0},
                                        {"ones", {1, 6, 1}, {7, 1, 9}, 0},
                                        {"one element a sample", {40, 6}, {1, 40}, 0},
                                        {"many samples", {3, 600}, {1, 3}, 0}};

double elementOf(const std::vector<double>& values, DType dtype, const Geometry& g, std::int64_t i) {
  std::int64_t offset = g.first;
  for (std::size_t d = g.shape.size(); d-- > 0; i /= g.shape[d]) offset += i % g.shape[d] * g.strides[d];
  return as(dtype, values[static_cast<std::size_t>(offset)]);
}

std::int64_t countOf(const Geometry& g) {
  std::int64_t count = 1;
  for (const std::int64_t size : g.shape) count *= size;
  return count;
}

TestTensor viewed(DType dtype, const std::vector<double>& values, const Geometry& g) {
  TestTensor t = contiguous(dtype, values, {static_cast<std::int64_t>(values.size())});
  t.view.data = t.memory.data() + static_cast<std::size_t>(g.first) * base::sizeBytes(dtype);
  t.view.shape = g.shape;
  t.view.strides = g.strides;
  return t;
}

std::vector<SampleLayout> layoutsOf(const std::vector<std::int64_t>& shape) {
  using Axis = session::SampleAxis;
  std::vector<SampleLayout> all{layoutOf(shape, {}, 1)};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    all.push_back(layoutOf(shape, {Axis::Kind::plain, static_cast<int>(d)}, shape[d]));
    for (const std::int64_t samples : {2, 3}) {
      if (shape[d] % samples != 0) continue;
      all.push_back(layoutOf(shape, {Axis::Kind::sampleMajor, static_cast<int>(d)}, samples));
      all.push_back(layoutOf(shape, {Axis::Kind::sampleMinor, static_cast<int>(d)}, samples));
    }
  }
  return all;
}

std::vector<Naive> naiveSamples(const Pair& pair, const Geometry& g, const SampleLayout& layout, const CompareOptions& options) {
  std::vector<Naive> samples(static_cast<std::size_t>(layout.samples));
  std::int64_t i = 0;
  for (std::int64_t outer = 0; outer < layout.outer; ++outer)
    for (std::int64_t axis = 0; axis < layout.axis; ++axis)
      for (std::int64_t inner = 0; inner < layout.inner; ++inner, ++i)
        samples[static_cast<std::size_t>(layout.sampleOf(axis))].add(elementOf(pair.a, DType::float32, g, i), elementOf(pair.b, DType::float16, g, i), options);
  return samples;
}

TEST(Kernel, AgreesWithThePlainLoopInEveryLayoutAndForAnyStrides) {
  std::mt19937_64 random(3);
  const CompareOptions options{DType::float16, {1e-3, 1e-5}, true};
  for (const Geometry& g : kGeometries) {
    const Pair pair = makePair(random, 9100, Kind::special);
    const TestTensor a = viewed(DType::float32, pair.a, g), b = viewed(DType::float16, pair.b, g);
    ASSERT_EQ(a.view.elementCount(), countOf(g));
    for (const SampleLayout& layout : layoutsOf(g.shape)) {
      SCOPED_TRACE(testing::Message() << g.name << ", layout " << static_cast<int>(layout.kind) << " [" << layout.outer << ", " << layout.axis << ", " << layout.inner
                                      << "], samples " << layout.samples);
      const std::vector<Naive> expected = naiveSamples(pair, g, layout, options);
      for (const InstructionSet set : instructionSets()) {
        const auto actual = on(set, a.view, b.view, layout, options);
        ASSERT_EQ(actual.size(), expected.size());
        for (std::size_t s = 0; s < expected.size(); ++s) expectSame(actual[s], expected[s]);
      }
      if (HasFailure()) return;
    }
  }
}

TEST(Kernel, TheWayElementsLieInMemoryChangesNoBit) {
  std::mt19937_64 random(5);
  const CompareOptions options{DType::float16, {1e-3, 1e-5}, true};
  for (const DType type : {DType::float32, DType::float64}) {
    for (const Geometry& g : kGeometries) {
      const Pair pair = makePair(random, 9100, Kind::special);
      const TestTensor a = viewed(type, pair.a, g), b = viewed(type, pair.b, g);
      std::vector<double> flatA, flatB;
      for (std::int64_t i = 0; i < countOf(g); ++i) {
        flatA.push_back(elementOf(pair.a, type, g, i));
        flatB.push_back(elementOf(pair.b, type, g, i));
      }
      const TestTensor packedA = contiguous(type, flatA, g.shape), packedB = contiguous(type, flatB, g.shape);
      for (const SampleLayout& layout : layoutsOf(g.shape)) {
        SCOPED_TRACE(g.name);
        const auto expected = on(InstructionSet::portable, packedA.view, packedB.view, layout, options);
        const auto both = on(bestInstructionSet(), a.view, b.view, layout, options);
        const auto one = on(bestInstructionSet(), packedA.view, b.view, layout, options);
        for (std::size_t s = 0; s < expected.size(); ++s) {
          EXPECT_EQ(bitsOf(both[s]), bitsOf(expected[s]));
          EXPECT_EQ(bitsOf(one[s]), bitsOf(expected[s]));
        }
      }
    }
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
