// Expected map colours: matplotlib's table of viridis (CC0) and Crameri's vik.txt, rows as named, times 255.
#include "core/render/heatmap.h"
#include "core/render/viewport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ulpscope::render {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expectNear(Rgb actual, double r, double g, double b, double tolerance) {
  EXPECT_NEAR(actual.r, r, tolerance);
  EXPECT_NEAR(actual.g, g, tolerance);
  EXPECT_NEAR(actual.b, b, tolerance);
}

TEST(ColorMap, ViridisFollowsThePublishedTable) {
  expectNear(colorAt(ColorMap::viridis, 0), 0.267004 * 255, 0.004874 * 255, 0.329415 * 255, 1);
  expectNear(colorAt(ColorMap::viridis, 64 / 255.0), 0.229739 * 255, 0.322361 * 255, 0.545706 * 255, 2);
  expectNear(colorAt(ColorMap::viridis, 121 / 255.0), 0.135066 * 255, 0.544853 * 255, 0.554029 * 255, 3);
  expectNear(colorAt(ColorMap::viridis, 175 / 255.0), 0.259857 * 255, 0.745492 * 255, 0.444467 * 255, 4);
}

TEST(ColorMap, VikIsPaleInTheMiddleAndBlueToRedAtTheEnds) {
  expectNear(colorAt(ColorMap::vik, 0), 0x00, 0x12, 0x61, 1);
  expectNear(colorAt(ColorMap::vik, 0.5), 0xec, 0xe5, 0xe1, 1);
  expectNear(colorAt(ColorMap::vik, 1), 0x59, 0x00, 0x08, 1);
}

TEST(ColorMap, ClampsOutsideAndTakesNanAsZero) {
  EXPECT_EQ(colorAt(ColorMap::cividis, -3), colorAt(ColorMap::cividis, 0));
  EXPECT_EQ(colorAt(ColorMap::cividis, 7), colorAt(ColorMap::cividis, 1));
  EXPECT_EQ(colorAt(ColorMap::cividis, kNan), colorAt(ColorMap::cividis, 0));
}

TEST(ColorPosition, IsLogarithmicForErrors) {
  const ColorRange range{1e-6, 1e-2};
  EXPECT_NEAR(colorPosition(1e-4, range, ColorMap::viridis), 0.5, 1e-12);
  EXPECT_NEAR(colorPosition(1e-3, range, ColorMap::viridis), 0.75, 1e-12);
  EXPECT_EQ(colorPosition(HUGE_VAL, range, ColorMap::viridis), 1);
}

TEST(ColorPosition, IsSymmetricForDifferences) {
  const ColorRange range{1e-3, 1e-1};
  EXPECT_EQ(colorPosition(0, range, ColorMap::vik), 0.5);
  EXPECT_NEAR(colorPosition(1e-1, range, ColorMap::vik), 1, 1e-12);
  EXPECT_NEAR(colorPosition(-1e-1, range, ColorMap::vik), 0, 1e-12);
  for (const double v : {1e-5, 1e-3, 0.02})
    EXPECT_NEAR(colorPosition(v, range, ColorMap::vik) + colorPosition(-v, range, ColorMap::vik), 1, 1e-12);
  // Linear part: half of `low` is half of the first step, which is 1/3 of the half axis (one step and two decades).
  EXPECT_NEAR(colorPosition(5e-4, range, ColorMap::vik), 0.5 + 0.5 / 3 / 2, 1e-12);
}

// Linear RGB as people with one kind of cone missing see it: Machado, Oliveira, Fernandes 2009 (IEEE TVCG 15:6),
// severity 1.0.
struct Deficiency {
  const char* name;
  double m[3][3];
};
constexpr Deficiency kDeficiencies[] = {
    {"protanopia", {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {"deuteranopia", {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {"tritanopia", {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
};

double toLinear(double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); }

struct Lab {
  double l, a, b;
};

Lab seen(Rgb color, const Deficiency& deficiency) {
  const double in[3] = {toLinear(color.r / 255.0), toLinear(color.g / 255.0), toLinear(color.b / 255.0)};
  double out[3];
  for (int i = 0; i < 3; ++i)
    out[i] = std::fmin(1, std::fmax(0, deficiency.m[i][0] * in[0] + deficiency.m[i][1] * in[1] + deficiency.m[i][2] * in[2]));
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * out[0] + 0.3576 * out[1] + 0.1805 * out[2]) / 0.95047);
  const double y = f(0.2126 * out[0] + 0.7152 * out[1] + 0.0722 * out[2]);
  const double z = f((0.0193 * out[0] + 0.1192 * out[1] + 0.9505 * out[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(const Lab& a, const Lab& b) { return std::hypot(a.l - b.l, a.a - b.a, a.b - b.b); }

TEST(SpecialColors, StayApartForPeopleWhoDoNotSeeRedGreenOrBlue) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const SpecialColors special = specialColors(theme);
    for (const Deficiency& deficiency : kDeficiencies)
      for (const ColorMap map : {ColorMap::viridis, ColorMap::cividis}) {
        const Rgb colors[] = {special.nan, special.plusInf, special.minusInf, special.exactZero, colorAt(map, 0), colorAt(map, 1)};
        for (std::size_t i = 0; i < std::size(colors); ++i)
          for (std::size_t j = 0; j < i; ++j)
            EXPECT_GT(distance(seen(colors[i], deficiency), seen(colors[j], deficiency)), 10)
                << deficiency.name << " confuses colours " << j << " and " << i << " of " << label(map);
      }
  }
}

TEST(ColorPosition, IsAShareOfTheRangeOnALinearScale) {
  const ColorRange range{0, 0.02, Scale::linear};
  EXPECT_NEAR(colorPosition(0.005, range, ColorMap::viridis), 0.25, 1e-12);
  EXPECT_EQ(colorPosition(0.03, range, ColorMap::viridis), 1);
  EXPECT_EQ(colorPosition(-1, range, ColorMap::viridis), 0);
  EXPECT_NEAR(colorPosition(-0.01, range, ColorMap::vik), 0.25, 1e-12);
  EXPECT_EQ(colorPosition(HUGE_VAL, range, ColorMap::vik), 1);
}

TEST(RangeTicks, AreDecadesOrEqualSteps) {
  EXPECT_EQ(rangeTicks({1e-2, 1}, ColorMap::viridis).size(), 3U);
  EXPECT_EQ(rangeTicks({1e-1, 1}, ColorMap::vik), (std::vector<double>{-1, -0.1, 0, 0.1, 1}));
  const std::vector<double> linear = rangeTicks({0, 2, Scale::linear}, ColorMap::viridis);
  EXPECT_EQ(linear, (std::vector<double>{0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(rangeTicks({0, 2, Scale::linear}, ColorMap::vik).size(), 9U);
  EXPECT_EQ(rangeTicks({0, 5e-3, Scale::linear}, ColorMap::viridis).size(), 6U);
}

}  // namespace
}  // namespace ulpscope::render
