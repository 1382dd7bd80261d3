// What is said of a tensor that is looked at: elements, histogram, worst elements, ladder. Expected numbers: numpy, by other ways.
#include "core/analysis/element_text.h"
#include "core/analysis/exponent_histogram.h"
#include "core/analysis/precision_ladder.h"
#include "core/analysis/worst_elements.h"
#include "core/base/float_formats.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ulpscope::analysis {
namespace {

using base::DType;
using testing::ElementsAre;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
std::vector<T> readArray(const tests::ScratchFolder& folder, const std::string& name) {
  const std::string bytes = tests::readFile(folder.file(name));
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <typename T>
TensorView viewOf(const std::vector<T>& values, DType dtype) {
  return {values.data(), dtype, {static_cast<std::int64_t>(values.size())}};
}

std::uint64_t numberOf(const std::string& bits) {
  std::uint64_t value = 0;
  for (const char c : bits)
    if (c != ' ') value = 2 * value + (c == '1' ? 1 : 0);
  return value;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Rounds in whole numbers: mantissa and exponent of the double are taken apart, the mantissa is shifted and rounded by its rest.
constexpr const char* kLadder = R"(
import numpy as np
rng = np.random.default_rng(11)
x = np.concatenate([np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64),
                    (np.arange(65536, dtype=np.uint32) << 16).astype(np.uint32).view(np.float32).astype(np.float64),
                    rng.integers(0, 2**64, 60000, np.uint64).view(np.float64),
                    rng.integers(0, 2**32, 60000, np.uint32).view(np.float32).astype(np.float64),
                    rng.standard_normal(20000) * 10.0 ** rng.integers(-12, 7, 20000),
                    [65504, 65519.999, 65520, 2.0**-24, 2.0**-25, 2.0**-136, 2.0**-137, 2.0**-137 * (1 + 2.0**-52), 2.0**-149, 2.0**-150, 2.0**128 - 2.0**116,
                     np.nextafter(2.0**128 - 2.0**116, 0), 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-11 + 2.0**-52, 5e-324, 1.7e308]])
x = x[np.isfinite(x)]
x.tofile('x')
raw = x.view(np.uint64)
field = ((raw >> np.uint64(52)) & np.uint64(0x7ff)).astype(np.int64)
m = (raw & np.uint64(2**52 - 1)) + np.where(field > 0, np.uint64(2**52), np.uint64(0))
e = np.where(field > 0, field, 1) - 1023                      # |x| = m * 2^(e - 52)
top = np.where(m > 0, np.floor(np.log2(np.maximum(m, np.uint64(1)).astype(np.longdouble))).astype(np.int64), 0)
E = e - 52 + top                                              # 2^E <= |x|
for name, exponent_bits, mantissa_bits in [('FP32', 8, 23), ('TF32', 8, 10), ('BF16', 8, 7), ('FP16', 5, 10)]:
    bias = 2**(exponent_bits - 1) - 1
    u = np.maximum(E, 1 - bias) - mantissa_bits               # exponent of one unit in the last place
    shift = u - (e - 52)
    s = np.clip(shift, 0, 62).astype(np.uint64)
    rest = m & ((np.uint64(1) << s) - np.uint64(1))
    q = m >> s
    half = np.where(s > 0, np.uint64(1) << (np.maximum(s, np.uint64(1)) - np.uint64(1)), np.uint64(0))
    q = q + (((rest > half) | ((rest == half) & (q & np.uint64(1) == 1))) & (s > 0)).astype(np.uint64)
    q = np.where(shift > 62, np.uint64(0), np.where(shift < 0, m << np.clip(-shift, 0, 62).astype(np.uint64), q))
    with np.errstate(over='ignore'):
        value = np.where(E > 200, np.inf, np.ldexp(q.astype(np.float64), np.clip(u, -1074, 900)))
    over = value >= 2.0**(bias + 1)
    value = np.where(over, np.inf, value)
    infinity = np.uint64((2**exponent_bits - 1) << mantissa_bits)
    bits = np.where(over, infinity, ((np.maximum(E, 1 - bias) + bias).astype(np.uint64) << np.uint64(mantissa_bits)) + q - np.uint64(2**mantissa_bits))
    negative = (raw >> np.uint64(63)).astype(bool)
    bits = bits + (negative.astype(np.uint64) << np.uint64(exponent_bits + mantissa_bits))
    value = np.where(negative, -value, value)
    with np.errstate(over='ignore'):
        if name == 'FP32': assert (value.astype(np.float32).view(np.uint32) == x.astype(np.float32).view(np.uint32)).all()
        if name == 'FP16': assert (value.astype(np.float16).view(np.uint16) == x.astype(np.float16).view(np.uint16)).all()
    value.tofile(name + '.value')
    bits.astype(np.uint64).tofile(name + '.bits')
    with np.errstate(over='ignore', invalid='ignore'):
        off = np.abs(value.astype(np.longdouble) - x.astype(np.longdouble)) / np.ldexp(np.longdouble(1), u)
    np.where(over, np.inf, off).astype(np.float64).tofile(name + '.ulps')
)";

TEST(PrecisionLadder, RoundsAsWholeNumberArithmeticDoes) {
  const tests::ScratchFolder folder;
  ASSERT_TRUE(tests::python(folder, kLadder));
  const auto exact = readArray<double>(folder, "x");
  ASSERT_GT(exact.size(), 250000U);
  for (std::size_t rungIndex = 1; rungIndex < 5; ++rungIndex) {
    const std::string name = precisionLadder(1)[rungIndex].name;
    SCOPED_TRACE(name);
    const auto values = readArray<double>(folder, name + ".value"), ulps = readArray<double>(folder, name + ".ulps");
    const auto bits = readArray<std::uint64_t>(folder, name + ".bits");
    ASSERT_EQ(values.size(), exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const LadderRung rung = precisionLadder(exact[i])[rungIndex];
      ASSERT_EQ(rung.value, values[i]) << exact[i];
      ASSERT_EQ(numberOf(rung.bits), bits[i]) << exact[i] << " " << rung.bits;
      ASSERT_TRUE(same(rung.ulps, ulps[i])) << exact[i] << " " << rung.ulps << " " << ulps[i];
      ASSERT_EQ(rung.overflows, std::isinf(values[i])) << exact[i];
      ASSERT_EQ(rung.flushed, exact[i] != 0 && values[i] == 0) << exact[i];
    }
  }
}

// By hand: 65,520 is the middle between float16's largest value and the next step; log2(65504 / 65520) = -0.000352.
TEST(PrecisionLadder, SaysWhatAHalfLoses) {
  const auto overflow = precisionLadder(65520);
  EXPECT_TRUE(overflow[4].overflows);
  EXPECT_EQ(overflow[4].value, kInf);
  EXPECT_EQ(overflow[4].error, kInf);
  EXPECT_NEAR(overflow[4].headroomBits, -0.00035235, 1e-7);
  EXPECT_EQ(overflow[4].bits, "0 11111 0000000000");
  EXPECT_EQ(overflow[2].value, 65536) << "TF32 has 10 bits of mantissa as well";
  EXPECT_EQ(overflow[2].ulps, 0.5);
  EXPECT_EQ(overflow[1].error, 0);
  const auto small = precisionLadder(0x1p-20);
  EXPECT_TRUE(small[4].subnormal);
  EXPECT_FALSE(small[3].subnormal);
  EXPECT_EQ(small[4].bits, "0 00000 0000010000");
  EXPECT_TRUE(precisionLadder(-1e-9)[4].flushed);
  EXPECT_EQ(precisionLadder(-1e-9)[4].bits, "1 00000 0000000000");
  EXPECT_EQ(precisionLadder(1)[0].bits, "0 01111111111 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000");
  EXPECT_EQ(precisionLadder(1)[1].bits, "0 01111111 0000 0000 0000 0000 0000 000");
  EXPECT_NEAR(precisionLadder(2)[4].headroomBits, 14.9993, 1e-4) << "log2(65504) - 1";
}

TEST(PrecisionLadder, ZeroInfinityAndNanHaveNoError) {
  for (const LadderRung& rung : precisionLadder(-0.0)) {
    EXPECT_TRUE(std::signbit(rung.value));
    EXPECT_EQ(rung.ulps, 0);
    EXPECT_FALSE(rung.flushed || rung.subnormal || rung.overflows);
    EXPECT_EQ(rung.headroomBits, kInf);
    EXPECT_EQ(rung.bits[0], '1');
  }
  for (const LadderRung& rung : precisionLadder(-kInf)) {
    EXPECT_EQ(rung.value, -kInf);
    EXPECT_TRUE(std::isnan(rung.error) && std::isnan(rung.ulps));
    EXPECT_FALSE(rung.overflows);
    EXPECT_EQ(rung.headroomBits, -kInf);
  }
  for (const LadderRung& rung : precisionLadder(kNan)) {
    EXPECT_TRUE(std::isnan(rung.value) && std::isnan(rung.headroomBits) && std::isnan(rung.ulps));
    EXPECT_NE(rung.bits.substr(2).find('1'), std::string::npos);
  }
}

void expectHistogram(const tests::ScratchFolder& folder, const std::string& name, const TensorView& view) {
  SCOPED_TRACE(name);
  const ExponentHistogram found = exponentHistogram(view);
  const auto counts = readArray<std::int64_t>(folder, name + ".counts");  // of exponents -1100 to 1100; then zeros, NaN, infinite
  ASSERT_EQ(counts.size(), 2204U);
  for (int e = -1100; e <= 1100; ++e) ASSERT_EQ(found.at(e), counts[static_cast<std::size_t>(e + 1100)]) << e;
  EXPECT_EQ(found.zeros, counts[2201]);
  EXPECT_EQ(found.nan, counts[2202]);
  EXPECT_EQ(found.infinite, counts[2203]);
  EXPECT_EQ(found.elements, view.elementCount());
  ASSERT_FALSE(found.counts.empty());
  EXPECT_GT(found.counts.front(), 0);
  EXPECT_GT(found.counts.back(), 0);
}

TEST(ExponentHistogram, CountsAsNumpysFrexpDoes) {
  const tests::ScratchFolder folder;
  ASSERT_TRUE(tests::python(folder, R"(
import numpy as np
rng = np.random.default_rng(3)
def put(name, x):
    x = np.abs(x)
    finite = np.isfinite(x)
    e = np.frexp(x[finite & (x > 0)])[1] - 1
    out = np.zeros(2204, np.int64)
    out[:2201] = np.bincount(e + 1100, minlength=2201)
    out[2201:] = (x == 0).sum(), np.isnan(x).sum(), np.isinf(x).sum()
    out.tofile(name + '.counts')
put('half', np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64))
put('bfloat', (np.arange(65536, dtype=np.uint32) << 16).astype(np.uint32).view(np.float32).astype(np.float64))
x = np.concatenate([rng.integers(0, 2**64, 50000, np.uint64).view(np.float64), [5e-324, 2.0**-1060, 0.0, -0.0]])
x.tofile('double'); put('double', x)
n = rng.integers(-2**40, 2**40, 9999)
n.tofile('integer'); put('integer', n.astype(np.float64))
b = rng.integers(0, 2, 777).astype(np.uint8)
b.tofile('bool'); put('bool', b.astype(np.float64))
)"));
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  expectHistogram(folder, "half", viewOf(all, DType::float16));
  expectHistogram(folder, "bfloat", viewOf(all, DType::bfloat16));
  expectHistogram(folder, "double", viewOf(readArray<double>(folder, "double"), DType::float64));
  expectHistogram(folder, "integer", viewOf(readArray<std::int64_t>(folder, "integer"), DType::int64));
  expectHistogram(folder, "bool", viewOf(readArray<std::uint8_t>(folder, "bool"), DType::boolean));
}

TEST(ExponentHistogram, OfNanOnlyOrNothingHasNoExponents) {
  const std::vector<float> nans(5, NAN), none;
  const ExponentHistogram histogram = exponentHistogram(viewOf(nans, DType::float32));
  EXPECT_TRUE(histogram.counts.empty());
  EXPECT_EQ(histogram.nan, 5);
  EXPECT_EQ(exponentHistogram(viewOf(none, DType::float32)).elements, 0);
  EXPECT_TRUE(std::isnan(typicalMagnitude(histogram)));
  EXPECT_EQ(typicalMagnitude(exponentHistogram(viewOf(std::vector<float>{0, 0, 1, 5, 5, -6, 1e30F, NAN}, DType::float32))), 4);
}

std::vector<std::int64_t> numbersOf(const WorstElements& worst) {
  std::vector<std::int64_t> numbers;
  for (const WorstElement& w : worst.elements) numbers.push_back(w.element);
  return numbers;
}

TEST(WorstElements, AreThoseThatNumpySorts) {
  const tests::ScratchFolder folder;
  ASSERT_TRUE(tests::python(folder, R"(
import numpy as np
rng = np.random.default_rng(5)
def steps(x, low):
    if low == 'half':
        bits = x.astype(np.float16).view(np.uint16).astype(np.int64); sign = 0x8000
    else:
        u = x.astype(np.float32).view(np.uint32).astype(np.int64)
        bits = (u + 0x7fff + ((u >> 16) & 1)) >> 16; sign = 0x8000
    return np.where(bits & sign, -(bits & ~sign), bits)
a = (rng.standard_normal(20000) * 2.0 ** rng.integers(-20, 15, 20000)).astype(np.float32)
b = a.astype(np.float16)
b[::7] = (a[::7] * np.float32(1.01)).astype(np.float16)
a[100] = np.nan; b[100] = np.nan                 # the same in both
a[101] = np.inf; b[101] = np.inf
b[7000] = np.nan; b[13] = np.inf; b[400] = -np.inf
a[19000] = -np.inf; b[19000] = np.inf
a[50:60] = 3; b[50:60] = 4                        # ties
a.tofile('a'); b.tofile('b')
x, y = a.astype(np.float64), b.astype(np.float64)
bad = (~np.isfinite(x) | ~np.isfinite(y)) & ~((x == y) | (np.isnan(x) & np.isnan(y)))
ok = np.isfinite(x) & np.isfinite(y)
d = np.where(ok, np.abs(np.where(ok, y, 0) - np.where(ok, x, 0)), 0)
for name, size in [('difference', d)] + [(low, np.where(ok, np.abs(steps(np.where(ok, x, 0), low) - steps(np.where(ok, y, 0), low)), 0)) for low in ('half', 'bfloat')]:
    order = np.lexsort((np.arange(20000), -size))
    order = order[size[order] > 0]
    np.concatenate([np.flatnonzero(bad), order])[:50].astype(np.int64).tofile(name)
np.array([(d > 0).sum() + bad.sum(), bad.sum()], np.int64).tofile('counts')
np.array([d.max()]).tofile('max')
)"));
  const auto a = readArray<float>(folder, "a");
  const auto b = readArray<std::uint16_t>(folder, "b");
  const ReferenceView reference(viewOf(a, DType::float32));
  const CandidateView candidate(viewOf(b, DType::float16));
  const WorstElements byDifference = worstElements(reference, candidate, {WorstBy::difference, DType::float16, 50});
  EXPECT_EQ(numbersOf(byDifference), readArray<std::int64_t>(folder, "difference"));
  EXPECT_EQ(numbersOf(worstElements(reference, candidate, {WorstBy::ulp, DType::float16, 50})), readArray<std::int64_t>(folder, "half"));
  EXPECT_EQ(numbersOf(worstElements(reference, candidate, {WorstBy::ulp, DType::bfloat16, 50})), readArray<std::int64_t>(folder, "bfloat"));
  const auto counts = readArray<std::int64_t>(folder, "counts");
  EXPECT_EQ(byDifference.differing, counts[0]);
  EXPECT_EQ(byDifference.nonfiniteInOne, counts[1]);
  EXPECT_EQ(byDifference.maxDifference, readArray<double>(folder, "max")[0]);
  EXPECT_TRUE(byDifference.elements[0].nonfiniteInOne);
  EXPECT_EQ(byDifference.elements[0].element, 13);
  EXPECT_EQ(byDifference.elements[2].ulps, -1) << "a NaN has no distance";
}

TEST(WorstElements, OfEqualNanOnlyOrEmptyTensorsAreNone) {
  const std::vector<float> nans(4, NAN), none;
  const auto worstOf = [](const std::vector<float>& v) {
    return worstElements(ReferenceView(viewOf(v, DType::float32)), CandidateView(viewOf(v, DType::float32)), {});
  };
  EXPECT_TRUE(worstOf(nans).elements.empty());
  EXPECT_TRUE(std::isnan(worstOf(nans).maxDifference));
  EXPECT_TRUE(worstOf(none).elements.empty());
  EXPECT_EQ(worstOf({1, 2}).maxDifference, 0);
  EXPECT_EQ(worstOf({1, 2}).differing, 0);
}

// 2^53 and 2^53 + 1 are one double; their difference is not 0.
TEST(ElementPairs, SubtractWholeNumbersExactly) {
  const std::int64_t big = std::int64_t{1} << 53;
  const std::vector<std::int64_t> a = {big, std::numeric_limits<std::int64_t>::min(), 5}, b = {big + 1, std::numeric_limits<std::int64_t>::max(), 2};
  const WorstElements worst = worstElements(ReferenceView(viewOf(a, DType::int64)), CandidateView(viewOf(b, DType::int64)), {});
  EXPECT_THAT(numbersOf(worst), ElementsAre(1, 2, 0));
  EXPECT_EQ(worst.elements[0].pair.difference, 0x1p64);
  EXPECT_EQ(worst.elements[1].pair.difference, -3);
  EXPECT_EQ(worst.elements[2].pair.difference, 1);
  EXPECT_EQ(worst.elements[0].ulps, -1);
}

TEST(ElementPairs, AComplexDifferenceIsItsModulus) {
  const std::vector<std::complex<float>> a = {{3, 4}, {1, 0}}, b = {{0, 0}, {-1, 0}};
  const WorstElements worst = worstElements(ReferenceView(viewOf(a, DType::complex64)), CandidateView(viewOf(b, DType::complex64)), {});
  EXPECT_THAT(numbersOf(worst), ElementsAre(0, 1));
  EXPECT_EQ(worst.elements[0].pair.difference, 5);
  EXPECT_EQ(worst.elements[1].pair.difference, 2) << "the moduli are the same";
}

TEST(ElementPairs, WidenEveryDtypeAsElementAtDoes) {
  std::vector<std::uint64_t> raw(64);
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = 0x9E3779B97F4A7C15U * (i + 1);
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::int32, DType::int16, DType::int8, DType::uint8, DType::boolean,
                            DType::complex64, DType::complex128}) {
    const TensorView view{raw.data(), dtype, {32}};
    double wide[7];
    widenElements(view, 21, 7, wide);
    for (int i = 0; i < 7; ++i) EXPECT_TRUE(same(wide[i], elementAt(view, 21 + i))) << base::name(dtype) << " " << i;
  }
}

