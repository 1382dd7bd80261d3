// Expected pixels by hand: (v - min) / (max - min) * 255, rounded.
#include "core/render/thumbnail.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ulpscope::render {
namespace {

using base::DType;
using Kind = Thumbnail::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr ThumbnailSize kLarge{64, 64};

template <typename T>
storage::RawTensor tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  storage::RawTensor t{"x", dtype, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}
storage::RawTensor floats(std::vector<std::int64_t> shape, const std::vector<float>& values) { return tensor(DType::float32, std::move(shape), values); }
Thumbnail make(const storage::RawTensor& t, ThumbnailSize most = kLarge) { return thumbnailOf(t, most, Theme::light); }
std::vector<int> reds(const Thumbnail& t) {
  std::vector<int> values;
  for (std::size_t i = 0; i < t.rgba.size(); i += 4) values.push_back(t.rgba[i]);
  return values;
}
Rgb pixel(const Thumbnail& t, std::size_t i) { return {t.rgba[4 * i], t.rgba[4 * i + 1], t.rgba[4 * i + 2]}; }

TEST(Thumbnails, StretchAnImageOverItsOwnRange) {
  const Thumbnail t = make(floats({1, 2, 2}, {-1, 0, 1, 3}));
  EXPECT_EQ(t.kind, Kind::image);
  EXPECT_EQ(t.width, 2);
  EXPECT_EQ(t.height, 2);
  EXPECT_THAT(reds(t), ElementsAre(0, 64, 128, 255));
  EXPECT_EQ(t.rgba[3], 255);
  EXPECT_EQ(t.caption, "float32 [1, 2, 2], -1 to 3");
  EXPECT_THAT(reds(make(floats({2, 2}, {-1, 0, 1, 3}))), ElementsAre(0, 64, 128, 255)) << "a plain map likewise";
}

TEST(Thumbnails, StretchThreeChannelsTogether) {
  const Thumbnail t = make(floats({3, 1, 2}, {0, 4, 1, 3, 2, 2}));
  EXPECT_EQ(pixel(t, 0), (Rgb{0, 64, 128}));
  EXPECT_EQ(pixel(t, 1), (Rgb{255, 191, 128}));
}

TEST(Thumbnails, ShowBytesAsTheyAre) { EXPECT_THAT(reds(make(tensor<std::uint8_t>(DType::uint8, {1, 1, 3}, {0, 10, 20}))), ElementsAre(0, 10, 20)); }

TEST(Thumbnails, ShowAConstantAsMiddleGrey) {
  const Thumbnail t = make(floats({1, 1, 1}, {7}));
  EXPECT_EQ(t.width * t.height, 1);
  EXPECT_THAT(reds(t), ElementsAre(128));
  EXPECT_EQ(t.caption, "float32 [1, 1, 1], all 7");
}

TEST(Thumbnails, GiveNanAndInfinityColoursOfTheirOwn) {
  const Thumbnail t = make(floats({1, 1, 5}, {kNan, kInf, -kInf, 2, 4}));
  const SpecialColors special = specialColors(Theme::light);
  EXPECT_EQ(pixel(t, 0), special.nan);
  EXPECT_EQ(pixel(t, 1), special.plusInf);
  EXPECT_EQ(pixel(t, 2), special.minusInf);
  EXPECT_EQ(pixel(t, 3), (Rgb{0, 0, 0})) << "the range is that of the finite values";
  EXPECT_EQ(pixel(t, 4), (Rgb{255, 255, 255}));
  EXPECT_EQ(t.caption, "float32 [1, 1, 5], 2 to 4, 1 NaN, 1 +inf, 1 -inf");
  EXPECT_EQ(make(floats({1, 1, 2}, {kNan, kNan})).caption, "float32 [1, 1, 2], no finite value, 2 NaN");
}

TEST(Thumbnails, PoolALargeImageByMeansAndLoseNoBadPixel) {
  std::vector<float> values(1000 * 500, 0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 2);
  values[123 * 500 + 321] = kNan;
  const Thumbnail t = make(floats({1, 1000, 500}, values));
  EXPECT_EQ(t.width, 32) << "the proportions stay";
  EXPECT_EQ(t.height, 64);
  int bad = 0;
  for (std::size_t i = 0; i < 32 * 64; ++i) {
    if (pixel(t, i) == specialColors(Theme::light).nan) ++bad;
    else EXPECT_NEAR(t.rgba[4 * i], 128, 9);
  }
  EXPECT_EQ(bad, 1);
}

TEST(Thumbnails, KeepAtLeastOnePixelOfAStrip) {
  const Thumbnail t = make(floats({1, 1, 6400}, std::vector<float>(6400, 1)));
  EXPECT_EQ(t.width, 64);
  EXPECT_EQ(t.height, 1);
}

TEST(Thumbnails, SurviveTheLargestValues) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_THAT(reds(make(tensor<double>(DType::float64, {1, 1, 3}, {-most, 0, most}))), ElementsAre(0, 128, 255));
}

