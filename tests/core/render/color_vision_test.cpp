#include "core/render/colors.h"
#include "tests/support/color_vision.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ulpscope::render {
namespace {

using tests::difference;
using tests::labOf;
using tests::Vision;

constexpr double kApart = 10;  // CIEDE2000

// Pairs 1, 16, 17 and 34 of the data that Sharma, Wu and Dalal publish with their paper.
TEST(ColorDifference, IsThatOfThePublishedPairs) {
  EXPECT_NEAR(difference({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425, 1e-4);
  EXPECT_NEAR(difference({50, 2.5, 0}, {50, 0, -2.5}), 4.3065, 1e-4);
  EXPECT_NEAR(difference({50, 2.5, 0}, {73, 25, -18}), 27.1492, 1e-4);
  EXPECT_NEAR(difference({2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}), 0.9082, 1e-4);
}

// Without red or green, a red and a green of one lightness all but meet; without blue, blue and green do.
TEST(ColorVision, ConfusesWhatPeopleConfuse) {
  const auto apart = [](Vision vision) { return difference(labOf(190, 100, 60, vision), labOf(120, 130, 50, vision)); };
  EXPECT_GT(apart(Vision::all), 30);
  EXPECT_LT(apart(Vision::noGreen), 12);
  EXPECT_LT(difference(labOf(0, 150, 160, Vision::noBlue), labOf(0, 150, 120, Vision::noBlue)), difference(labOf(0, 150, 160), labOf(0, 150, 120)) / 2);
}

using Named = std::pair<const char*, Rgb>;

void expectApart(const std::vector<Named>& colors, const char* where) {
  for (const Vision vision : tests::kVisions)
    for (std::size_t i = 0; i < colors.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Rgb& a = colors[i].second;
        const Rgb& b = colors[j].second;
        EXPECT_GE(difference(labOf(a.r, a.g, a.b, vision), labOf(b.r, b.g, b.b, vision)), kApart)
            << colors[i].first << " and " << colors[j].first << ", " << where << ", vision " << static_cast<int>(vision);
      }
}

TEST(ColorVision, KeepsSpecialValuesAndTheEndsOfTheMapApart) {
  for (const Theme theme : {Theme::light, Theme::dark})
    for (const ColorMap map : {ColorMap::viridis, ColorMap::cividis, ColorMap::vik}) {
      const SpecialColors s = specialColors(theme);
      // NaN is hatched black and white; its white lines stand alone for -inf, which has an outline and a triangle.
      expectApart({{"NaN", s.nan}, {"+inf", s.plusInf}, {"-inf", s.minusInf}, {"exact zero", s.exactZero}, {"not run", s.notRun}, {"low", colorAt(map, 0)}, {"high", colorAt(map, 1)}},
                  (label(map) + (theme == Theme::light ? ", light" : ", dark")).c_str());
    }
}

}  // namespace
}  // namespace ulpscope::render
