#include "derive/roof/matrix_cores.h"

#include <gtest/gtest.h>

#include <string>

#include "derive/work/op_for_test.h"

namespace stepscope::derive {
namespace {

using enum MatrixCores;

struct Case {
  const char* name;
  MatrixCores cores;
  int rule;
};

constexpr Case kCases[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", no, 1},
    {"void cub::DeviceRadixSortSingleTileKernel<>", no, 1},
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", no, 1},
    {"void cudnn::bn_fw_tr_1C11_singleread<float, 512>", no, 1},
    {"std::enable_if<T>(int(0)&&vllm::_typeConvert<c10::BFloat16>::exists), void>::type "
     "vllm::fused_add_rms_norm_kernel",
     no, 1},
    {"void gemv2T_kernel_val<int, int, float, float>", no, 1},
    {"void cublasLt::splitKreduce_kernel<32, 16, int>", no, 1},
    {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", yes, 2},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", yes, 2},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>", yes, 2},
    {"cutlass3x_sm100_tensorop_gemm", yes, 3},
    {"void cutlass::device_kernel<MainloopSm90TmaGmmaWarpSpecialized>", yes, 3},
    {"_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionMmaTensorOp", yes, 3},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute", yes, 4},
    {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", yes, 4},
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4>>", yes, 5},
    {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausal", yes, 5},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop", yes, 5},
    {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3", yes, 6},
    {"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128", yes, 6},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(Params)", no, 7},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_"
     "execute_kernel__5x_cublas",
     no, 7},
    {"volta_sgemm_128x64_nn", no, 7},
    {"ampere_sgemm_64x32_sliced1x4_tn", no, 7},
    {"ampere_scudnn_128x64_relu_interior_nn_v1", no, 7},
    {"void implicit_convolve_sgemm<float, float, 1024>", no, 7},
    {"cudnn::winograd_nonfused::winogradForwardData4x4", no, 7},
    {"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT16x16x256_MI16x16x1_SN_MIAV0_MIWT1_1", yes, 9},
    {"Cijk_Ailk_Bljk_SB_MT64x64x8_SE_K1_MAC_MIAV0", no, 9},
    {"Cijk_Ailk_Bljk_SB_MT64x64x8_MI0x0x0_SE", no, 9},
    {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x64x32", yes, 10},
    {"void ck::kernel_batched_gemm_xdlops_v1<>", yes, 10},
    {"ck_tile::kentry<FmhaFwdKernel, fmha_fwd_d128>", yes, 10},
    {"miopenSp3AsmConv_v30_3_1_gfx9_fp32_f3x2_stride1", no, 11},
    {"naive_conv_nonpacked_fwd_nchw_half_double_half", no, 11},
    {"_ZN5aiter22fmha_fwd_hd128_bf16E", yes, 12},
    {"triton_poi_fused_add_cos_sin_0", no, 13},
    {"triton_per_fused_mm_1", no, 13},
    {"triton_tem_fused_addmm_softmax_2", yes, 13},
    {"attn_fwd", unknown, 14},
    {"_matmul_ogs_kernel", unknown, 14},
    {"", unknown, 14},
};

TEST(MatrixCoresOfNames, FirstRuleThatMatches) {
  for (const Case& c : kCases) {
    const MatrixCoreUse use = matrix_cores_of(c.name);
    EXPECT_EQ(use.cores, c.cores) << c.name;
    EXPECT_EQ(use.rule, c.rule) << c.name;
  }
}

TEST(MatrixCoresOfNames, TheSettingDecidesDoubtfulCases) {
  const KernelSetting pascal{Vendor::nvidia, DType::float16, 6, 0};
  EXPECT_EQ(matrix_cores_of("some_hmma_kernel", pascal).cores, no);
  const KernelSetting floats{Vendor::nvidia, DType::float32, 8, 0};
  EXPECT_EQ(matrix_cores_of("fmha_cutlassF_f32_aligned_64x64_rf_sm80", floats).cores, unknown);
  EXPECT_EQ(matrix_cores_of("triton_tem_fused_mm_0", floats).cores, unknown);
  const KernelSetting amd{Vendor::amd, DType::float16, 9, 4};
  EXPECT_EQ(matrix_cores_of("bmm_Fp16_x", amd).cores, unknown);  // a rule of another vendor
}

TEST(MatrixCoresOfNames, HostileNamesEndQuickly) {
  for (const char* piece : {"_MI", "Cijk_", "ampere_", "fmhaSm", "cudnn", "ck::"}) {
    std::string name;
    while (name.size() < (1 << 20)) name += piece;
    EXPECT_GE(matrix_cores_of(name).rule, 1);
  }
}

TEST(MatrixEligible, ByTypeDeviceAndFamily) {
  const auto on = [](Vendor vendor, int major, DType type, int minor = 0) {
    return KernelSetting{vendor, type, major, minor};
  };
  EXPECT_TRUE(matrix_eligible("aten::mm", on(Vendor::nvidia, 7, DType::float16)));
  EXPECT_FALSE(matrix_eligible("aten::mm", on(Vendor::nvidia, 7, DType::bfloat16)));
  EXPECT_FALSE(matrix_eligible("aten::mm", on(Vendor::nvidia, 7, DType::float32)));
  EXPECT_TRUE(matrix_eligible("aten::addmm", on(Vendor::nvidia, 8, DType::float32)));  // TF32
  EXPECT_TRUE(matrix_eligible("aten::bmm", on(Vendor::nvidia, 8, DType::float64)));
  EXPECT_TRUE(matrix_eligible("aten::mm", on(Vendor::amd, 9, DType::float32)));
  EXPECT_FALSE(matrix_eligible("aten::_scaled_mm", on(Vendor::nvidia, 8, DType::float8)));
  EXPECT_TRUE(matrix_eligible("aten::_scaled_mm", on(Vendor::nvidia, 8, DType::float8, 9)));
  EXPECT_FALSE(matrix_eligible("aten::mm", on(Vendor::nvidia, 9, DType::complex64)));
  EXPECT_FALSE(matrix_eligible("aten::mm", on(Vendor::nvidia, 9, DType::int32)));
  const KernelSetting hopper = on(Vendor::nvidia, 9, DType::bfloat16);
  EXPECT_TRUE(matrix_eligible("aten::convolution", hopper));
  EXPECT_TRUE(matrix_eligible("aten::_scaled_dot_product_flash_attention", hopper));
  EXPECT_TRUE(matrix_eligible("aten::_cudnn_rnn", hopper));
  EXPECT_FALSE(matrix_eligible("aten::dot", hopper));
  EXPECT_FALSE(matrix_eligible("aten::mv", hopper));
  EXPECT_FALSE(matrix_eligible("aten::add", hopper));
}

TEST(MatrixEligible, ShapesThatLeaveTheTilesEmpty) {
  const KernelSetting hopper{Vendor::nvidia, DType::bfloat16, 9, 0};
  const auto eligible = [&](const char* name, const char* dims, const char* types) {
    const OpArgs args = op(dims, types);
    return matrix_eligible(name, hopper, &args);
  };
  EXPECT_FALSE(eligible("aten::mm", "[[1,64],[64,64]]", "bf;bf"));
  EXPECT_FALSE(eligible("aten::addmm", "[[1],[64,64],[64,1]]", "bf;bf;bf"));
  EXPECT_TRUE(eligible("aten::addmm", "[[8],[64,64],[64,8]]", "bf;bf;bf"));
  EXPECT_FALSE(eligible("aten::linear", "[[1,1,64],[32,64]]", "bf;bf"));
  EXPECT_TRUE(eligible("aten::linear", "[[1,7,64],[32,64]]", "bf;bf"));
  EXPECT_FALSE(eligible("aten::convolution", "[[2,32,8,8],[32,1,3,3]]", "bf;bf"));
  EXPECT_TRUE(eligible("aten::convolution", "[[2,32,8,8],[32,8,3,3]]", "bf;bf"));
  EXPECT_TRUE(eligible("aten::convolution", "[[2,3,8,8],[32,3,3,3]]", "bf;bf"));  // few channels, one group
}

}  // namespace
}  // namespace stepscope::derive
