// Result dtypes and values of emulated CUDA autocast. Expected values are worked out by hand or rounded by core/base, whose
// conversions are tested against numpy; the engine rounds with ATen's.
#include "core/base/float_formats.h"
#include "tests/core/engine/emulated.h"

#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

at::Tensor half(std::vector<double> values) { return at::tensor(values, at::kDouble).to(at::kHalf); }
const auto f32 = float32;
double at0(const at::Tensor& t) { return t.flatten()[0].item<double>(); }

TEST(EmulatedMatmul, RoundsInputsAndTheSumOnce) {
  // 0.1 and 0.3 are not on the half grid; three products, float32 sum, one rounding.
  const at::Tensor a = f32({0.1, 0.3, 1.7}, {1, 3});
  const at::Tensor b = f32({2.3, 0.7, 0.9}, {3, 1});
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    sum += base::roundTo(base::DType::float16, a[0][i].item<float>()) * base::roundTo(base::DType::float16, b[i][0].item<float>());
  const at::Tensor y = Emulated(at::kHalf, cuda113())([&] { return at::matmul(a, b); });
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  EXPECT_EQ(at0(y), base::roundTo(base::DType::float16, sum));
  const at::Tensor z = Emulated(at::kBFloat16, cuda113())([&] { return at::matmul(a, b); });
  EXPECT_EQ(z.scalar_type(), at::kBFloat16);
}

TEST(EmulatedMatmul, OverflowsFromExactly65520) {
  const auto product = [](double x) { return at0(Emulated(at::kHalf, cuda113())([&] { return at::matmul(f32({x}, {1, 1}), f32({2}, {1, 1})); })); };
  EXPECT_EQ(product(32752), 65504);
  EXPECT_TRUE(std::isinf(product(32760)));  // 65520
}

// 1*2048 + 1*1 = 2049, bias 1: rounded once 2050; rounded before the bias 2048 (tie to even), then 2049 -> 2048.
TEST(EmulatedLinear, TwoDimensionsAreFusedAndRoundOnce) {
  const at::Tensor w = f32({2048, 1}, {1, 2});
  EXPECT_EQ(at0(Emulated(at::kHalf, cuda113())([&] { return at::linear(f32({1, 1}, {1, 2}), w, f32({1}, {1})); })), 2050);
  EXPECT_EQ(at0(Emulated(at::kHalf, cuda113())([&] { return at::linear(f32({1, 1}, {1, 1, 2}), w, f32({1}, {1})); })), 2050);
}

TEST(EmulatedLinear, FourDimensionsAreNotFusedAndRoundTwice) {
  EXPECT_EQ(at0(Emulated(at::kHalf, cuda113())([&] { return at::linear(f32({1, 1}, {1, 1, 1, 2}), f32({2048, 1}, {1, 2}), f32({1}, {1})); })), 2048);
}

TEST(EmulatedConvolution, AddsItsBiasAfterTheRounding) {
  const at::Tensor x = f32({1, 1}, {1, 2, 1, 1});
  const at::Tensor y = Emulated(at::kHalf, cuda113())([&] { return at::conv2d(x, f32({2048, 1}, {1, 2, 1, 1}), f32({1}, {1})); });
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  EXPECT_EQ(at0(y), 2048);
  const at::Tensor transposed = Emulated(at::kHalf, cuda113())([&] { return at::conv_transpose2d(x, f32({2048, 1}, {2, 1, 1, 1}), f32({1}, {1})); });
  EXPECT_EQ(at0(transposed), 2048);
}

TEST(EmulatedConvolution, NativeDepthwiseAddsItsBiasBeforeTheRounding) {
  const at::Tensor x = at::ones({1, 2, 1, 2});
  const at::Tensor w = f32({2048, 1, 2048, 1}, {2, 1, 1, 2});
  const at::Tensor y = Emulated(at::kHalf, cuda113())([&] { return at::conv2d(x, w, at::ones({2}), at::IntArrayRef{1, 1}, at::IntArrayRef{0, 0}, at::IntArrayRef{1, 1}, 2); });
  EXPECT_EQ(at0(y), 2050);
}

