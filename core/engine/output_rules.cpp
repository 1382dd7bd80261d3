#include "core/engine/output_rules.h"

#include <sstream>
#include <string_view>
#include <unordered_map>

namespace ulpscope::engine {
namespace {

using Kind = OutputRule::Kind;
using Rules = std::unordered_map<std::string, OutputRule>;

void add(Rules& rules, const OutputRule& rule, std::string_view ops) {
  std::istringstream words{std::string(ops)};
  for (std::string word; words >> word;) rules.emplace("aten::" + word, rule);
}

// Sources: the kernels' TensorIterator configurations and dtype checks in aten/src/ATen/native of PyTorch 1.13.
Rules makeRules() {
  Rules rules;
  add(rules, {Kind::native},
      "cat stack index index_select gather flip roll repeat masked_select constant_pad_nd scatter take take_along_dim where tril triu "
      "index_copy index_fill masked_fill masked_scatter index_put _index_put_impl index_add scatter_add embedding unfold im2col "
      "repeat_interleave sort argsort max min amax amin argmax argmin eq ne lt le gt ge isnan isinf isposinf isneginf sign sgn "
      "signbit nonzero any all equal copy clone contiguous fill zero empty_like zeros_like ones_like full_like new_empty new_zeros "
      "new_ones new_full new_empty_strided empty_strided to _to_copy type_as item _local_scalar_dense detach lift lift_fresh alias "
      "logical_not logical_and logical_or logical_xor nan_to_num channel_shuffle pixel_shuffle pixel_unshuffle _unsafe_view "
      "_reshape_alias resolve_conj resolve_neg resize set is_nonzero searchsorted bucketize count_nonzero heaviside "
      "set_data index_reduce native_channel_shuffle rot90 one_hot zeros ones full eye empty scalar_tensor squeeze unsqueeze transpose t swapaxes swapdims as_strided");
  add(rules, {Kind::promote},
      "abs neg positive add sub rsub mul div floor_divide maximum minimum fmax fmin relu leaky_relu elu celu gelu silu mish sigmoid "
      "tanh hardtanh hardswish hardsigmoid log_sigmoid log_sigmoid_forward sqrt sin cos atan asinh "
      "acosh atanh sinc erf erfc exp2 ceil floor round trunc frac clamp clamp_min clamp_max addcmul addcdiv logit xlogy hypot atan2 pow "
      "exp log log2 log10 log1p expm1 reciprocal rsqrt acos asin cosh sinh tan erfinv softplus polygamma lgamma digamma logaddexp "
      "logaddexp2 copysign i0 nextafter mse_loss smooth_l1_loss huber_loss soft_margin_loss dist");
  OutputRule scalarInTensorDtype{Kind::promote};
  scalarInTensorDtype.roundScalars = true;
  add(rules, scalarInTensorDtype, "remainder fmod");
  OutputRule checkedScalar = scalarInTensorDtype;  // Scalar::to<scalar_t>() refuses what the dtype cannot hold
  checkedScalar.checkScalars = true;
  add(rules, checkedScalar, "threshold hardshrink softshrink");
  OutputRule eachStepRounds{Kind::promote};  // LinearAlgebraKernel's addr works in scalar_t
  eachStepRounds.special = OutputRule::Special::outerProduct;
  add(rules, eachStepRounds, "addr");
  add(rules, {Kind::follow, 0},
      "std var std_mean var_mean max_pool2d_with_indices max_pool3d_with_indices avg_pool2d avg_pool3d _adaptive_avg_pool2d "
      "_adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d max_unpool2d upsample_nearest1d "
      "_upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d upsample_nearest3d _upsample_nearest_exact3d "
      "upsample_linear1d upsample_bilinear2d _upsample_bilinear2d_aa upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa "
      "reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d grid_sampler_2d "
      "grid_sampler_3d glu native_dropout bernoulli topk kthvalue median nanmedian mode cummax cummin col2im "
      "aminmax _unique2 unique_dim unique_consecutive diag diag_embed trace _softmax _log_softmax logsumexp uniform exponential logcumsumexp renorm");
  OutputRule statisticsStayFloat{Kind::follow, 0};
  statisticsStayFloat.firstOutputOnly = true;
  statisticsStayFloat.fused = true;
  add(rules, statisticsStayFloat, "batch_norm native_batch_norm _batch_norm_impl_index instance_norm");
  add(rules, {Kind::dtypeArg, 0}, "sum prod mean nansum cumsum cumprod norm linalg_vector_norm rand_like randn_like arange rand randn range normal randperm");
  add(rules, {Kind::same},
      "mm addmm bmm baddbmm addmv mv dot vdot cross linalg_cross bilinear _trilinear lerp prelu _prelu_kernel nll_loss_forward "
      "nll_loss2d_forward binary_cross_entropy lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell");
  OutputRule batchAfterBatch{Kind::same};  // calls addmm_ for each batch
  batchAfterBatch.special = OutputRule::Special::batchSum;
  add(rules, batchAfterBatch, "addbmm");
  OutputRule spaced{Kind::dtypeArg, 0};
  spaced.special = OutputRule::Special::spaced;
  add(rules, spaced, "linspace logspace");
  OutputRule randomSlopes{Kind::follow, 0};
  randomSlopes.special = OutputRule::Special::randomSlopes;
  add(rules, randomSlopes, "rrelu_with_noise");
  // Loss.cu and Distance.cu dispatch on float and double alone.
  for (const auto& [op, kernel] : {std::pair{"_ctc_loss", "ctc_loss_cuda"}, {"_cdist_forward", "cdist_cuda"}, {"_pdist_forward", "pdist_cuda"}}) {
    OutputRule unimplemented{Kind::unimplemented};
    unimplemented.kernel = kernel;
    add(rules, unimplemented, op);
  }
  OutputRule bags{Kind::same};  // EmbeddingBag.cu adds up in float32 and rounds once
  bags.firstOutputOnly = true;
  add(rules, bags, "_embedding_bag _embedding_bag_forward_only");
  OutputRule wholePool{Kind::follow, 0};
  wholePool.fused = true;
  add(rules, wholePool, "max_pool1d");
  OutputRule normalization{Kind::same};
  normalization.firstOutputOnly = true;
  add(rules, normalization, "native_layer_norm native_group_norm");
  OutputRule convolution{Kind::same};
  convolution.convolution = true;
  add(rules, convolution,
      "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution _convolution conv_tbc convolution_overrideable");
  OutputRule fusedAttention{Kind::same};  // flash and memory-efficient kernels add up in float32 and round the result
  fusedAttention.fused = true;
  add(rules, fusedAttention, "scaled_dot_product_attention");
  OutputRule fusedRnn{Kind::fusedRnn};
  fusedRnn.fused = true;
  add(rules, fusedRnn, "lstm gru rnn_tanh rnn_relu");
  return rules;
}

}  // namespace

namespace {

std::optional<OutputRule> onCpu(const std::string& op, OutputRule rule, const std::string& series) {
  rule.convolution = false;
  if (rule.kind == OutputRule::Kind::fusedRnn) return std::nullopt;
  if (op == "aten::prelu" || op == "aten::_prelu_kernel") rule.kind = OutputRule::Kind::follow;
  if (series != "1.13" && (op == "aten::native_layer_norm" || op == "aten::native_group_norm")) rule.kind = OutputRule::Kind::follow;
  return rule;
}

}  // namespace

std::optional<OutputRule> outputRule(const std::string& op, const std::string& device, const std::string& series) {
  static const Rules rules = makeRules();
  auto found = rules.find(op);
  if (found == rules.end() && op.size() > 2 && op.back() == '_' && op[op.size() - 2] != '_')
    found = rules.find(op.substr(0, op.size() - 1));
  if (found == rules.end()) return std::nullopt;
  return device == "cpu" ? onCpu(op, found->second, series) : std::optional<OutputRule>(found->second);
}

}  // namespace ulpscope::engine
