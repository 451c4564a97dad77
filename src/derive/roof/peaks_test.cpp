#include "derive/roof/peaks.h"

#include <gtest/gtest.h>

namespace stepscope::derive {
namespace {

double bf16(std::string_view name, int sms = 0, double memory = 0) {
  const auto peaks = peaks_of(name, 0, 0, sms, memory);
  return peaks ? peaks->bf16 / 1e12 : -1;
}

TEST(Peaks, NamesSeenInTraces) {
  EXPECT_EQ(peaks_of("Tesla V100-SXM2-16GB")->fp16, 125e12);
  EXPECT_EQ(peaks_of("Tesla V100-SXM2-32GB")->memory, 32 * 1073741824.0);
  EXPECT_EQ(peaks_of("Tesla V100-DGXS-32GB")->certainty, Certainty::derived);
  EXPECT_EQ(peaks_of("NVIDIA A100-PG509-200")->bandwidth, 1555e9);
  EXPECT_EQ(bf16("NVIDIA H100 80GB HBM3", 132), 989.4);
  EXPECT_EQ(bf16("NVIDIA B200", 148, 191.5e9), 2250);
  EXPECT_EQ(bf16("AMD Instinct MI300X", 304), 1307.4);
  EXPECT_EQ(peaks_of("ARTEMIS")->vendor, Vendor::other);
}

TEST(Peaks, LongestNameFirst) {
  EXPECT_EQ(bf16("NVIDIA H100 NVL"), 835);
  EXPECT_EQ(bf16("NVIDIA H100 PCIe"), 756);
  EXPECT_EQ(bf16("NVIDIA H200"), 989.4);
  EXPECT_EQ(bf16("NVIDIA H200 NVL"), 835.5);
  EXPECT_EQ(bf16("NVIDIA H20"), 148);
  EXPECT_EQ(bf16("NVIDIA L4"), 121);
  EXPECT_EQ(bf16("NVIDIA L40"), 181);
  EXPECT_EQ(bf16("NVIDIA L40S"), 362);
  EXPECT_EQ(bf16("NVIDIA A10"), 125);
  EXPECT_EQ(bf16("NVIDIA A10G"), 70);
  EXPECT_EQ(bf16("NVIDIA GB200"), 2500);
  EXPECT_EQ(peaks_of("NVIDIA GH200 480GB")->bandwidth, 4000e9);
  EXPECT_EQ(peaks_of("NVIDIA GH200 144G HBM3e")->bandwidth, 4900e9);
  EXPECT_EQ(bf16("AMD Instinct MI250X"), 191.5);
  EXPECT_EQ(bf16("AMD Instinct MI250"), 181);
  EXPECT_EQ(bf16("AMD Instinct MI250X/MI250", 104), 181);  // both match; the multiprocessors decide
  EXPECT_EQ(peaks_of("NVIDIA A100-SXM4-40GB")->bandwidth, 1555e9);
  EXPECT_EQ(peaks_of("NVIDIA A100-SXM4-80GB")->bandwidth, 2039e9);
  EXPECT_EQ(peaks_of("NVIDIA A100 80GB PCIe")->bandwidth, 1935e9);
  EXPECT_EQ(peaks_of("nvidia a100-pcie-40gb")->bandwidth, 1555e9);
  EXPECT_EQ(bf16("Intel(R) Data Center GPU Max 1550"), 419);
}

TEST(Peaks, DenseNotSparse) {
  // The headline 1979 of H100 bf16 is 2:4 sparse (Lightning #21743); the dense figure is half of it.
  EXPECT_LT(bf16("NVIDIA H100 80GB HBM3"), 1000);
  for (const PeakRow& row : peak_table()) {
    if (row.vendor == Vendor::nvidia && row.bf16 > 0 && row.mat32 > 0) {
      EXPECT_LE(row.mat32, row.fp16 * 0.51 + row.fp32) << row.match;
    }
    EXPECT_TRUE(row.fp16 > 0 && row.gb_per_s > 0) << row.match;
  }
}

TEST(Peaks, RidgesOfTheSpecification) {
  const auto ridge = [](const char* name) {
    const auto peaks = peaks_of(name);
    return peaks->bf16 / peaks->bandwidth;
  };
  EXPECT_NEAR(ridge("NVIDIA H100 80GB HBM3"), 295, 0.5);
  EXPECT_NEAR(ridge("AMD Instinct MI300X"), 246, 0.5);
  EXPECT_NEAR(ridge("NVIDIA A100-SXM4-40GB"), 201, 0.5);
}

TEST(Peaks, OtherModelsAndUnknownNamesHaveNone) {
  for (const char* name : {"", "Graphics Device", "NVIDIA GeForce RTX 3090 Ti", "NVIDIA GeForce RTX 4090 D",
                           "NVIDIA H2000", "XH100", "A10", "T4x"})
    EXPECT_EQ(peaks_of(name).has_value(), std::string_view(name) == "A10") << name;
  EXPECT_FALSE(peaks_of(std::string(1 << 20, 'H')));
}

TEST(Peaks, GenericNamesGoByTheirProperties) {
  const auto peaks = peaks_of("AMD Radeon Graphics", 9, 0, 104, 68.7e9);
  ASSERT_TRUE(peaks);
  EXPECT_EQ(peaks->bf16, 181e12);
  EXPECT_FALSE(peaks_of("AMD Radeon Graphics", 9, 0, 104, 34e9));
  EXPECT_FALSE(peaks_of("AMD Radeon Graphics", 9, 0, 96, 68.7e9));
  EXPECT_FALSE(peaks_of("Radeon Graphics"));
  EXPECT_FALSE(peaks_of("Graphics", 9, 0, 104, 68.7e9));               // no vendor
  EXPECT_FALSE(peaks_of("NVIDIA Graphics Device", 7, 0, 80, 34.3e9));  // two V100 boards of different rates
}

TEST(Peaks, PartitionsScale) {
  const auto mig = peaks_of("NVIDIA A100-SXM4-80GB MIG 3g.40gb", 8, 0, 42, 42.4e9);
  ASSERT_TRUE(mig);
  EXPECT_NEAR(mig->bf16, 312e12 * 42 / 108, 1e6);
  EXPECT_NEAR(mig->bandwidth, 2039e9 * 42.4e9 / (80 * 1073741824.0), 1e3);
  EXPECT_FALSE(peaks_of("NVIDIA A100-SXM4-80GB MIG 3g.40gb"));  // size not recorded
  const auto cpx = peaks_of("AMD Instinct MI300X", 9, 4, 38, 25.7e9);
  EXPECT_NEAR(cpx->fp8 / 1e12, 2614.9 / 8, 0.1);
  EXPECT_NEAR(cpx->bandwidth / 1e9, 5325.0 / 8, 5);
  EXPECT_EQ(bf16("NVIDIA H100 80GB HBM3", 132, 84.9e9), 989.4);
}

}  // namespace
}  // namespace stepscope::derive