TEST(EmulatedConvolution, UnbatchedInputsHaveTheirChannelsFirst) {
  const at::Tensor y = Emulated(at::kHalf, cuda113())([&] { return at::conv2d(at::ones({2, 3, 3}), at::ones({4, 2, 1, 1}), f32({1, 2, 3, 4}, {4})); });
  ASSERT_EQ(y.sizes(), (std::vector<std::int64_t>{4, 3, 3}));
  EXPECT_EQ(y[3][2][2].item<double>(), 6);
}

TEST(ListedForFloat32, GiveFloat32FromHalf) {
  const at::Tensor x = half({0.5, 1.5, 2.5, 3.5}).view({2, 2});
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::softmax(x, 1); }).scalar_type(), at::kFloat);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::exp(x); }).scalar_type(), at::kFloat);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::sum(x); }).scalar_type(), at::kFloat);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::layer_norm(x, {2}); }).scalar_type(), at::kFloat);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::pow(x, 2); }).scalar_type(), at::kFloat);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return x.norm(2); }).scalar_type(), at::kFloat);
  // exp in float32 of the half value, to the last bit.
  EXPECT_EQ(at0(Emulated(at::kHalf, cuda113())([&] { return at::exp(half({0.3})); })), at0(at::exp(half({0.3}).to(at::kFloat))));
}

TEST(DtypeArgument, AnExplicitOneWins) {
  const at::Tensor s = Emulated(at::kHalf, cuda113())([&] { return at::sum(half({60000, 60000}), at::kHalf); });
  EXPECT_EQ(s.scalar_type(), at::kHalf);
  EXPECT_TRUE(std::isinf(at0(s)));
  EXPECT_EQ(at0(Emulated(at::kHalf, cuda113())([&] { return at::sum(half({60000, 60000})); })), 120000);  // 60000 is on the half grid (steps of 32)
}

TEST(Unlisted, StayHalfAndRoundOnce) {
  const at::Tensor x = half({0.1, -2.7, 3.3});
  const auto expected = [&](double value) { return base::roundTo(base::DType::float16, value); };
  const at::Tensor y = Emulated(at::kHalf, cuda113())([&] { return at::mul(x, 0.1); });  // the scalar stays float32
  ASSERT_EQ(y.scalar_type(), at::kHalf);
  EXPECT_EQ(at0(y), expected(static_cast<double>(static_cast<float>(x[0].item<double>() * static_cast<double>(0.1f)))));
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::relu(x); }).scalar_type(), at::kHalf);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::mean(x); }).scalar_type(), at::kHalf);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::max_pool2d(at::ones({1, 1, 4, 4}).to(at::kHalf), 2); }).scalar_type(), at::kHalf);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::cat({x, x}); }).scalar_type(), at::kHalf);
}

TEST(Promotion, HalfWithFloat32IsFloat32ButNotWithZeroDimOrScalar) {
  const at::Tensor x = half({1, 2});
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::add(x, at::ones({2})); }).scalar_type(), at::kFloat);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::add(x, at::ones({})); }).scalar_type(), at::kHalf);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::add(x, 1.0); }).scalar_type(), at::kHalf);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::add(x, at::ones({2}).to(at::kBFloat16)); }).scalar_type(), at::kFloat);
}

TEST(Promotion, AZeroDimTensorOnTheDeviceIsRoundedAScalarIsNot) {
  // pytorch#98691: half / tensor(1e-8) is inf, since 1e-8 is 0 in half; half / 1e-8 is not.
  const at::Tensor x = half({6.5e-6});
  EXPECT_TRUE(std::isinf(at0(Emulated(at::kHalf, cuda113())([&] { return at::div(x, at::full({}, 1e-8)); }))));
  EXPECT_NEAR(at0(Emulated(at::kHalf, cuda113())([&] { return at::div(x, at::Scalar(1e-8)); })), 650, 8);
}

TEST(Comparison, ReadsItsScalarInTheTensorsDtype) {
  EXPECT_FALSE(Emulated(at::kHalf, cuda113())([&] { return at::gt(half({0.3}), 0.3); }).item<bool>());
  EXPECT_TRUE(Emulated(at::kHalf, cuda113())([&] { return at::eq(half({0.3}), 0.3); }).item<bool>());
}

