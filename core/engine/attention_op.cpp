#include "core/engine/attention_op.h"

#include <torch/library.h>
#include <torch/version.h>

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace ulpscope::engine {

#if TORCH_VERSION_MAJOR < 2

namespace {

constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

at::Tensor masked(const at::Tensor& scores, const c10::optional<at::Tensor>& mask, bool causal) {
  TORCH_CHECK(!(causal && mask && mask->defined()), "Explicit attn_mask should not be set when is_causal=True");
  if (causal) {
    const at::Tensor seen = at::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(at::kBool)).tril();
    return scores.masked_fill(seen.logical_not(), kMinusInf);
  }
  if (!mask || !mask->defined()) return scores;
  TORCH_CHECK(mask->scalar_type() == at::kBool || mask->scalar_type() == scores.scalar_type(),
              "Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: ", mask->scalar_type(), " and query.dtype: ",
              scores.scalar_type(), " instead.");
  return mask->scalar_type() == at::kBool ? scores.masked_fill(mask->logical_not(), kMinusInf) : scores + *mask;
}

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const c10::optional<at::Tensor>& mask, double dropout,
                     bool causal, c10::optional<double> scale, bool groupedHeads) {
  TORCH_CHECK(query.scalar_type() == key.scalar_type() && query.scalar_type() == value.scalar_type(),
              "Expected query, key, and value to have the same dtype, but got query.dtype: ", query.scalar_type(), " key.dtype: ", key.scalar_type(),
              " and value.dtype: ", value.scalar_type(), " instead.");
  const auto perHead = [&](const at::Tensor& t) { return groupedHeads ? t.repeat_interleave(query.size(-3) / t.size(-3), -3) : t; };
  const double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  const at::Tensor scores = masked(at::matmul(query, perHead(key).transpose(-2, -1)) * factor, mask, causal);
  const at::Tensor nothingSeen = (scores == kMinusInf).all(-1, /*keepdim=*/true);
  const at::Tensor weights = at::softmax(scores, -1).masked_fill(nothingSeen, 0);
  return at::matmul(dropout > 0 ? at::dropout(weights, dropout, /*train=*/true) : weights, perHead(value));
}

}  // namespace

void provideAttentionOp() {
  // A registration lives as long as the program.
  static torch::Library* const library = [] {
    auto* made = new torch::Library(torch::Library::FRAGMENT, "aten", c10::nullopt, __FILE__, __LINE__);
    const char* schema =
        "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, "
        "float? scale=None, bool enable_gqa=False) -> Tensor";
    made->def(torch::schema(schema, c10::AliasAnalysisKind::FROM_SCHEMA), attention);
    return made;
  }();
  static_cast<void>(library);
}

#else

void provideAttentionOp() {}

#endif

}  // namespace ulpscope::engine
