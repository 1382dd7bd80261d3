#include "core/engine/fused_layers.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>

namespace ulpscope::engine {
namespace {

using MaybeTensor = compat::Optional<at::Tensor>;

// The arguments of a call by name.
class Named {
 public:
  explicit Named(const OpCall& call) : m_call(call) {}
  const c10::IValue& operator[](const char* name) const {
    const auto index = m_call.op.schema().argumentIndexWithName(name);
    TORCH_CHECK(index.has_value(), m_call.name(), " has no argument ", name);
    return m_call.argument(static_cast<std::size_t>(*index));
  }
  at::Tensor tensor(const char* name) const { return (*this)[name].toTensor(); }

 private:
  const OpCall& m_call;
};

struct Projection {
  at::Tensor weight, bias;  // of query, key and value, one below the other
};

struct Attention {
  Projection in, out;
  std::int64_t heads;
  MaybeTensor mask;  // bool, true: not seen; shaped to stand against [batch, heads, queries, keys]
};

// mask_type: 0 [queries, keys], 1 [batch, keys], 2 both, [batch, heads, queries, keys].
MaybeTensor shapedMask(const Named& arguments) {
  const c10::IValue& mask = arguments["mask"];
  if (!mask.isTensor() || !mask.toTensor().defined()) return {};
  const at::Tensor hidden = mask.toTensor();
  const c10::IValue& type = arguments["mask_type"];
  const bool ofKeys = type.isInt() && type.toInt() == 1;
  return ofKeys ? hidden.unsqueeze(1).unsqueeze(1) : hidden;
}

// [batch, length, width] -> [batch, heads, length, width / heads]
at::Tensor headsOf(const at::Tensor& t, std::int64_t heads) { return t.view({t.size(0), t.size(1), heads, -1}).transpose(1, 2); }

// Each [batch, heads, length, width / heads].
std::tuple<at::Tensor, at::Tensor, at::Tensor> project(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Attention& a) {
  if (query.is_same(key) && key.is_same(value)) {
    const auto packed = at::linear(query, a.in.weight, a.in.bias).chunk(3, -1);
    return {headsOf(packed[0], a.heads), headsOf(packed[1], a.heads), headsOf(packed[2], a.heads)};
  }
  const auto weights = a.in.weight.chunk(3), biases = a.in.bias.chunk(3);
  return {headsOf(at::linear(query, weights[0], biases[0]), a.heads), headsOf(at::linear(key, weights[1], biases[1]), a.heads),
          headsOf(at::linear(value, weights[2], biases[2]), a.heads)};
}

at::Tensor scaledDotProduct(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const MaybeTensor& hidden) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::scaled_dot_product_attention", "");
  torch::jit::Stack stack{q, k, v, hidden ? c10::IValue(hidden->logical_not()) : c10::IValue()};
  for (std::size_t i = stack.size(); i < op.schema().arguments().size(); ++i) stack.push_back(*op.schema().arguments()[i].default_value());
  op.callBoxed(&stack);
  return stack.front().toTensor();
}

// A row that sees nothing is NaN in the fused kernels (a softmax over nothing); scaled_dot_product_attention of later series makes it 0.
at::Tensor asFusedKernel(const at::Tensor& attended, const MaybeTensor& hidden) {
  if (!hidden) return attended;
  at::Tensor blind;
  {
    const OwnCalls own;
    blind = hidden->all(-1, /*keepdim=*/true);
    if (!blind.any().item<bool>()) return attended;
  }
  return attended.masked_fill(blind, std::numeric_limits<double>::quiet_NaN());
}

at::Tensor joined(const at::Tensor& perHead, const Attention& a) {
  const at::Tensor t = perHead.transpose(1, 2).contiguous();
  return at::linear(t.view({t.size(0), t.size(1), -1}), a.out.weight, a.out.bias);
}

at::Tensor selfAttention(const at::Tensor& x, const Attention& a) {
  const auto [q, k, v] = project(x, x, x, a);
  return joined(asFusedKernel(scaledDotProduct(q, k, v, a.mask), a.mask), a);
}

Attention attentionOf(const Named& arguments, const char* heads) {
  return {{arguments.tensor("qkv_weight"), arguments.tensor("qkv_bias")},
          {arguments.tensor("proj_weight"), arguments.tensor("proj_bias")},
          arguments[heads].toInt(),
          shapedMask(arguments)};
}

}  // namespace

bool isOpened(const std::string& op) { return op == "aten::_transformer_encoder_layer_fwd" || op == "aten::_native_multi_head_attention"; }

void refuseNested(const std::string& op) {
  throw std::runtime_error(op + " works on nested tensors, which cannot be compared; build the encoder with enable_nested_tensor=False and export it again");
}

void openEncoderLayer(const OpCall& call) {
  const Named arguments(call);
  const at::Tensor x = arguments.tensor("src");
  if (x.is_nested()) refuseNested(call.name());
  const Attention attention = attentionOf(arguments, "num_heads");
  const double eps = arguments["eps"].toDouble();
  const auto norm1 = [&](const at::Tensor& t) { return at::layer_norm(t, {t.size(-1)}, arguments.tensor("norm_weight_1"), arguments.tensor("norm_bias_1"), eps); };
  const auto norm2 = [&](const at::Tensor& t) { return at::layer_norm(t, {t.size(-1)}, arguments.tensor("norm_weight_2"), arguments.tensor("norm_bias_2"), eps); };
  const auto feedForward = [&](const at::Tensor& t) {
    const at::Tensor inner = at::linear(t, arguments.tensor("ffn_weight_1"), arguments.tensor("ffn_bias_1"));
    return at::linear(arguments["use_gelu"].toBool() ? at::gelu(inner) : at::relu(inner), arguments.tensor("ffn_weight_2"), arguments.tensor("ffn_bias_2"));
  };
  at::Tensor result;
  if (arguments["norm_first"].toBool()) {
    const at::Tensor attended = x + selfAttention(norm1(x), attention);
    result = attended + feedForward(norm2(attended));
  } else {
    const at::Tensor attended = norm1(x + selfAttention(x, attention));
    result = norm2(attended + feedForward(attended));
  }
  torch::jit::drop(*call.stack, call.argumentCount());
  torch::jit::push(*call.stack, std::move(result));
}

void openMultiheadAttention(const OpCall& call) {
  const Named arguments(call);
  const at::Tensor query = arguments.tensor("query");
  if (query.is_nested()) refuseNested(call.name());
  const Attention attention = attentionOf(arguments, "num_head");
  const bool needsWeights = arguments["need_weights"].toBool(), averages = arguments["average_attn_weights"].toBool();
  const auto [q, k, v] = project(query, arguments.tensor("key"), arguments.tensor("value"), attention);
  at::Tensor result, weights;
  if (needsWeights) {
    const at::Tensor scores = at::matmul(q / std::sqrt(static_cast<double>(q.size(-1))), k.transpose(-2, -1));
    weights = at::softmax(attention.mask ? scores.masked_fill(*attention.mask, -std::numeric_limits<double>::infinity()) : scores, -1);
    result = joined(at::matmul(weights, v), attention);
    if (averages) weights = weights.mean(1);
  } else {
    result = joined(asFusedKernel(scaledDotProduct(q, k, v, attention.mask), attention.mask), attention);
  }
  torch::jit::drop(*call.stack, call.argumentCount());
  torch::jit::push(*call.stack, std::move(result), std::move(weights));
}

}  // namespace ulpscope::engine
