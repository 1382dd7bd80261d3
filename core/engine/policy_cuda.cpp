// What AutocastCUDA registers, by PyTorch series. FP16 and BF16 share a table.
#include "core/engine/policy_table.h"

namespace ulpscope::engine {

const PolicyTable& cuda113() {
  // 107 registrations. The set is what the 1.13 dispatcher registers for AutocastCUDA (a test compares); the classes are those of
  // aten/src/ATen/autocast_mode.cpp of PyTorch 1.13. FP16 and BF16 share it.
  static const PolicyTable table(
      "cuda", "1.13", "PyTorch 1.13, aten/src/ATen/autocast_mode.cpp",
      {{PolicyClass::lowerPrecision,
        "_convolution.deprecated _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d.input "
        "conv_transpose3d.input convolution cudnn_convolution cudnn_convolution_transpose prelu addmm addmv addr matmul einsum mm mv "
        "linear addbmm baddbmm bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell "
        "rnn_tanh_cell rnn_relu_cell"},
       {PolicyClass::fp32,
        "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar "
        "softplus layer_norm native_layer_norm group_norm frobenius_norm frobenius_norm.dim nuclear_norm nuclear_norm.dim "
        "cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss "
        "smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss "
        "multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp"},
       {PolicyClass::fp32SetOptDtype,
        "prod prod.dim_int prod.dim_Dimname softmax.int softmax.Dimname log_softmax.int log_softmax.Dimname cumprod cumprod.dimname "
        "cumsum cumsum.dimname sum sum.dim_IntList sum.dim_DimnameList"},
       {PolicyClass::fp32AppendDtype, "norm.Scalar norm.ScalarOpt_dim norm.names_ScalarOpt_dim"},
       {PolicyClass::promote, "addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put tensordot scatter_add"},
       {PolicyClass::refused, "binary_cross_entropy"}});
  return table;
}

const PolicyTable& cuda26() {
  // By bracketing: the headers of earlier 2.x releases and the 2.9 tree carry the same lists.
  static const PolicyTable table("cuda", "2.6", "PyTorch 2.6, aten/src/ATen/autocast_mode.h (AT_FORALL_* macros)",
                                 cuda113().changed("frobenius_norm",
                                                   {{PolicyClass::lowerPrecision, "linalg_vecdot _scaled_dot_product_flash_attention scaled_dot_product_attention"},
                                                    {PolicyClass::fp32,
                                                     "upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d "
                                                     "upsample_nearest3d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d "
                                                     "_upsample_bilinear2d_aa upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa"},
                                                    {PolicyClass::fp32SetOptDtype, "linalg_vector_norm linalg_matrix_norm linalg_matrix_norm.str_ord"},
                                                    {PolicyClass::promote, "vdot"}}));
  return table;
}

const PolicyTable& cuda212() {
  static const PolicyTable table("cuda", "2.12", "PyTorch 2.12, aten/src/ATen/autocast_mode.h; pull request 174824 adds rms_norm",
                                 cuda26().changed("", {{PolicyClass::fp32, "rms_norm"}}));
  return table;
}

}  // namespace ulpscope::engine
