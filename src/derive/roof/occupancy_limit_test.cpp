#include "derive/roof/occupancy_limit.h"

#include <gtest/gtest.h>

namespace stepscope::derive {
namespace {

trace::Device a100() {
  trace::Device device;
  device.name = "NVIDIA A100-SXM4-80GB";
  device.compute_major = 8;
  device.max_threads_per_sm = 2048;
  return device;
}

// Blocks of 256 threads: 8 by threads, 65536 / (256 × 255) = 1 by registers, 167936 / 50000 = 3 by shared
// memory.
TEST(OccupancyLimit, TheLeastDecides) {
  EXPECT_EQ(name_of(occupancy_limit({256, 255, 50'000}, a100())), "registers");
  EXPECT_EQ(name_of(occupancy_limit({256, 32, 50'000}, a100())), "shared memory");
  EXPECT_EQ(name_of(occupancy_limit({256, 32, 0}, a100())), "block size");
  EXPECT_EQ(name_of(occupancy_limit({0, 32, 0}, a100())), "");
  EXPECT_EQ(name_of(occupancy_limit({INT64_MAX, INT64_MAX, INT64_MAX}, a100())), "");
  EXPECT_EQ(name_of(occupancy_limit({256, INT64_MAX, INT64_MAX}, a100())), "shared memory");
  trace::Device other = a100();
  other.name = "AMD Instinct MI300X";
  EXPECT_EQ(name_of(occupancy_limit({256, 255, 0}, other)), "");
}

}  // namespace
}  // namespace stepscope::derive
