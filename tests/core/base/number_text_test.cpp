#include "core/base/number_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace ulpscope::base;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ShortNumber, HasThreeDigits) {
  EXPECT_EQ(shortNumber(0), "0");
  EXPECT_EQ(shortNumber(-0.0), "0");
  EXPECT_EQ(shortNumber(0.6712), "0.671");
  EXPECT_EQ(shortNumber(-1.5), "-1.5");
  EXPECT_EQ(shortNumber(123.4), "123");
  EXPECT_EQ(shortNumber(1.5e-3), "0.0015");
  EXPECT_EQ(shortNumber(9.99e-4), "9.99e-04");
  EXPECT_EQ(shortNumber(1.2345e-7), "1.23e-07");
  EXPECT_EQ(shortNumber(2.5e6), "2.50e+06");
  EXPECT_EQ(shortNumber(5e-324), "4.94e-324");
}

TEST(ShortNumber, NamesNonFiniteValues) {
  EXPECT_EQ(shortNumber(kNan), "NaN");
  EXPECT_EQ(shortNumber(-kNan), "NaN");
  EXPECT_EQ(shortNumber(kInf), "+inf");
  EXPECT_EQ(shortNumber(-kInf), "-inf");
}

TEST(ExactNumber, BringsBackEveryFloat) {
  for (const float value : {0.1F, 1.0F / 3.0F, 255.979F, 65504.0F, 1e-45F, 3.4028235e38F, -16777217.0F})
    EXPECT_EQ(std::strtof(exactNumber(value).c_str(), nullptr), value);
  EXPECT_EQ(exactNumber(kNan), "NaN");
}

TEST(GroupedNumber, SeparatesThousands) {
  EXPECT_EQ(groupedNumber(65504), "65,504");
  EXPECT_EQ(groupedNumber(81920.5), "81,920.5");
  EXPECT_EQ(groupedNumber(-81920), "-81,920");
  EXPECT_EQ(groupedNumber(999.96), "1,000");
  EXPECT_EQ(groupedNumber(0), "0");
  EXPECT_EQ(groupedNumber(7), "7");
  EXPECT_EQ(groupedNumber(0.5), "0.5");
  EXPECT_EQ(groupedNumber(1234567.4), "1,234,567");
  EXPECT_EQ(groupedNumber(1e20), "1.00e+20");
  EXPECT_EQ(groupedNumber(kInf), "+inf");
  EXPECT_EQ(groupedInteger(-1234567), "-1,234,567");
  EXPECT_EQ(groupedInteger(999), "999");
  EXPECT_EQ(groupedInteger(std::numeric_limits<std::int64_t>::max()), "9,223,372,036,854,775,807");
  EXPECT_EQ(groupedInteger(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Counted, KnowsOneFromMany) {
  EXPECT_EQ(counted(0, "sample"), "0 samples");
  EXPECT_EQ(counted(1, "sample"), "1 sample");
  EXPECT_EQ(counted(1200, "sample"), "1,200 samples");
}

TEST(JsonNumber, KeepsWhatJsonCannotSay) {
  for (const double value : {0.1, -0.0, 5e-324, 1e308, kInf, -kInf}) {
    const double back = numberFromJson(nlohmann::json::parse(jsonNumber(value).dump()));
    EXPECT_EQ(back, value);
    EXPECT_EQ(std::signbit(back), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(numberFromJson(jsonNumber(kNan))));
  EXPECT_EQ(jsonNumber(kNan), "NaN");
  EXPECT_EQ(jsonNumber(kInf), "+inf");
  EXPECT_TRUE(std::isnan(numberFromJson(nullptr)));
  EXPECT_TRUE(std::isnan(numberFromJson("inf")));
}

TEST(NumberText, DoesNotFollowTheLocale) {
  const char* before = std::setlocale(LC_ALL, nullptr);
  const std::string saved = before ? before : "C";
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, locale);
    EXPECT_EQ(shortNumber(0.5), "0.5");
    EXPECT_EQ(exactNumber(1.25), "1.25");
  }
  std::setlocale(LC_ALL, saved.c_str());
}

}  // namespace
