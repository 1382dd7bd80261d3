// scaled_dot_product_attention, as models of PyTorch 2.x call it; expected values from its documentation, in float64.
#include "core/base/float_formats.h"
#include "core/engine/attention_op.h"
#include "tests/core/engine/emulated.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/jit.h>

#include <cmath>

namespace ulpscope::engine {
namespace {

at::Tensor seeded(at::IntArrayRef shape, std::int64_t seed) {
  const auto n = at::arange(c10::multiply_integers(shape), at::kDouble);
  return at::sin(n * 0.7 + static_cast<double>(seed)).view(shape).to(at::kFloat);
}

struct Qkv {
  at::Tensor q = seeded({2, 3, 4, 8}, 1), k = seeded({2, 3, 5, 8}, 2), v = seeded({2, 3, 5, 6}, 3);
};

at::Tensor call(const std::string& arguments, const Qkv& x, const at::Tensor& mask = at::zeros({1})) {
  provideAttentionOp();
  const auto unit = torch::jit::compile("def f(q: Tensor, k: Tensor, v: Tensor, m: Tensor) -> Tensor:\n  return torch.scaled_dot_product_attention(q, k, v" + arguments + ")\n");
  return unit->get_function("f")({x.q, x.k, x.v, mask}).toTensor();
}

// One query against the keys it may see, in double.
at::Tensor expected(const Qkv& x, double scale, const std::function<double(std::int64_t, std::int64_t)>& bias) {
  const at::Tensor q = x.q.to(at::kDouble), k = x.k.to(at::kDouble), v = x.v.to(at::kDouble);
  at::Tensor out = at::zeros({2, 3, q.size(2), 6}, at::kDouble);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 3; ++h)
      for (std::int64_t i = 0; i < q.size(2); ++i) {
        double total = 0;
        at::Tensor sum = at::zeros({6}, at::kDouble);
        for (std::int64_t j = 0; j < k.size(2); ++j) {
          const double weight = std::exp(scale * (q[b][h][i] * k[b][h][j]).sum().item<double>() + bias(i, j));
          total += weight;
          sum += weight * v[b][h][j];
        }
        out[b][h][i] = total == 0 ? at::zeros({6}, at::kDouble) : sum / total;
      }
  return out;
}

double worst(const at::Tensor& a, const at::Tensor& b) { return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>(); }

double none(std::int64_t, std::int64_t) { return 0; }

TEST(AttentionOp, IsSoftmaxOfScaledProductsTimesValues) {
  const Qkv x;
  EXPECT_LT(worst(call("", x), expected(x, 1 / std::sqrt(8.0), none)), 1e-6);
  EXPECT_LT(worst(call(", scale=0.5", x), expected(x, 0.5, none)), 1e-6);
  EXPECT_GT(worst(call("", x), expected(x, 0.5, none)), 1e-3) << "the test could not tell a wrong scale";
}

TEST(AttentionOp, MasksByBoolByAddingAndCausally) {
  const Qkv x;
  const double s = 1 / std::sqrt(8.0);
  const auto seen = [](std::int64_t i, std::int64_t j) { return (i + j) % 3 == 0 ? 0.0 : -INFINITY; };
  at::Tensor mask = at::zeros({4, 5}, at::kBool), bias = at::zeros({4, 5});
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 5; ++j) {
      mask[i][j] = seen(i, j) == 0;
      bias[i][j] = 0.25 * static_cast<double>(i - j);
    }
  EXPECT_LT(worst(call(", m", x, mask), expected(x, s, seen)), 1e-6);
  EXPECT_LT(worst(call(", m", x, bias), expected(x, s, [](std::int64_t i, std::int64_t j) { return 0.25 * static_cast<double>(i - j); })), 1e-6);
  EXPECT_LT(worst(call(", None, 0.0, True", x), expected(x, s, [](std::int64_t i, std::int64_t j) { return j <= i ? 0.0 : -INFINITY; })), 1e-6);
}

TEST(AttentionOp, GivesZeroWhereEveryKeyIsMasked) {
  const Qkv x;
  at::Tensor mask = at::ones({4, 5}, at::kBool);
  mask[2].fill_(false);
  const at::Tensor y = call(", m", x, mask);
  EXPECT_EQ(y.select(2, 2).abs().max().item<double>(), 0);
  EXPECT_TRUE(y.isfinite().all().item<bool>());
}

TEST(AttentionOp, SharesKeysAmongGroupedHeads) {
  Qkv x;
  Qkv whole = x;
  x.k = x.k.narrow(1, 0, 1);
  x.v = x.v.narrow(1, 0, 1);
  whole.k = x.k.repeat({1, 3, 1, 1});
  whole.v = x.v.repeat({1, 3, 1, 1});
  EXPECT_EQ(worst(call(", enable_gqa=True", x), call("", whole)), 0);
}

TEST(AttentionOp, RefusesWhatPyTorchRefuses) {
  Qkv x;
  EXPECT_THROW(call(", m, 0.0, True", x, at::zeros({4, 5})), std::exception);
  EXPECT_THROW(call(", m", x, at::zeros({4, 5}, at::kDouble)), std::exception);
  x.k = x.k.to(at::kDouble);
  EXPECT_THROW(call("", x), std::exception);
}

at::Tensor emulated(const PolicyTable& table, const Qkv& x) {
  return Emulated(at::kHalf, table)([&] { return call("", x); });
}

TEST(AttentionOp, RoundsItsInputsAndItsResultOnceUnderThe2xTables) {
  const Qkv x;
  Qkv low = x;
  for (at::Tensor* t : {&low.q, &low.k, &low.v}) *t = t->to(at::kHalf).to(at::kFloat);
  const at::Tensor y = emulated(cuda212(), x);
  ASSERT_EQ(y.scalar_type(), at::kHalf);
  const at::Tensor exact = expected(low, 1 / std::sqrt(8.0), none);
  for (std::int64_t i = 0; i < y.numel(); ++i)
    EXPECT_LE(base::ulpDistance(base::DType::float16, y.flatten()[i].item<double>(), base::roundTo(base::DType::float16, exact.flatten()[i].item<double>())), 1) << i;
}

TEST(AttentionOp, IsEnteredUnderTheTableThatDoesNotKnowIt) { EXPECT_EQ(emulated(cuda113(), Qkv()).scalar_type(), at::kHalf); }

}  // namespace
}  // namespace ulpscope::engine
