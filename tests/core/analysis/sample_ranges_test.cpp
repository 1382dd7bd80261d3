#include "core/analysis/sample_ranges.h"

#include "core/base/float_formats.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

namespace ulpscope::analysis {
namespace {

using base::DType;
using Kind = session::SampleAxis::Kind;

// Element after element, as the header says; the definition that the sweep is held against.
std::vector<RangeSummary> oneByOne(const TensorView& view, const SampleLayout& layout) {
  std::vector<RangeSummary> samples(static_cast<std::size_t>(layout.samples), emptyRange());
  for (std::int64_t i = 0; i < view.elementCount(); ++i)
    add(samples[static_cast<std::size_t>(layout.sampleOf(i / layout.inner % layout.axis))], elementAt(view, i));
  return samples;
}

void expectSame(const RangeSummary& a, const RangeSummary& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  EXPECT_TRUE(same(a.range.min, b.range.min)) << a.range.min << " " << b.range.min;
  EXPECT_TRUE(same(a.range.max, b.range.max)) << a.range.max << " " << b.range.max;
  EXPECT_TRUE(same(a.range.maxAbs, b.range.maxAbs)) << a.range.maxAbs << " " << b.range.maxAbs;
  EXPECT_TRUE(same(a.smallestNonZero, b.smallestNonZero)) << a.smallestNonZero << " " << b.smallestNonZero;
  EXPECT_EQ(a.zeros, b.zeros);
  EXPECT_EQ(a.nonfinite.nan, b.nonfinite.nan);
  EXPECT_EQ(a.nonfinite.plusInf, b.nonfinite.plusInf);
  EXPECT_EQ(a.nonfinite.minusInf, b.nonfinite.minusInf);
}

void expectAsOneByOne(const TensorView& view, const SampleLayout& layout) {
  const auto expected = oneByOne(view, layout), found = rangesOf(view, layout);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) expectSame(found[i], expected[i]);
}

// Every 16-bit pattern: once all in one tensor, once each alone among finite ones.
void walkAllPatterns(DType dtype) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  SampleLayout whole;
  whole.inner = 65536;
  expectAsOneByOne({all.data(), dtype, {65536}, {}}, whole);
  std::vector<std::uint16_t> row(16, dtype == DType::float16 ? base::halfFromFloat(0.5F) : base::bfloat16FromFloat(0.5F));
  whole.inner = 16;
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
    row[7] = static_cast<std::uint16_t>(pattern);
    expectAsOneByOne({row.data(), dtype, {16}, {}}, whole);
  }
}

TEST(SampleRanges, EveryHalfPatternGivesWhatItsValueSays) { walkAllPatterns(DType::float16); }
TEST(SampleRanges, EveryBfloat16PatternGivesWhatItsValueSays) { walkAllPatterns(DType::bfloat16); }

std::vector<float> someFloats(std::size_t count) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(-0.2F, 1e3F);
  std::vector<float> values(count);
  for (float& x : values) x = normal(random);
  values[count / 2] = -0.0F;
  values[count / 3] = std::numeric_limits<float>::denorm_min();
  return values;
}

TEST(SampleRanges, TellSamplesApartHoweverTheAxisLies) {
  const std::vector<float> values = someFloats(6 * 8 * 1000);
  const TensorView view{values.data(), DType::float32, {6, 8, 1000}, {}};
  expectAsOneByOne(view, layoutOf(view.shape, {Kind::plain, 1}, 8));
  expectAsOneByOne(view, layoutOf(view.shape, {Kind::sampleMajor, 1}, 4));
  expectAsOneByOne(view, layoutOf(view.shape, {Kind::sampleMinor, 1}, 4));
  expectAsOneByOne(view, layoutOf(view.shape, {Kind::plain, 2}, 1000));
  expectAsOneByOne(view, layoutOf(view.shape, {}, 8));
}

TEST(SampleRanges, StridesAreFollowed) {
  const std::vector<float> values = someFloats(40 * 300);
  const TensorView transposed{values.data(), DType::float32, {300, 40}, {1, 300}};
  expectAsOneByOne(transposed, layoutOf(transposed.shape, {Kind::plain, 1}, 40));
  expectAsOneByOne(transposed, layoutOf(transposed.shape, {Kind::plain, 0}, 300));
}

TEST(SampleRanges, NonFiniteValuesAreCountedByKindAndKeptOutOfTheRange) {
  std::vector<float> values(10000, 2.0F);
  values[5000] = std::numeric_limits<float>::infinity();
  values[5001] = -std::numeric_limits<float>::infinity();
  values[5002] = -std::numeric_limits<float>::quiet_NaN();
  values[5003] = std::numeric_limits<float>::max();
  SampleLayout whole;
  whole.inner = 10000;
  const RangeSummary summary = rangesOf({values.data(), DType::float32, {10000}, {}}, whole).front();
  EXPECT_EQ(summary.nonfinite.nan, 1);
  EXPECT_EQ(summary.nonfinite.plusInf, 1);
  EXPECT_EQ(summary.nonfinite.minusInf, 1);
  EXPECT_EQ(summary.range.max, std::numeric_limits<float>::max());
  EXPECT_EQ(summary.range.min, 2.0);
  EXPECT_EQ(summary.smallestNonZero, 2.0);
}

TEST(SampleRanges, ATensorOfZerosHasNoSmallestAndAnEmptyOneNoRange) {
  const std::vector<float> zeros(100, 0.0F);
  SampleLayout layout;
  layout.inner = 100;
  const RangeSummary summary = rangesOf({zeros.data(), DType::float32, {100}, {}}, layout).front();
  EXPECT_EQ(summary.zeros, 100);
  EXPECT_EQ(summary.range.maxAbs, 0);
  EXPECT_TRUE(std::isnan(summary.smallestNonZero));
  layout.inner = 0;
  EXPECT_TRUE(std::isnan(rangesOf({zeros.data(), DType::float32, {0}, {}}, layout).front().range.max));
}

TEST(SampleRanges, IntegersAndDoublesAreReadAsWhatTheyAre) {
  const std::vector<std::int32_t> integers{3, -7, 0, 5, 100, 2, 1, 9, 9, -9};
  const std::vector<double> doubles{1e300, -1e-300, 0, 4, 5, 6, 7, 8, 9, -1e301};
  const TensorView a{integers.data(), DType::int32, {2, 5}, {}}, b{doubles.data(), DType::float64, {2, 5}, {}};
  expectAsOneByOne(a, layoutOf(a.shape, {Kind::plain, 0}, 2));
  expectAsOneByOne(b, layoutOf(b.shape, {Kind::plain, 1}, 5));
}

}  // namespace
}  // namespace ulpscope::analysis
