// Ops that CUDA rounds more than once, or has no 16-bit kernel for. Expected values by hand or rounded step by step by core/base.
#include "core/base/float_formats.h"
#include "tests/core/engine/emulated.h"

#include <gmock/gmock.h>

#include <cmath>

namespace ulpscope::engine {
namespace {

using testing::HasSubstr;

double halfOf(double x) { return base::roundTo(base::DType::float16, x); }

template <typename F>
std::string errorOf(F body) {
  try {
    body();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// Every product is (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20 and the bias 2^-11: 1 + 2^-9 + 2^-10 where the sum is rounded once; where the product is
// rounded first, the sum is a tie that goes to the even 1 + 2^-9.
struct Depthwise {
  std::string what;
  std::int64_t batch, channels, height, width, filter, stride, dilation;
  bool channelsLast, half, twice;
};

double firstElement(const Depthwise& c) {
  const double factor = c.half ? 1 + std::ldexp(1.0, -10) : 1 + std::ldexp(1.0, -7), bias = std::ldexp(1.0, c.half ? -11 : -8);
  at::Tensor x = at::full({c.batch, c.channels, c.height, c.width}, factor);
  if (c.channelsLast) x = x.contiguous(at::MemoryFormat::ChannelsLast);
  const std::int64_t filterHeight = c.height == 1 ? 1 : c.filter;
  at::Tensor w = at::zeros({c.channels, 1, filterHeight, c.filter});
  w.select(2, 0).select(2, 0).fill_(factor);
  const at::Tensor b = at::full({c.channels}, bias);
  const std::vector<std::int64_t> stride{c.stride, c.stride}, padding{0, 0}, dilation{c.dilation, c.dilation};
  const at::Tensor y = Emulated(c.half ? at::kHalf : at::kBFloat16)([&] { return at::conv2d(x, w, b, stride, padding, dilation, c.channels); });
  return y.flatten()[0].item<double>();
}

class DepthwiseConvolution : public testing::TestWithParam<Depthwise> {};

TEST_P(DepthwiseConvolution, RoundsBeforeTheBiasWhereCudnnTakesIt) {
  const Depthwise& c = GetParam();
  const double twice = c.half ? 1 + std::ldexp(1.0, -9) : 1 + std::ldexp(1.0, -6);
  EXPECT_EQ(firstElement(c), c.twice ? twice : twice + std::ldexp(1.0, c.half ? -10 : -7));
}

INSTANTIATE_TEST_SUITE_P(UseCudnnDepthwise, DepthwiseConvolution,
                         testing::Values(Depthwise{"Stride1", 2, 32, 9, 7, 3, 1, 1, false, true, true},
                                         Depthwise{"FewChannels", 2, 31, 9, 7, 3, 1, 1, false, true, false},
                                         Depthwise{"Narrow", 2, 32, 9, 6, 3, 1, 1, false, true, false},
                                         Depthwise{"Filter7", 2, 32, 9, 9, 7, 1, 1, false, true, false},
                                         Depthwise{"Dilated", 2, 32, 9, 9, 3, 1, 2, false, true, false},
                                         Depthwise{"BFloat16", 2, 32, 9, 7, 3, 1, 1, false, false, false},
                                         Depthwise{"BFloat16ChannelsLast", 2, 32, 9, 7, 3, 1, 1, true, false, true},
                                         Depthwise{"ChannelsLast", 2, 8, 9, 6, 3, 1, 1, true, true, true},
                                         Depthwise{"OneRow", 2, 32, 1, 5, 2, 1, 1, false, true, true},
                                         Depthwise{"Stride2OneSample", 1, 32, 9, 29, 3, 2, 1, false, true, true},
                                         Depthwise{"Stride2Filter1Wide", 1, 32, 9, 29, 1, 2, 1, false, true, false},
                                         Depthwise{"Stride2", 2, 256, 9, 27, 3, 2, 1, false, true, false},
                                         Depthwise{"Stride2Wide", 2, 256, 9, 28, 3, 2, 1, false, true, true},
                                         Depthwise{"Stride2ManyChannels", 2, 512, 9, 7, 5, 2, 1, false, true, true},
                                         Depthwise{"Stride3", 2, 512, 9, 7, 3, 3, 1, false, true, false}),
                         [](const auto& depthwise) { return depthwise.param.what; });

TEST(EmulatedRange, RoundsTheStepAndEveryProductOfALinspace) {
  // RangeFactories.cu in half: step = 10/6 rounded; up from the start for the first half, down from the end for the rest.
  const at::Tensor found = Emulated()([] { return at::linspace(1.0, 11.0, 7, at::kHalf); });
  ASSERT_EQ(found.scalar_type(), at::kHalf);
  const double step = halfOf(10.0 / 6.0);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(found[i].item<double>(), i < 3 ? halfOf(1.0 + halfOf(step * i)) : halfOf(11.0 - halfOf(step * (6 - i)))) << i;
  EXPECT_NE(halfOf(11.0 - halfOf(step * 2)), halfOf(1.0 + 4 * 10.0 / 6.0)) << "the case tells the two apart";
}

TEST(EmulatedRange, KeepsEmptyAndSinglePointsOfALinspace) {
  EXPECT_EQ(Emulated()([] { return at::linspace(0.1, 1.0, 0, at::kHalf); }).numel(), 0);
  EXPECT_EQ(Emulated()([] { return at::linspace(0.1, 1.0, 1, at::kHalf); }).item<double>(), halfOf(0.1));
}

TEST(EmulatedRange, RaisesTheBaseToRoundedPointsInALogspace) {
  const at::Tensor found = Emulated()([] { return at::logspace(0.0, 1.0, 4, 10.0, at::kHalf); });
  const double step = halfOf(1.0 / 3.0);
  EXPECT_EQ(found[1].item<double>(), halfOf(std::pow(10.0, step)));
  EXPECT_EQ(found[2].item<double>(), halfOf(std::pow(10.0, halfOf(1.0 - step))));
  EXPECT_EQ(found[3].item<double>(), 10);
}

TEST(EmulatedRandomRelu, RoundsTheSlopeAndTheProduct) {
  const at::Tensor x = at::linspace(-3.0, -1.0, 64).to(at::kHalf);
  at::Tensor noise = at::empty({64}, at::kHalf), plain = at::empty({64});
  const at::Tensor y = Emulated()([&] { return at::rrelu_with_noise(x, noise, 0.125, 1.0 / 3.0, true); });
  ASSERT_EQ(y.scalar_type(), at::kHalf);
  bool differs = false;
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i].item<double>(), halfOf(x[i].item<double>() * noise[i].item<double>()));
    EXPECT_EQ(noise[i].item<double>(), halfOf(noise[i].item<double>()));
    EXPECT_GE(noise[i].item<double>(), 0.125);
    differs = differs || noise[i].item<double>() != noise[0].item<double>();
  }
  EXPECT_TRUE(differs);
}

TEST(EmulatedRandomRelu, IsALeakyReluInEvaluation) {
  const at::Tensor x = at::tensor({-3.0, 2.0}, at::kDouble).to(at::kHalf);
  const at::Tensor y = Emulated()([&] { return at::rrelu(x, 0.125, 0.375, false); });
  EXPECT_EQ(y[0].item<double>(), -0.75);
  EXPECT_EQ(y[1].item<double>(), 2);
}

TEST(EmulatedRandomRelu, WritesInPlaceInTraining) {
  at::Tensor x = at::full({8}, -2.0).to(at::kHalf);
  const at::Tensor y = Emulated()([&] { return at::rrelu_(x, 0.25, 0.25, true); });
  EXPECT_TRUE(y.is_same(x));
  EXPECT_EQ(x[3].item<double>(), -0.5);
}

TEST(EmulatedEmbeddingBag, AddsUpInFloat32AndRoundsOnce) {
  // 2048 + 1 + 1: half would lose each 1.
  const at::Tensor weight = float32({2048, 1}, {2, 1}).to(at::kHalf);
  const at::Tensor indices = at::tensor({0, 1, 1}, at::kLong), offsets = at::tensor({0}, at::kLong);
  const at::Tensor y = std::get<0>(Emulated()([&] { return at::embedding_bag(weight, indices, offsets); }));
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  EXPECT_EQ(y.item<double>(), 2050);
}

TEST(EmulatedEmbeddingBag, RefusesSampleWeightsOfAnotherDtype) {
  const at::Tensor weight = float32({1, 2}, {2, 1}).to(at::kHalf), indices = at::tensor({0, 1}, at::kLong), offsets = at::tensor({0}, at::kLong);
  const at::Tensor perSample = at::ones({2});
  EXPECT_THAT(errorOf([&] { Emulated()([&] { return at::embedding_bag(weight, indices, offsets, false, 0, false, perSample); }); }),
              HasSubstr("expected scalar type Half but found Float"));
}

TEST(Unimplemented, RefusesHalfWhereCudaHasNoKernel) {
  const at::Tensor logits = at::log_softmax(at::ones({4, 1, 3}), -1), targets = at::ones({1, 2}, at::kLong), four = at::tensor({4}, at::kLong), two = at::tensor({2}, at::kLong);
  EXPECT_THAT(errorOf([&] { Emulated()([&] { return at::ctc_loss(logits.to(at::kHalf), targets, four, two); }); }),
              HasSubstr("\"ctc_loss_cuda\" not implemented for 'Half'"));
  EXPECT_EQ(Emulated()([&] { return at::ctc_loss(logits, targets, four, two); }).scalar_type(), at::kFloat);
  const at::Tensor points = at::ones({3, 2}).to(at::kBFloat16);
  EXPECT_THAT(errorOf([&] { Emulated(at::kBFloat16).autocastOff()([&] { return at::cdist(points, points, 1); }); }),
              HasSubstr("\"cdist_cuda\" not implemented for 'BFloat16'"));
  EXPECT_THAT(errorOf([&] { Emulated(at::kBFloat16).autocastOff()([&] { return at::pdist(points); }); }),
              HasSubstr("\"pdist_cuda\" not implemented for 'BFloat16'"));
}

TEST(Unimplemented, SaysWhatItCannotTellOfDistancesByAMatrixProduct) {
  const at::Tensor points = at::ones({30, 2}).to(at::kHalf);
  EXPECT_THAT(errorOf([&] { Emulated().autocastOff()([&] { return at::cdist(points, points); }); }), HasSubstr("has no rule"));
}

TEST(CpuAutocast113, LeavesAConcatenationAsItIs) {
  const at::Tensor a = at::ones({2}).to(at::kBFloat16), b = at::ones({2}).to(at::kHalf);
  Emulated cpu(at::kBFloat16, cpu113());
  EXPECT_EQ(cpu([&] { return at::cat({a, b}); }).scalar_type(), at::kFloat);
  EXPECT_EQ(cpu([&] { return at::cat({b, b}); }).scalar_type(), at::kHalf);
  EXPECT_EQ(cpu([&] { return at::cat({a, b.to(at::kFloat)}); }).scalar_type(), at::kFloat);
}

TEST(EmulatedOut, AReductionIntoFloat32IsNotRounded) {
  const at::Tensor x = at::full({1, 3}, 0.1).to(at::kHalf);
  at::Tensor out = at::full({1}, 777.0);
  const at::Tensor sum = Emulated()([&] { return at::sum_out(out, x, at::IntArrayRef{1}); });
  EXPECT_TRUE(sum.is_same(out));
  EXPECT_EQ(sum.scalar_type(), at::kFloat);
  EXPECT_EQ(out.item<double>(), 3 * halfOf(0.1));
  EXPECT_NE(3 * halfOf(0.1), halfOf(3 * halfOf(0.1)));
}

TEST(EmulatedOut, AnElementwiseResultIsRoundedBeforeItIsWidened) {
  const at::Tensor x = at::full({2}, 0.3).to(at::kHalf);
  at::Tensor out = at::empty({0});  // resized
  const at::Tensor y = Emulated()([&] { return at::sigmoid_out(out, x); });
  EXPECT_TRUE(y.is_same(out));
  EXPECT_EQ(out.scalar_type(), at::kFloat);
  ASSERT_EQ(out.numel(), 2);
  EXPECT_EQ(out[1].item<double>(), halfOf(1 / (1 + std::exp(-halfOf(0.3)))));
}

TEST(EmulatedOut, SomeOpsTakeNoOtherDtype) {
  const at::Tensor x = at::full({2}, 0.3).to(at::kHalf);
  at::Tensor out = at::empty({2});
  EXPECT_THAT(errorOf([&] { Emulated()([&] { return at::abs_out(out, x); }); }), HasSubstr("Found dtype Float but expected Half"));
}

TEST(EmulatedSelection, OpsThatTheCpuLacksInHalfGiveTheElementsThemselves) {
  const at::Tensor x = at::tensor({3.0, 1.0, 2.0, 1.0}, at::kDouble).to(at::kHalf);
  const auto [low, high] = Emulated()([&] { return at::aminmax(x); });
  EXPECT_EQ(low.scalar_type(), at::kHalf);
  EXPECT_EQ(low.item<double>(), 1);
  EXPECT_EQ(high.item<double>(), 3);
  const at::Tensor unique = std::get<0>(Emulated()([&] { return at::_unique2(x); }));
  EXPECT_EQ(unique.scalar_type(), at::kHalf);
  EXPECT_EQ(unique.numel(), 3);
}

TEST(EmulatedSelection, SaysWhatTheCpuCannotTell) {
  const at::Tensor x = at::ones({8}).to(at::kHalf);
  EXPECT_THROW(Emulated()([&] { return at::fft_rfft(x); }), UnsupportedOp);
}

TEST(EmulatedHeaviside, TakesNoMixedDtypes) {
  const at::Tensor x = at::ones({2}).to(at::kHalf);
  EXPECT_THAT(errorOf([&] { Emulated()([&] { return at::heaviside(x, at::ones({2})); }); }), HasSubstr("heaviside is not yet implemented for tensors with different dtypes"));
}

}  // namespace
}  // namespace ulpscope::engine
