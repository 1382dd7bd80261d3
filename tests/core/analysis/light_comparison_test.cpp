// Against compareTensors, whose numbers are tested against numpy, and by hand.
#include "core/analysis/light_comparison.h"

#include "core/analysis/divergence.h"
#include "core/base/float_formats.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace ulpscope::analysis {
namespace {

std::vector<std::byte> stored(const std::vector<double>& values, base::DType dtype) {
  std::vector<std::byte> bytes(values.size() * base::sizeBytes(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto single = static_cast<float>(values[i]);
    const std::uint16_t low = dtype == base::DType::float16 ? base::halfFromFloat(single) : base::bfloat16FromFloat(single);
    if (dtype == base::DType::float32)
      std::memcpy(bytes.data() + 4 * i, &single, 4);
    else
      std::memcpy(bytes.data() + 2 * i, &low, 2);
  }
  return bytes;
}

struct Stored {
  base::DType a, b;
  std::size_t count;
};
class LightSumsOf : public testing::TestWithParam<Stored> {};

TEST_P(LightSumsOf, AreThoseOfTheWholeComparison) {
  const auto [a, b, count] = GetParam();
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> x, y;
  for (std::size_t i = 0; i < count; ++i) {
    x.push_back(normal(random));
    y.push_back(x.back() + 0.01 * normal(random));
  }
  if (count > 5000) x[5000] = std::numeric_limits<double>::infinity(), y[4999] = std::nan("");
  const auto bytesA = stored(x, a), bytesB = stored(y, b);
  const LightSums sums = lightSums(bytesA.data(), a, bytesB.data(), b, static_cast<std::int64_t>(count));
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(count)};
  const auto whole = compareTensors(base::Reference(TensorView{bytesA.data(), a, shape}), base::Candidate(TensorView{bytesB.data(), b, shape}), layoutOf(shape, {}, 1),
                                    {base::DType::float16, session::siteTolerance(base::DType::float16), false});
  EXPECT_EQ(sums.finitePairs, whole[0].finitePairs);
  if (count == 0) return;
  EXPECT_NEAR(sums.squaredDifference, static_cast<double>(whole[0].sumSquaredDifference), 1e-12 * sums.squaredDifference);
  EXPECT_NEAR(sums.squaredReference, static_cast<double>(whole[0].sumSquaredReference), 1e-12 * sums.squaredReference);
  EXPECT_EQ(sums.maxAbs, whole[0].maxAbsOrNan());
}

INSTANTIATE_TEST_SUITE_P(Dtypes, LightSumsOf,
                         testing::Values(Stored{base::DType::float16, base::DType::float16, 10'000}, Stored{base::DType::bfloat16, base::DType::float16, 4096},
                                         Stored{base::DType::float32, base::DType::bfloat16, 4097}, Stored{base::DType::float32, base::DType::float32, 17},
                                         Stored{base::DType::float16, base::DType::float16, 1}, Stored{base::DType::float16, base::DType::float16, 0}));

TEST(LightSums, OfTheSameBytesAreNoDifference) {
  const auto bytes = stored({1, -2, 3}, base::DType::float16);
  const LightSums sums = lightSums(bytes.data(), base::DType::float16, bytes.data(), base::DType::float16, 3);
  EXPECT_EQ(sums.squaredDifference, 0);
  EXPECT_EQ(sums.squaredReference, 14);
  EXPECT_EQ(sums.maxAbs, 0);
}

TEST(LightSums, OfNothingFiniteAreEmpty) {
  const auto bytes = stored({std::nan(""), INFINITY}, base::DType::float32);
  const LightSums sums = lightSums(bytes.data(), base::DType::float32, bytes.data(), base::DType::float32, 2);
  EXPECT_EQ(sums.finitePairs, 0);
  EXPECT_EQ(sums.squaredReference, 0);
}

}  // namespace
}  // namespace ulpscope::analysis
