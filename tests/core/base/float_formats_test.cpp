// All 65,536 patterns of both formats: against the definition of IEEE 754 binary interchange formats written out here,
// and against numpy's float16.
#include "core/base/float_formats.h"
#include "tests/support/python_script.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

using namespace ulpscope::base;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Format {
  const char* name;
  int exponentBits;
  int mantissaBits;
  DType dtype;
  std::uint16_t (*fromDouble)(double);
  std::uint16_t (*fromFloat)(float);
  float (*toFloat)(std::uint16_t);

  int exponentMax() const { return (1 << exponentBits) - 1; }
  std::uint16_t infinity() const { return static_cast<std::uint16_t>(exponentMax() << mantissaBits); }
};

const Format kFormats[] = {{"float16", 5, 10, DType::float16, halfFromDouble, halfFromFloat, floatFromHalf},
                           {"bfloat16", 8, 7, DType::bfloat16, bfloat16FromDouble, bfloat16FromFloat, floatFromBfloat16}};

// (-1)^s 2^(e-bias) (1 + m/2^p), subnormals 2^(1-bias) m/2^p: IEEE 754-2019, 3.4.
double valueOf(const Format& format, std::uint16_t bits) {
  const int exponent = (bits >> format.mantissaBits) & format.exponentMax();
  const int mantissa = bits & ((1 << format.mantissaBits) - 1);
  const int bias = format.exponentMax() / 2;
  const double sign = (bits & 0x8000) ? -1 : 1;
  if (exponent == format.exponentMax()) return mantissa ? kNan : sign * kInf;
  const double fraction = mantissa / std::pow(2.0, format.mantissaBits);
  return sign * (exponent == 0 ? fraction * std::pow(2.0, 1 - bias) : (1 + fraction) * std::pow(2.0, exponent - bias));
}

TEST(FloatFormats, EveryPatternWidensToItsValue) {
  for (const Format& format : kFormats)
    for (int bits = 0; bits < 65536; ++bits) {
      const double expected = valueOf(format, static_cast<std::uint16_t>(bits));
      const float got = format.toFloat(static_cast<std::uint16_t>(bits));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << format.name << " " << bits;
        continue;
      }
      ASSERT_EQ(got, expected) << format.name << " " << bits;
      ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << format.name << " " << bits;
    }
}

TEST(FloatFormats, EveryPatternComesBack) {
  for (const Format& format : kFormats)
    for (int bits = 0; bits < 65536; ++bits) {
      const float value = format.toFloat(static_cast<std::uint16_t>(bits));
      const std::uint16_t back = format.fromFloat(value);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(format.toFloat(back))) << format.name << " " << bits;
        continue;
      }
      ASSERT_EQ(back, bits) << format.name;
      ASSERT_EQ(format.fromDouble(value), bits) << format.name;
      ASSERT_EQ(roundTo(format.dtype, value), value) << format.name;
    }
}

// Between any two neighbours: the middle goes to the even one, and the doubles beside the middle to their own side.
// float32 cannot tell those from the middle, so a rounding by way of float32 fails here.
TEST(FloatFormats, EveryMiddleTiesToEvenAndItsNeighboursDoNot) {
  for (const Format& format : kFormats)
    for (int low = 0; low + 1 <= format.infinity(); ++low) {
      const auto bits = static_cast<std::uint16_t>(low);
      const double below = valueOf(format, bits);
      // The step above the largest finite value has the width of the one below it.
      const double above = low + 1 == format.infinity() ? 2 * below - valueOf(format, static_cast<std::uint16_t>(low - 1))
                                                        : valueOf(format, static_cast<std::uint16_t>(low + 1));
      const double middle = below + (above - below) / 2;
      const auto even = static_cast<std::uint16_t>(low % 2 == 0 ? low : low + 1);
      for (const double sign : {1.0, -1.0}) {
        const int signBit = sign < 0 ? 0x8000 : 0;
        ASSERT_EQ(format.fromDouble(sign * middle), even | signBit) << format.name << " " << low;
        ASSERT_EQ(format.fromDouble(sign * std::nextafter(middle, 0.0)), low | signBit) << format.name << " " << low;
        ASSERT_EQ(format.fromDouble(sign * std::nextafter(middle, kInf)), (low + 1) | signBit) << format.name << " " << low;
        const auto middleFloat = static_cast<float>(middle);
        ASSERT_EQ(middleFloat, middle) << "the test's own premise";
        ASSERT_EQ(format.fromFloat(static_cast<float>(sign) * middleFloat), even | signBit) << format.name << " " << low;
        ASSERT_EQ(format.fromFloat(static_cast<float>(sign) * std::nextafter(middleFloat, INFINITY)), (low + 1) | signBit) << format.name << " " << low;
        ASSERT_EQ(format.fromFloat(static_cast<float>(sign) * std::nextafter(middleFloat, 0.0F)), low | signBit) << format.name << " " << low;
      }
    }
}

