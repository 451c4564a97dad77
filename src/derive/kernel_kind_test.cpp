#include "derive/kernel_kind.h"

#include <gtest/gtest.h>

namespace stepscope::derive {
namespace {

TEST(KernelKind, ByName) {
  struct Known {
    std::string_view name, kind;
  };
  const Known known[] = {
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", "matrix"},
      {"volta_sgemm_128x64_nn", "matrix"},
      {"Cijk_Ailk_Bljk_BBS_BH_MT128x128x32", "matrix"},
      {"cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int)", "convolution"},
      {"cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", "convolution"},
      {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", "convolution"},
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits>", "attention"},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>", "norm"},
      {"void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>", "norm"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, MulFunctor>>",
       "pointwise"},
      {"void at::native::elementwise_kernel<128, 4, gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>",
       "copy"},
      {"void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda, LoadWithCast<1>>", "cast"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda>", "cast"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2>", "concat"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", "fill"},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, MeanOps>>", "reduction"},
      {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>", "layout"},
      {"batched_transpose_32x32_half", "layout"},
      {"split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1", "index"},
      {"void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>", "optimizer"},
      {"triton_poi_fused_add_mul_0", "compiled"},
      {"void at::native::(anonymous namespace)::softmax_warp_forward<float, float, float, 8>", "softmax"},
      {"k", "other"},
  };
  for (const Known& k : known) EXPECT_EQ(name_of(kernel_kind(k.name)), k.kind) << k.name;
}

}  // namespace
}  // namespace stepscope::derive
