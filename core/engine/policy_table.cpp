#include "core/engine/policy_table.h"

#include <sstream>

namespace ulpscope::engine {

std::string name(PolicyClass policyClass) {
  switch (policyClass) {
    case PolicyClass::none: return "none";
    case PolicyClass::lowerPrecision: return "lower_precision_fp";
    case PolicyClass::fp32: return "fp32";
    case PolicyClass::fp32SetOptDtype: return "fp32_set_opt_dtype";
    case PolicyClass::fp32AppendDtype: return "fp32_append_dtype";
    case PolicyClass::promote: return "promote";
    case PolicyClass::refused: return "refused";
  }
  return "none";
}

PolicyTable::PolicyTable(std::string tableName, std::string source, const std::vector<Row>& rows)
    : m_name(std::move(tableName)), m_source(std::move(source)) {
  for (const Row& row : rows) {
    std::istringstream words{std::string(row.ops)};
    for (std::string word; words >> word;) {
      const bool isNew = m_classes.emplace("aten::" + word, row.policyClass).second;
      ULPSCOPE_CHECK(isNew);
    }
  }
}

PolicyClass PolicyTable::classOf(const std::string& qualifiedOp) const {
  const auto found = m_classes.find(qualifiedOp);
  return found == m_classes.end() ? PolicyClass::none : found->second;
}

const PolicyTable& cuda113() {
  // 107 registrations. The set is what the 1.13 dispatcher registers for AutocastCUDA (a test compares); the classes are those of
  // aten/src/ATen/autocast_mode.cpp of PyTorch 1.13. FP16 and BF16 share it.
  static const PolicyTable table(
      "cuda@1.13", "PyTorch 1.13, aten/src/ATen/autocast_mode.cpp",
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

const PolicyTable& cpu113() {
  // 126 registrations for AutocastCPU: 15 + 107 + 4. Compared with the dispatcher as the CUDA table is.
  static const PolicyTable table(
      "cpu@1.13", "PyTorch 1.13, aten/src/ATen/autocast_mode.cpp",
      {{PolicyClass::lowerPrecision,
        "conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding bmm mm baddbmm addmm addbmm linear matmul conv_tbc "
        "_convolution.deprecated"},
       {PolicyClass::fp32,
        "avg_pool3d binary_cross_entropy grid_sampler polar prod prod.dim_int prod.dim_Dimname quantile quantile.scalar nanquantile "
        "nanquantile.scalar stft stft.center cdist grid_sampler_2d _grid_sampler_2d_cpu_fallback grid_sampler_3d trace view_as_complex "
        "cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr ormqr pinverse max_pool3d max_unpool2d max_unpool3d "
        "adaptive_avg_pool3d reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d mse_loss "
        "cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss poisson_nll_loss smooth_l1_loss cross_entropy_loss l1_loss "
        "huber_loss margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss ctc_loss.IntList ctc_loss.Tensor kl_div "
        "multilabel_margin_loss binary_cross_entropy_with_logits fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft "
        "fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft linalg_cond linalg_cond.p_str linalg_matrix_rank "
        "linalg_matrix_rank.tol_tensor linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.atol_rtol_float linalg_solve "
        "linalg_cholesky linalg_svdvals linalg_eigvals linalg_eigvalsh linalg_inv linalg_householder_product linalg_tensorinv "
        "linalg_tensorsolve fake_quantize_per_tensor_affine geqrf _lu_with_info qr svd triangular_solve fractional_max_pool2d "
        "fractional_max_pool3d adaptive_max_pool3d multilabel_margin_loss_forward linalg_qr linalg_cholesky_ex linalg_svd linalg_eig "
        "linalg_eigh linalg_lstsq linalg_inv_ex conv_transpose1d conv_transpose2d.input conv_transpose3d.input linalg_matrix_norm "
        "linalg_matrix_norm.str_ord symeig"},
       {PolicyClass::promote, "stack cat index_copy index_copy.dimname"}});
  return table;
}

base::Result<const PolicyTable*> findPolicyTable(const std::string& wanted) {
  if (wanted == "cuda" || wanted == cuda113().name()) return &cuda113();
  return base::Error{base::ErrorKind::usage, "is not a policy table this version has", "--policy " + wanted, "use cuda or cuda@1.13"};
}

std::vector<std::string> policyTableNames() { return {cuda113().name()}; }

std::string refusalText() {
  return "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast. Many models use a sigmoid layer right "
         "before the binary cross entropy layer. In this case, combine the two layers using "
         "torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss. binary_cross_entropy_with_logits and "
         "BCEWithLogits are safe to autocast.";
}

}  // namespace ulpscope::engine