TEST(FloatFormats, AgreesWithNumpysFloat16) {
  ulpscope::tests::ScratchFolder folder;
  ASSERT_TRUE(ulpscope::tests::python(folder, R"(
import numpy as np
np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32).tofile('widened')
rng = np.random.default_rng(7)
values = np.concatenate([rng.standard_normal(100000) * 10.0 ** rng.integers(-9, 6, 100000),
                         rng.integers(0, 2**64, 100000, np.uint64).view(np.float64),
                         [65504, 65519.99, 65519.999999999, 65520, 65536, 2**-24, 2**-25, 2**-25 * (1 + 2**-52), 5.96e-8, 255.979, 0.0, -0.0]])
values = values[~np.isnan(values)]
values.tofile('values')
with np.errstate(over='ignore'):
    values.astype(np.float16).view(np.uint16).tofile('halves')
)"));
  const std::string widened = ulpscope::tests::readFile(folder.file("widened"));
  ASSERT_EQ(widened.size(), 65536U * 4);
  for (int bits = 0; bits < 65536; ++bits) {
    float expected = 0;
    std::memcpy(&expected, widened.data() + 4 * bits, 4);
    const float got = floatFromHalf(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(got)) << bits;
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(expected)) << bits;
  }
  const std::string values = ulpscope::tests::readFile(folder.file("values")), halves = ulpscope::tests::readFile(folder.file("halves"));
  ASSERT_GT(values.size(), 8U * 190000);
  for (std::size_t i = 0; i < values.size() / 8; ++i) {
    double value = 0;
    std::uint16_t expected = 0;
    std::memcpy(&value, values.data() + 8 * i, 8);
    std::memcpy(&expected, halves.data() + 2 * i, 2);
    ASSERT_EQ(halfFromDouble(value), expected) << value;
  }
}

// The places where HDF5 1.10 and naive conversions go wrong.
TEST(FloatFormats, OverflowsFromWhereTheFormatsSay) {
  EXPECT_EQ(roundTo(DType::float16, 65504.0), 65504.0);
  EXPECT_EQ(roundTo(DType::float16, 65519.99), 65504.0);
  EXPECT_EQ(roundTo(DType::float16, std::nextafter(65520.0, 0.0)), 65504.0);
  EXPECT_EQ(roundTo(DType::float16, 65520.0), kInf);
  EXPECT_EQ(roundTo(DType::float16, -65520.0), -kInf);
  EXPECT_EQ(roundTo(DType::float16, 255.979), 256.0);
  EXPECT_EQ(halfFromFloat(65519.99F), 0x7BFF);
  EXPECT_EQ(halfFromFloat(65520.0F), 0x7C00);
  const double bfloat16Edge = std::ldexp(1.0, 128) - std::ldexp(1.0, 119);
  EXPECT_EQ(roundTo(DType::bfloat16, bfloat16Edge), kInf);
  EXPECT_EQ(roundTo(DType::bfloat16, std::nextafter(bfloat16Edge, 0.0)), limits(DType::bfloat16).maxFinite);
  EXPECT_EQ(roundTo(DType::float32, 3.5e38), kInf);
}

TEST(FloatFormats, KeepsSubnormalsZerosAndTheirSigns) {
  EXPECT_EQ(halfFromDouble(std::ldexp(1.0, -24)), 0x0001);
  EXPECT_EQ(halfFromDouble(std::ldexp(1.0, -25)), 0x0000) << "a tie, to even";
  EXPECT_EQ(halfFromDouble(std::ldexp(3.0, -25)), 0x0002) << "a tie, to even";
  EXPECT_EQ(halfFromDouble(-std::ldexp(1.0, -26)), 0x8000);
  EXPECT_EQ(halfFromDouble(-0.0), 0x8000);
  EXPECT_EQ(bfloat16FromDouble(std::ldexp(1.0, -133)), 0x0001);
  EXPECT_EQ(bfloat16FromFloat(-1e-45F), 0x8000);
  EXPECT_EQ(halfFromDouble(5e-324), 0x0000);
}

TEST(FloatFormats, NanStaysNanAndInfinityInfinity) {
  for (const Format& format : kFormats) {
    EXPECT_TRUE(std::isnan(format.toFloat(format.fromDouble(kNan))));
    EXPECT_TRUE(std::isnan(format.toFloat(format.fromFloat(std::bit_cast<float>(0x7F800001U))))) << "a payload in the low bits only";
    EXPECT_EQ(format.fromDouble(kInf), format.infinity());
    EXPECT_EQ(format.fromFloat(-INFINITY), format.infinity() | 0x8000);
    EXPECT_EQ(format.fromDouble(1e308), format.infinity());
  }
}

// 1 + 2^-11 + 2^-40 lies above the middle of two float16 numbers; float32 rounds it onto the middle, which then ties down.
TEST(FloatFormats, RoundsDoublesOnce) {
  const double value = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(halfFromDouble(value), 0x3C01);
  EXPECT_EQ(halfFromFloat(static_cast<float>(value)), 0x3C00);
  EXPECT_EQ(bfloat16FromDouble(1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40)), 0x3F81);
}

