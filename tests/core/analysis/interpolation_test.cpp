#include "core/analysis/interpolation.h"

#include "core/base/float_formats.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ulpscope::analysis {
namespace {

using base::DType;

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

TensorView viewOf(const std::vector<float>& values) { return {values.data(), DType::float32, {static_cast<std::int64_t>(values.size())}}; }

template <typename T>
std::vector<T> valuesOf(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(InputPath, GoesInDoubleAndRoundsOnce) {
  // Of 0.1f + t (0.7f - 0.1f) at t = 0.3f in double: 0.28000000827014447, the nearest float32 of which is 0.280000001 (0x3e8f5c29).
  const std::vector<float> a{0.1F, 3.0F}, b{0.7F, -1.0F};
  const InputPath path = InputPath::towards(viewOf(a), {viewOf(b)});
  const std::vector<float> x = valuesOf<float>(path.at({static_cast<double>(0.3F)}));
  EXPECT_EQ(x[0], static_cast<float>(static_cast<double>(0.1F) + static_cast<double>(0.3F) * (static_cast<double>(0.7F) - static_cast<double>(0.1F))));
  EXPECT_EQ(x[1], static_cast<float>(3.0 + static_cast<double>(0.3F) * -4.0));
}

TEST(InputPath, IsEachEndToTheBit) {
  // 1e8 + 1 (1e-8 - 1e8) is 0 in double.
  const std::vector<float> a{1e8F, -0.0F}, b{1e-8F, 0.0F}, c{5.0F, 1.0F};
  const InputPath path = InputPath::towards(viewOf(a), {viewOf(b), viewOf(c)});
  EXPECT_EQ(valuesOf<float>(path.at({1, 0})), b);
  EXPECT_EQ(valuesOf<float>(path.at({0, 1})), c);
  EXPECT_TRUE(std::signbit(valuesOf<float>(path.at({0, 0}))[1]));
}

TEST(InputPath, OnAPlaneBothWaysAreAdded) {
  const std::vector<float> a{1.0F}, b{3.0F}, c{11.0F};
  EXPECT_EQ(valuesOf<float>(InputPath::towards(viewOf(a), {viewOf(b), viewOf(c)}).at({0.5, 0.25}))[0], 1 + 0.5F * 2 + 0.25F * 10);
  EXPECT_EQ(valuesOf<float>(InputPath::towards(viewOf(a), {viewOf(b), viewOf(c)}).at({1, 1}))[0], 13.0F) << "no end of its own";
}

TEST(InputPath, WhatIsTheSameInBothDoesNotMove) {
  const std::vector<float> a{-kInf, kNaN, 2.0F}, b{-kInf, kNaN, 4.0F};
  const std::vector<float> x = valuesOf<float>(InputPath::towards(viewOf(a), {viewOf(b)}).at({0.5}));
  EXPECT_EQ(x[0], -kInf);
  EXPECT_TRUE(std::isnan(x[1]));
  EXPECT_EQ(x[2], 3.0F);
  EXPECT_FALSE(hasGap(viewOf(a), viewOf(b)));
  EXPECT_TRUE(hasGap(viewOf(a), viewOf({0.0F, kNaN, 2.0F})));
  EXPECT_TRUE(hasGap(viewOf({kInf}), viewOf({-kInf})));
}

TEST(InputPath, RoundsToHalfOnceNotByWayOfFloat32) {
  // 1 + 2^-11 + 2^-40 is above the middle of 1 and 1 + 2^-10; its float32 is the middle, which would go to the even 1.
  const std::vector<std::uint16_t> one{0x3C00}, two{0x4000};
  const TensorView a{one.data(), DType::float16, {1}}, b{two.data(), DType::float16, {1}};
  const double t = 0x1p-11 + 0x1p-40;
  EXPECT_EQ(valuesOf<std::uint16_t>(InputPath::towards(a, {b}).at({t}))[0], 0x3C01);
  const std::vector<std::uint16_t> bOne{0x3F80}, bTwo{0x4000};
  const TensorView c{bOne.data(), DType::bfloat16, {1}}, d{bTwo.data(), DType::bfloat16, {1}};
  EXPECT_EQ(valuesOf<std::uint16_t>(InputPath::towards(c, {d}).at({0x1p-8 + 0x1p-40}))[0], 0x3F81);
}

TEST(InputPath, GoesAlongADirection) {
  const std::vector<double> start{1.0, 2.0};
  const TensorView a{start.data(), DType::float64, {2}};
  const InputPath path = InputPath::along(a, {0.6, -0.8});
  EXPECT_THAT(valuesOf<double>(path.at({0.5})), testing::ElementsAre(1 + 0.5 * 0.6, 2 - 0.5 * 0.8));
  EXPECT_THAT(valuesOf<double>(path.at({1})), testing::ElementsAre(1 + 0.6, 2 - 0.8));
  EXPECT_EQ(valuesOf<double>(path.at({0})), start);
}

TEST(InputPath, NothingIsAPathTooAndSameElementsAreBits) {
  const std::vector<float> none;
  EXPECT_TRUE(InputPath::towards(viewOf(none), {viewOf(none)}).at({0.5}).empty());
  EXPECT_TRUE(sameElements(viewOf({1.0F, kNaN}), viewOf({1.0F, kNaN})));
  EXPECT_FALSE(sameElements(viewOf({0.0F}), viewOf({-0.0F})));
}

}  // namespace
}  // namespace ulpscope::analysis