TEST(Thumbnails, DrawAVectorAsACurveThatKeepsItsExtremes) {
  std::vector<float> values(10000, 0.5F);
  values[0] = 0;
  values[5000] = 1;
  values[7777] = kNan;
  const Thumbnail t = make(floats({10000}, values), {100, 40});
  EXPECT_EQ(t.kind, Kind::curve);
  ASSERT_EQ(t.curve.size(), 100U);
  EXPECT_EQ(t.curve[0].low, 0);
  EXPECT_EQ(t.curve[50].high, 1);
  EXPECT_EQ(t.curve[50].low, 0.5F);
  EXPECT_TRUE(t.curve[77].hasNonfinite);
  EXPECT_TRUE(t.curve[77].hasValue);
  EXPECT_FALSE(t.curve[76].hasNonfinite);
  EXPECT_EQ(make(floats({1, 3}, {1, 2, 3})).kind, Kind::curve);
  EXPECT_EQ(make(floats({3, 1}, {1, 2, 3})).curve.size(), 3U);
}

TEST(Thumbnails, PutAConstantCurveInTheMiddleAndLeaveGaps) {
  const Thumbnail t = make(floats({3}, {2, kInf, 2}));
  EXPECT_EQ(t.curve[0].low, 0.5F);
  EXPECT_FALSE(t.curve[1].hasValue);
  EXPECT_TRUE(t.curve[1].hasNonfinite);
}

TEST(Thumbnails, WriteTokensOut) {
  const Thumbnail t = make(tensor<std::int64_t>(DType::int64, {4}, {101, 7, -3, 102}));
  EXPECT_EQ(t.kind, Kind::text);
  EXPECT_EQ(t.text, "101 7 -3 102");
  std::vector<std::int64_t> many(1030, 5);
  EXPECT_THAT(make(tensor(DType::int64, {1030}, many)).text, HasSubstr("5 5 … 1,006 more"));
  EXPECT_EQ(make(tensor<std::uint8_t>(DType::boolean, {2}, {1, 0})).text, "1 0");
  EXPECT_EQ(make(floats({}, {0.25F})).text, "0.25") << "a single number";
}

TEST(Thumbnails, SumUpWhatIsNoPicture) {
  EXPECT_EQ(make(floats({2, 1, 1, 2}, {1, 2, 3, kNan})).text, "float32\n[2, 1, 1, 2]\nmin 1\nmax 3\nmean 2");
  EXPECT_EQ(make(floats({4, 1, 1}, {kNan, kNan, kNan, kNan})).text, "float32\n[4, 1, 1]\nno finite value");
  EXPECT_EQ(make(floats({3, 0, 4}, {})).text, "float32\n[3, 0, 4]\nempty");
  EXPECT_EQ(make(floats({3, 0, 4}, {})).kind, Kind::text);
}

TEST(Thumbnails, KnowBeforeReadingWhatGivesAPicture) {
  EXPECT_TRUE(givesPicture(DType::float16, {3, 224, 224}));
  EXPECT_TRUE(givesPicture(DType::int64, {1, 8, 8}));
  EXPECT_TRUE(givesPicture(DType::float32, {4000}));
  EXPECT_FALSE(givesPicture(DType::int64, {16}));
  EXPECT_FALSE(givesPicture(DType::int64, {16, 16}));
  EXPECT_FALSE(givesPicture(DType::float32, {64, 7, 7}));
  EXPECT_FALSE(givesPicture(DType::float32, {}));
  EXPECT_FALSE(givesPicture(DType::complex64, {1, 8, 8}));
}

}  // namespace
}  // namespace ulpscope::render