TEST(FloatFormats, LimitsAreThoseOfTheExtremePatterns) {
  for (const Format& format : kFormats) {
    const FormatLimits limit = limits(format.dtype);
    EXPECT_EQ(limit.maxFinite, valueOf(format, static_cast<std::uint16_t>(format.infinity() - 1)));
    EXPECT_EQ(limit.minNormal, valueOf(format, static_cast<std::uint16_t>(1 << format.mantissaBits)));
    EXPECT_EQ(limit.minSubnormal, valueOf(format, 1));
    EXPECT_EQ(limit.mantissaBits, format.mantissaBits);
    EXPECT_EQ(format.fromDouble(limit.overflowFrom), format.infinity());
    EXPECT_EQ(format.fromDouble(std::nextafter(limit.overflowFrom, 0.0)), format.infinity() - 1);
  }
  const FormatLimits single = limits(DType::float32);
  EXPECT_EQ(single.maxFinite, std::numeric_limits<float>::max());
  EXPECT_EQ(single.minNormal, std::numeric_limits<float>::min());
  EXPECT_EQ(single.minSubnormal, std::numeric_limits<float>::denorm_min());
  EXPECT_TRUE(std::isinf(static_cast<float>(single.overflowFrom)));
  EXPECT_FALSE(std::isinf(static_cast<float>(std::nextafter(single.overflowFrom, 0.0))));
  EXPECT_EQ(limits(DType::float64).minSubnormal, std::numeric_limits<double>::denorm_min());
}

TEST(FloatFormats, Tf32KeepsTenBitsAndTiesToEven) {
  EXPECT_EQ(roundToTf32(1.0F + 0x1p-11F), 1.0F);
  EXPECT_EQ(roundToTf32(1.0F + 0x1p-11F + 0x1p-23F), 1.0F + 0x1p-10F);
  EXPECT_EQ(roundToTf32(1.0F + 3 * 0x1p-11F), 1.0F + 0x1p-9F);
  EXPECT_EQ(roundToTf32(65520.0F), 65536.0F);
  EXPECT_EQ(roundToTf32(-0.1F), -0x1.998p-4F);
  EXPECT_TRUE(std::isnan(roundToTf32(NAN)));
  EXPECT_EQ(roundToTf32(-INFINITY), -INFINITY);
}

// Its 19 bits are the upper ones of a float32; limits follow from the largest and smallest patterns.
TEST(FloatFormats, Tf32FromDoubleRoundsOnceWithinItsLimits) {
  const FormatLimits limit = tf32Limits();
  EXPECT_EQ(limit.maxFinite, std::bit_cast<float>(0x7F7FE000U));
  EXPECT_EQ(limit.minNormal, std::bit_cast<float>(0x00800000U));
  EXPECT_EQ(limit.minSubnormal, std::bit_cast<float>(0x00002000U));
  EXPECT_EQ(tf32FromDouble(limit.overflowFrom), kInf);
  EXPECT_EQ(tf32FromDouble(-std::nextafter(limit.overflowFrom, 0.0)), -limit.maxFinite);
  EXPECT_EQ(tf32FromDouble(1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10) << "by way of float32 it would be a tie";
  EXPECT_EQ(tf32FromDouble(0x1p-137), 0);
  EXPECT_EQ(tf32FromDouble(0x1p-137 * (1 + 0x1p-52)), 0x1p-136);
  EXPECT_TRUE(std::signbit(tf32FromDouble(-0.0)));
  EXPECT_TRUE(std::isnan(tf32FromDouble(kNan)));
  for (std::uint32_t pattern = 0; pattern < (1U << 18); ++pattern) {
    const float value = std::bit_cast<float>(pattern << 13);
    if (std::isnan(value)) continue;
    ASSERT_EQ(tf32FromDouble(value), value) << pattern;
    ASSERT_EQ(roundToTf32(value), value) << pattern;
  }
}

TEST(UlpDistance, CountsStepsAcrossTheWholeLine) {
  for (const Format& format : kFormats) {
    for (int bits = 0; bits < format.infinity(); ++bits) {
      const double a = valueOf(format, static_cast<std::uint16_t>(bits)), b = valueOf(format, static_cast<std::uint16_t>(bits + 1));
      ASSERT_EQ(ulpDistance(format.dtype, a, b), 1) << format.name << " " << bits;
      ASSERT_EQ(ulpDistance(format.dtype, -b, -a), 1) << format.name << " " << bits;
      ASSERT_EQ(ulpDistance(format.dtype, a, -a), 2 * bits) << format.name << " " << bits;
    }
    EXPECT_EQ(ulpDistance(format.dtype, 0.0, -0.0), 0);
    EXPECT_EQ(ulpDistance(format.dtype, -kInf, kInf), 2 * format.infinity());
    EXPECT_EQ(ulpDistance(format.dtype, kInf, limits(format.dtype).maxFinite), 1);
  }
  EXPECT_EQ(ulpDistance(DType::float16, 1.0, 1.0001), 0) << "both round to 1";
  EXPECT_EQ(ulpDistance(DType::float16, 1.0, 2.0), 1024);
  EXPECT_EQ(ulpDistance(DType::bfloat16, 1.0, 2.0), 128);
}

}  // namespace