TEST(InPlace, WritesBackRoundedAndKeepsTheTensor) {
  at::Tensor x = half({2048, -3});
  const at::Tensor alias = x.view({2, 1});
  const at::Tensor y = Emulated(at::kHalf, cuda113())([&] { return x.add_(at::ones({2})); });
  EXPECT_TRUE(y.is_same(x));
  EXPECT_EQ(x.scalar_type(), at::kHalf);
  EXPECT_EQ(alias[0][0].item<double>(), 2048);  // 2049 ties to even
  Emulated(at::kHalf, cuda113())([&] { return x.relu_(); });
  EXPECT_EQ(alias[1][0].item<double>(), 0);
}

TEST(BatchNorm, IsHalfAndItsBuffersStayFloat32) {
  at::Tensor mean = at::zeros({2}), var = at::ones({2});
  const at::Tensor x = at::randn({3, 2, 4, 4}).to(at::kHalf);
  const at::Tensor y = Emulated(at::kHalf, cuda113())([&] { return at::batch_norm(x, at::ones({2}), at::zeros({2}), mean, var, true, 0.1, 1e-5, false); });
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  EXPECT_EQ(mean.scalar_type(), at::kFloat);
  EXPECT_NE(at0(mean), 0);
}

TEST(RangeChecks, RaiseAsOnCuda) {
  const at::Tensor mask = at::ones({2}).to(at::kBool);
  EXPECT_THROW(Emulated(at::kHalf, cuda113())([&] { return at::masked_fill(half({1, 2}), mask, -1e9); }), std::exception);
  EXPECT_NO_THROW(Emulated(at::kHalf, cuda113())([&] { return at::masked_fill(half({1, 2}), mask, -65504.0); }));
}

TEST(MixedDtypes, RaiseWhereAutocastIsOff) {
  EXPECT_THROW(Emulated(at::kHalf, cuda113()).autocastOff()([&] { return at::mm(half({1, 2}).view({1, 2}), at::ones({2, 1})); }), c10::Error);
  EXPECT_THROW(Emulated(at::kHalf, cuda113()).autocastOff()([&] { return at::linear(half({1, 2}).view({1, 2}), at::ones({1, 2})); }), c10::Error);
  const at::Tensor both = Emulated(at::kHalf, cuda113()).autocastOff()([&] { return at::mm(half({1, 2}).view({1, 2}), half({1, 1}).view({2, 1})); });
  EXPECT_EQ(both.scalar_type(), at::kHalf);
  EXPECT_EQ(Emulated(at::kHalf, cuda113()).autocastOff()([&] { return at::softmax(half({1, 2}), 0); }).scalar_type(), at::kHalf);
}

TEST(Refused, BinaryCrossEntropyHasPyTorchsReason) {
  try {
    Emulated(at::kHalf, cuda113())([&] { return at::binary_cross_entropy(at::full({2}, 0.5), at::ones({2})); });
    FAIL() << "binary_cross_entropy ran";
  } catch (const c10::Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("unsafe to autocast"));
  }
}

TEST(UnknownOps, AreNamedNeverGuessed) {
  try {
    Emulated(at::kHalf, cuda113())([&] { return at::special_bessel_j0(half({0.5})); });
    FAIL() << "an op without a rule was emulated";
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("aten::special_bessel_j0"));
  }
}

TEST(Lstm, IsHalfAsTheFusedCudaPath) {
  const at::Tensor x = at::randn({3, 2, 4});
  const std::vector<at::Tensor> weights{at::randn({20, 4}), at::randn({20, 5}), at::randn({20}), at::randn({20})};
  const auto [y, h, c] = Emulated(at::kBFloat16, cuda113())([&] {
    return at::lstm(x, {at::zeros({1, 2, 5}), at::zeros({1, 2, 5})}, weights, true, 1, 0.0, false, false, false);
  });
  EXPECT_EQ(y.scalar_type(), at::kHalf);  // cuDNN's RNN takes float16 also under bfloat16 autocast
  EXPECT_EQ(c.scalar_type(), at::kHalf);
}

TEST(Double, IsNeverCast) {
  const at::Tensor a = at::ones({2, 2}, at::kDouble);
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return at::mm(a, a); }).scalar_type(), at::kDouble);
}

}  // namespace
}  // namespace ulpscope::engine