TEST(ElementText, IsExactInItsOwnDtype) {
  const std::vector<double> doubles = {0.1, 1e22, kNan, -kInf};
  EXPECT_EQ(elementText(viewOf(doubles, DType::float64), 0), "0.1");
  EXPECT_EQ(elementText(viewOf(doubles, DType::float64), 2), "NaN");
  EXPECT_EQ(elementText(viewOf(doubles, DType::float64), 3), "-inf");
  const std::vector<float> floats = {0.1F};
  EXPECT_EQ(elementText(viewOf(floats, DType::float32), 0), "0.100000001");
  const std::vector<std::int64_t> integers = {(std::int64_t{1} << 53) + 1};
  EXPECT_EQ(elementText(viewOf(integers, DType::int64), 0), "9,007,199,254,740,993");
  const std::vector<std::uint8_t> bools = {0, 1};
  EXPECT_EQ(elementText(viewOf(bools, DType::boolean), 0), "false");
  EXPECT_EQ(elementText(viewOf(bools, DType::boolean), 1), "true");
  const std::vector<std::complex<float>> z = {{0.5F, -2}};
  EXPECT_EQ(elementText(viewOf(z, DType::complex64), 0), "0.5 - 2i");
}

}  // namespace
}  // namespace ulpscope::analysis
