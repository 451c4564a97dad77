#include "derive/roof/roof.h"

#include <gtest/gtest.h>

#include "derive/work/op_for_test.h"

namespace stepscope::derive {
namespace {

const DevicePeaks& h100() {
  static const DevicePeaks kPeaks = *peaks_of("NVIDIA H100 80GB HBM3");
  return kPeaks;
}

Work amounts(std::int64_t matrix, std::int64_t vector, std::int64_t bytes) {
  Work work;
  work.matrix_flops = matrix;
  work.vector_flops = vector;
  work.bytes_read = bytes;
  work.flops_known = work.bytes_known = true;
  work.compute = DType::bfloat16;
  return work;
}

Bound bound(const Work& work, std::int64_t kernels = 1, std::int64_t grid = 0) {
  return roof_of(work, Precision::bf16, h100(), kernels, grid).bound;
}

TEST(PrecisionOf, TypeCorrectedByTheKernel) {
  const KernelSetting ampere{Vendor::nvidia, DType::float32, 8, 0};
  const KernelSetting volta{Vendor::nvidia, DType::float32, 7, 0};
  const KernelSetting cdna{Vendor::amd, DType::float32, 9, 4};
  EXPECT_EQ(precision_of(DType::float32, "ampere_sgemm_128x64_tn", ampere), Precision::fp32);
  EXPECT_EQ(precision_of(DType::float32, "sm80_xmma_gemm_f32f32_f32f32_tf32_n", ampere), Precision::tf32);
  EXPECT_EQ(precision_of(DType::float32, "cutlass_80_tensorop_s1688gemm_128x64", ampere), Precision::tf32);
  EXPECT_EQ(precision_of(DType::float32, "volta_s1688gemm", volta), Precision::fp32);
  EXPECT_EQ(precision_of(DType::float32, "Cijk_Ailk_Bljk_SB_MT64x64x8_MI32x32x2_SE", cdna),
            Precision::fp32_matrix);
  EXPECT_EQ(precision_of(DType::float32, "Cijk_xf32_MI16x16x8", cdna), Precision::xf32);
  EXPECT_EQ(precision_of(DType::float32, "Cijk_Ailk_Bljk_SB_MT64x64x8_SE", cdna), Precision::fp32);
  EXPECT_EQ(precision_of(DType::float64, "cutlass_80_tensorop_d884gemm", ampere), Precision::fp64_matrix);
  EXPECT_EQ(precision_of(DType::float64, "ampere_dgemm", ampere), Precision::fp64);
  EXPECT_EQ(precision_of(DType::float8, "nvjet_qqtst", ampere), Precision::fp8);
  EXPECT_EQ(precision_of(DType::int64, "", ampere), Precision::unknown);
}

TEST(Roof, TheQwenProductIsMatrixCompute) {
  // 51.58 GFLOP at 989.4 TFLOP/s take 52.13 µs; 71 MiB at 3352 GB/s take 22.2 µs. Measured: 84.48 µs, so
  // 62 %.
  const Work work = work_of("aten::mm", op("[[8944,1024],[1024,2816]]", "bf;bf"));
  const Roof roof = roof_of(work, Precision::bf16, h100(), 2, 0);
  EXPECT_EQ(roof.bound, Bound::compute_matrix);
  EXPECT_NEAR(roof.seconds * 1e6, 52.13, 0.01);
  EXPECT_NEAR(roof.memory_seconds * 1e6, 22.21, 0.01);
  EXPECT_NEAR(roof.intensity, 692.77, 0.01);
  EXPECT_NEAR(roof.seconds / 84.484e-6, 0.617, 0.001);
}

TEST(Roof, BoundsInTheirOrder) {
  const std::int64_t microsecond_of_memory = 3352000;  // bytes
  EXPECT_EQ(bound(amounts(0, 0, 100 * microsecond_of_memory)), Bound::memory);
  EXPECT_EQ(bound(amounts(0, 669'000'000, 1)), Bound::compute_vector);  // 10 µs at 66.9 TFLOP/s
  EXPECT_EQ(bound(amounts(9'894'000'000, 0, 1)), Bound::compute_matrix);
  EXPECT_EQ(bound(amounts(9'894'000'000, 0, 10 * microsecond_of_memory)), Bound::balanced);
  EXPECT_EQ(bound(amounts(9'894'000'000, 0, 12 * microsecond_of_memory)), Bound::memory);
  // below 2 µs per kernel, or a grid that leaves multiprocessors idle
  EXPECT_EQ(bound(amounts(0, 0, microsecond_of_memory)), Bound::latency);
  EXPECT_EQ(bound(amounts(0, 0, 10 * microsecond_of_memory), 6), Bound::latency);
  EXPECT_EQ(bound(amounts(0, 0, 100 * microsecond_of_memory), 1, 131), Bound::latency);
  EXPECT_EQ(bound(amounts(0, 0, 100 * microsecond_of_memory), 1, 132), Bound::memory);
}

TEST(Roof, UnknownStaysUnknown) {
  EXPECT_EQ(bound(Work{}), Bound::unknown);
  EXPECT_EQ(bound(amounts(0, 0, 0)), Bound::unknown);
  EXPECT_EQ(bound(amounts(1000, 0, 1000), 0), Bound::unknown);
  EXPECT_EQ(roof_of(amounts(1000, 0, 1000), Precision::fp4, h100(), 1, 0).bound,
            Bound::unknown);  // H100 has no fp4
  EXPECT_EQ(roof_of(amounts(1000, 0, 1000), Precision::bf16, DevicePeaks{}, 1, 0).bound, Bound::unknown);
}

TEST(Roof, SparseProductsAgainstTwiceTheDensePeak) {
  Work work = amounts(989'400'000'000, 0, 1);
  EXPECT_NEAR(roof_of(work, Precision::bf16, h100(), 1, 0).seconds, 1e-3, 1e-9);
  work.sparse = true;
  EXPECT_NEAR(roof_of(work, Precision::bf16, h100(), 1, 0).seconds, 0.5e-3, 1e-9);
}

}  // namespace
}  // namespace stepscope::derive
