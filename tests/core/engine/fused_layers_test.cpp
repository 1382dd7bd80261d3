// PyTorch's fused encoder layer and attention, opened up: against LibTorch's own fused kernels, which share no code with ours.
#include "core/engine/attention_op.h"
#include "core/engine/engine.h"
#include "tests/core/engine/emulated.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"

#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t kWidth = 8, kHeads = 2, kInner = 12;

at::Tensor drawn(std::vector<std::int64_t> shape, std::uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  return at::randn(shape, generator) * 0.4;
}

struct Layer {
  at::Tensor qkvWeight = drawn({3 * kWidth, kWidth}, 1), qkvBias = drawn({3 * kWidth}, 2), outWeight = drawn({kWidth, kWidth}, 3), outBias = drawn({kWidth}, 4);
  at::Tensor norm1 = drawn({kWidth}, 5), normBias1 = drawn({kWidth}, 6), norm2 = drawn({kWidth}, 7), normBias2 = drawn({kWidth}, 8);
  at::Tensor up = drawn({kInner, kWidth}, 9), upBias = drawn({kInner}, 10), down = drawn({kWidth, kInner}, 11), downBias = drawn({kWidth}, 12);

  at::Tensor operator()(const at::Tensor& x, bool gelu, bool normFirst, const c10::optional<at::Tensor>& mask = {}, c10::optional<std::int64_t> maskType = {}) const {
    return at::_transformer_encoder_layer_fwd(x, kWidth, kHeads, qkvWeight, qkvBias, outWeight, outBias, gelu, normFirst, 1e-5, norm1, normBias1, norm2, normBias2, up,
                                              upBias, down, downBias, mask, maskType);
  }
};

double largestDifference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

// The hook without autocast: the opened layer in FP32.
template <typename F>
auto opened(F body) {
  provideAttentionOp();
  return Emulated().autocastOff()(body);
}

TEST(OpenedEncoderLayer, ComputesWhatTheFusedKernelComputes) {
  const Layer layer;
  const at::Tensor x = drawn({3, 5, kWidth}, 20);
  for (const bool gelu : {false, true})
    for (const bool normFirst : {false, true})
      EXPECT_LT(largestDifference(opened([&] { return layer(x, gelu, normFirst); }), layer(x, gelu, normFirst)), 2e-6) << gelu << normFirst;
}

TEST(OpenedEncoderLayer, HidesWhatTheMaskHides) {
  const Layer layer;
  const at::Tensor x = drawn({3, 5, kWidth}, 21);
  at::Tensor padding = at::zeros({3, 5}, at::kBool);
  padding[1][4] = padding[2][3] = padding[2][4] = true;
  const at::Tensor plain = layer(x, false, false);
  const at::Tensor padded = layer(x, false, false, padding, 1);
  EXPECT_GT(largestDifference(plain, padded), 1e-2);
  EXPECT_LT(largestDifference(opened([&] { return layer(x, false, false, padding, 1); }), padded), 2e-6);
}

TEST(OpenedEncoderLayer, ASampleThatSeesNothingIsNaNAsInTheFusedKernel) {
  const Layer layer;
  const at::Tensor x = drawn({2, 5, kWidth}, 25);
  at::Tensor padding = at::zeros({2, 5}, at::kBool);
  padding[1].fill_(true);
  const at::Tensor fused = layer(x, false, false, padding, 1), found = opened([&] { return layer(x, false, false, padding, 1); });
  EXPECT_TRUE(fused[1].isnan().all().item<bool>());
  EXPECT_TRUE(found[1].isnan().all().item<bool>());
  EXPECT_LT(largestDifference(found[0], fused[0]), 2e-6);
}

TEST(OpenedEncoderLayer, SeesUnderACausalMaskWhatIsBefore) {
  const Layer layer;
  const at::Tensor x = drawn({3, 5, kWidth}, 21), causal = at::ones({5, 5}, at::kBool).triu(1);
  const at::Tensor y = opened([&] { return layer(x, false, false, causal, 0); });
  for (std::int64_t seen = 1; seen <= 5; ++seen)  // the kernel of 1.13 takes no such mask: the last row of a shorter sequence instead
    EXPECT_LT(largestDifference(y.select(1, seen - 1), layer(x.narrow(1, 0, seen), false, false).select(1, seen - 1)), 2e-6) << seen;
}

TEST(OpenedEncoderLayer, RunsItsProductsInHalfAndItsNormsInFloat32) {
  provideAttentionOp();
  const Layer layer;
  const at::Tensor x = drawn({3, 5, kWidth}, 22);
  const at::Tensor y = Emulated()([&] { return layer(x, false, false); });
  EXPECT_EQ(y.scalar_type(), at::kFloat);
  EXPECT_EQ(Emulated()([&] { return layer(x, false, true); }).scalar_type(), at::kFloat);  // a residual of float32 and half
  EXPECT_EQ(Emulated(at::kHalf, cuda113())([&] { return layer(x.to(at::kHalf), false, true); }).scalar_type(), at::kHalf);
  const double difference = largestDifference(y, layer(x, false, false));
  EXPECT_GT(difference, 1e-5);
  EXPECT_LT(difference, 2e-2);
}

TEST(OpenedAttention, ComputesWhatTheFusedKernelComputes) {
  const Layer l;
  const at::Tensor q = drawn({2, 5, kWidth}, 23), k = drawn({2, 5, kWidth}, 24);
  const auto fused = [&](const at::Tensor& query, const at::Tensor& key, bool weights, bool average) {
    return at::_native_multi_head_attention(query, key, key, kWidth, kHeads, l.qkvWeight, l.qkvBias, l.outWeight, l.outBias, c10::nullopt, weights, average);
  };
  for (const bool average : {false, true}) {
    const auto [expected, expectedWeights] = fused(q, q, true, average);
    const auto [found, foundWeights] = opened([&] { return fused(q, q, true, average); });
    EXPECT_LT(largestDifference(found, expected), 2e-6);
    ASSERT_EQ(foundWeights.sizes(), expectedWeights.sizes());
    EXPECT_LT(largestDifference(foundWeights, expectedWeights), 2e-6);
  }
  const auto [apart, none] = opened([&] { return fused(q, k, false, false); });
  EXPECT_LT(largestDifference(apart, std::get<0>(fused(q, k, false, false))), 2e-6);
  EXPECT_FALSE(none.defined());
}

TEST(TracedEncoder, ShowsTheOpsOfItsFusedLayersAndSaysSo) {
  session::RunRequest request = tests::requestFor("fused/Padded");
  request.settings.verifyProbe = true;
  const session::RunRecord run = tests::runOf(request).run;
  EXPECT_THAT(run.warnings, Contains(HasSubstr("aten::_transformer_encoder_layer_fwd stands in the file")));
  EXPECT_EQ(run.probeCheck, "identical");
  std::map<std::string, int> ops;
  for (const auto& site : run.sites) ++ops[site.op];
  EXPECT_EQ(ops["aten::linear"], 8);
  EXPECT_EQ(ops["aten::layer_norm"], 4);
  EXPECT_EQ(ops["aten::_transformer_encoder_layer_fwd"], 0);
}

TEST(TracedEncoder, RefusesNestedTensorsByName) {
  Engine engine;
  const auto outcome = engine.run(tests::requestFor("fused/Nested"), {}, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message(), HasSubstr("enable_nested_tensor=False"));
}

}  // namespace
}  // namespace ulpscope::engine
