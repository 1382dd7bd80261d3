// Gradients through emulated ops: rounded where CUDA's are, since autograd runs through the casts. Expected values by hand.
#include "core/base/float_formats.h"
#include "tests/core/engine/emulated.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace ulpscope::engine {
namespace {

// The body under emulated CUDA autocast with gradients on, forward only; backward is called outside, as it should be.
template <typename F>
at::Tensor forward(at::ScalarType low, bool castCache, F body) {
  Emulated emulated(low);
  if (!castCache) emulated.withoutCastCache();
  return emulated.withGradients()(body);
}

at::Tensor leaf(std::vector<double> values, at::IntArrayRef shape) {
  return at::tensor(values, at::kDouble).to(at::kFloat).view(shape).clone().set_requires_grad(true);
}

double gradientOf(const at::Tensor& t) { return t.grad().flatten()[0].item<double>(); }

// torch.autocast on the CPU gives the same two numbers (PyTorch 1.13, cache_enabled=True and False).
TEST(CastCache, AddsTheGradientsOfAReusedWeightInTheLowDtype) {
  for (const bool cache : {true, false}) {
    const at::Tensor w = leaf({0}, {1, 1});
    const at::Tensor sum = forward(at::kBFloat16, cache, [&] {
      const at::Tensor a = at::linear(at::full({1, 1}, 256.0), w), b = at::linear(at::full({1, 1}, 1.0), w);
      return (a.to(at::kFloat) + b.to(at::kFloat)).sum();
    });
    sum.backward();
    EXPECT_EQ(gradientOf(w), cache ? 256 : 257);
  }
}

// Each of 1,024 outputs has the gradient 2^-26, below half of half's smallest step 2^-24; their sum would be 2^-16.
TEST(Gradient, UnderflowsAtScaleOneAndNotAt65536) {
  for (const double scale : {1.0, 65536.0}) {
    const at::Tensor w = leaf({1}, {1, 1});
    const at::Tensor loss = forward(at::kHalf, true, [&] { return at::linear(at::ones({1024, 1}), w).to(at::kFloat).mean() * 0x1p-16; });
    (loss * scale).backward();
    EXPECT_EQ(gradientOf(w) / scale, scale == 1 ? 0 : 0x1p-16);
  }
}

TEST(Gradient, OfAHalfLossCannotCarry65536) {
  const at::Tensor w = leaf({1}, {1, 1});
  const at::Tensor loss = forward(at::kHalf, true, [&] { return at::linear(at::ones({1, 1}), w).mean() * 65536.0; });
  EXPECT_EQ(loss.scalar_type(), at::kHalf);
  EXPECT_TRUE(std::isinf(loss.item<double>()));
}

// The product's gradient g * other is rounded once, to the dtype of what it belongs to.
TEST(Gradient, IsRoundedToTheDtypeOfItsTensor) {
  const at::Tensor x = leaf({1}, {1});
  const at::Tensor y = forward(at::kHalf, true, [&] { return at::mul(x.to(at::kHalf), at::full({1}, 1 / 3.0).to(at::kHalf)) ; });
  y.backward(at::full({1}, 0.1).to(at::kHalf));
  const auto half = [](double v) { return base::roundTo(base::DType::float16, v); };
  EXPECT_EQ(gradientOf(x), half(half(0.1) * half(1 / 3.0)));
  EXPECT_NE(gradientOf(x), half(0.1) * half(1 / 3.0)) << "the test could not tell an unrounded gradient";
}

// sigmoid(10) is 1 in half, and its derivative (1 - y) * y nothing; from the unrounded result it would be 4.54e-5. torch.autocast on the CPU
// (bfloat16) gives 0 too.
TEST(Gradient, StartsFromTheRoundedResultOfAnOp) {
  for (const bool inPlace : {false, true}) {
    const at::Tensor x = leaf({10, 0.5}, {2});
    const at::Tensor sum = forward(at::kHalf, true, [&] {
      at::Tensor h = x.to(at::kHalf) * 1.0;
      if (inPlace) h.sigmoid_();
      else h = at::sigmoid(h);
      return h.to(at::kFloat).sum();
    });
    sum.backward();
    EXPECT_EQ(gradientOf(x), 0) << (inPlace ? "in place" : "");
    const auto half = [](double v) { return base::roundTo(base::DType::float16, v); };
    const double y = half(1 / (1 + std::exp(-0.5)));
    EXPECT_EQ(x.grad()[1].item<double>(), half((1 - y) * y));
  }
}

// d/dx of -log_softmax(x)[1] is exp(result) - [0, 1], with the result that half can hold.
TEST(Gradient, OfCrossEntropyStartsFromItsRoundedLogarithms) {
  const at::Tensor x = leaf({0.1, 7.3}, {1, 2});
  const at::Tensor loss = forward(at::kHalf, true, [&] { return at::cross_entropy_loss(x.to(at::kHalf) * 1.0, at::ones({1}, at::kLong)); });
  loss.backward();
  const auto half = [](double v) { return base::roundTo(base::DType::float16, v); };
  const double a = half(0.1), b = half(7.3), sum = std::log(std::exp(a) + std::exp(b));
  for (const int i : {0, 1}) {
    const double expected = half(std::exp(half((i == 0 ? a : b) - sum)) - (i == 1 ? 1 : 0));
    EXPECT_EQ(x.grad()[0][i].item<double>(), expected) << i;
  }
  EXPECT_NE(half(std::exp(a - sum)), half(std::exp(half(a - sum)))) << "the test could not tell an unrounded logarithm";
}

TEST(Gradient, PassesThroughInPlaceOps) {
  const at::Tensor w = leaf({1, -2}, {2, 1});
  const at::Tensor y = forward(at::kHalf, true, [&] {
    at::Tensor h = at::linear(at::full({1, 1}, 3.0), w);
    h.relu_();
    h.mul_(2.0);
    return h.to(at::kFloat).sum();
  });
  EXPECT_EQ(y.item<double>(), 6);
  y.backward();
  EXPECT_EQ(w.grad()[0][0].item<double>(), 6);
  EXPECT_EQ(w.grad()[1][0].item<double>(), 0);
}

struct Net {
  at::Tensor conv, gamma, beta, fc;
  at::Tensor x;

