// What AutocastCPU registers, by PyTorch series. FP16 and BF16 share a table; 1.13 takes BF16 only.
#include "core/engine/policy_table.h"

namespace ulpscope::engine {

const PolicyTable& cpu113() {
  // 126 registrations for AutocastCPU: 15 + 107 + 4. Compared with the dispatcher as the CUDA table is.
  static const PolicyTable table(
      "cpu", "1.13", "PyTorch 1.13, aten/src/ATen/autocast_mode.cpp",
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

const PolicyTable& cpu26() {
  // Read in the 2.5/2.6 and 2.9 trees, which agree.
  static const PolicyTable table("cpu", "2.6", "PyTorch 2.6, aten/src/ATen/autocast_mode.cpp, TORCH_LIBRARY_IMPL(aten, AutocastCPU)",
                                 cpu113().changed("conv_transpose1d conv_transpose2d.input conv_transpose3d.input linalg_matrix_norm "
                                                  "linalg_matrix_norm.str_ord symeig",
                                                  {{PolicyClass::lowerPrecision,
                                                    "linalg_vecdot _addmm_activation mkldnn_rnn_layer conv_transpose1d conv_transpose2d.input "
                                                    "conv_transpose3d.input prelu scaled_dot_product_attention _native_multi_head_attention"}}));
  return table;
}

const PolicyTable& cpu212() {
  static const PolicyTable table("cpu", "2.12", "PyTorch 2.12, aten/src/ATen/autocast_mode.cpp; as in 2.6", cpu26().changed("", {}));
  return table;
}

}  // namespace ulpscope::engine