  explicit Net(at::ScalarType type, const std::function<at::Tensor(const at::Tensor&)>& stored) {
    const auto wave = [&](at::IntArrayRef shape, double step) {
      return stored(at::sin(at::arange(c10::multiply_integers(shape), at::kDouble) * step).view(shape).to(at::kFloat)).to(type);
    };
    x = wave({4, 3, 8, 8}, 0.37);
    conv = (wave({8, 3, 3, 3}, 0.61)).set_requires_grad(true);
    gamma = at::ones({8}, type).set_requires_grad(true);
    beta = at::zeros({8}, type).set_requires_grad(true);
    fc = wave({5, 8}, 0.83).set_requires_grad(true);
  }
  at::Tensor loss() const {
    at::Tensor h = at::conv2d(x, conv, {}, 1, 1);
    h = at::batch_norm(h, gamma, beta, {}, {}, true, 0.1, 1e-5, false);
    h = at::relu(h).mean({2, 3});
    return at::cross_entropy_loss(at::linear(h, fc), at::tensor({0, 1, 2, 3}, at::kLong));
  }
};

double distance(const at::Tensor& a, const at::Tensor& exact) { return ((a.to(at::kDouble) - exact).norm() / exact.norm()).item<double>(); }

// What the rounding of weights and inputs alone does is the model's sensitivity, not the arithmetic's.
TEST(Gradient, OfANetworkIsAboutAsFarFromFloat64AsRoundedWeightsAndInputsMakeIt) {
  const auto asIs = [](const at::Tensor& t) { return t; };
  const Net exact(at::kDouble, asIs), control(at::kDouble, [](const at::Tensor& t) { return t.to(at::kHalf).to(at::kFloat); }), net(at::kFloat, asIs);
  {
    const at::AutoGradMode grad(true);
    exact.loss().backward();
    control.loss().backward();
  }
  const at::Tensor loss = forward(at::kHalf, true, [&] { return net.loss(); });
  (loss * 1024.0).backward();
  const double amp = distance(net.conv.grad() / 1024.0, exact.conv.grad()), rounded = distance(control.conv.grad(), exact.conv.grad());
  EXPECT_GT(amp, 0.3 * rounded);
  EXPECT_LT(amp, 10 * rounded);
  EXPECT_LT(amp, 0.02);
}

// What is computed again gives the same gradients, to the bit.
TEST(Gradient, IsTheSameWhenTheForwardIsComputedAgain) {
  const auto asIs = [](const at::Tensor& t) { return t; };
  const Net once(at::kFloat, asIs), again(at::kFloat, asIs);
  forward(at::kHalf, true, [&] { return once.loss(); }).backward();
  forward(at::kHalf, true, [&] { return again.loss(); });
  forward(at::kHalf, true, [&] { return again.loss(); }).backward();
  EXPECT_TRUE(once.conv.grad().equal(again.conv.grad()));
}

}  // namespace
}  // namespace ulpscope::engine
