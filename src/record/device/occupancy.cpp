#include "record/device/occupancy.h"

#include <algorithm>
#include <cmath>

namespace stepscope::record {
namespace {

constexpr std::uint64_t kWarp = 32, kParts = 4;  // of a multiprocessor, each with its own registers
constexpr std::uint64_t kRegistersAtATime = 256;

std::uint64_t up_to(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

/// A product in double, which cannot overflow: a damaged file may hold any numbers.
double product(const std::uint32_t (&of)[3]) { return double{1} * of[0] * of[1] * of[2]; }

constexpr double kMaxThreads = 1024;  // per block

}  // namespace

std::uint64_t resident_blocks(const Kernel& kernel, const DeviceAttributes& device) {
  const double all_threads = product(kernel.block);
  if (all_threads < 1 || all_threads > kMaxThreads || device.multiprocessors == 0) return 0;
  const std::uint64_t warps = up_to(static_cast<std::uint64_t>(all_threads), kWarp) / kWarp;
  std::uint64_t blocks = device.warps_per_multiprocessor / warps;
  if (device.blocks_per_multiprocessor > 0)
    blocks = std::min<std::uint64_t>(blocks, device.blocks_per_multiprocessor);
  if (kernel.registers > 0) {
    const std::uint64_t of_a_warp = up_to(kernel.registers * kWarp, kRegistersAtATime);
    blocks = std::min(blocks, device.registers_per_multiprocessor / kParts / of_a_warp * kParts / warps);
  }
  const bool reserves = device.compute_major >= 8;  // the system reserves 1 KiB of shared memory per block
  const std::uint64_t shared =
      up_to(std::uint64_t{kernel.static_shared} + kernel.dynamic_shared + (reserves ? 1024 : 0),
            reserves ? 128 : 256);
  if (shared > 0) blocks = std::min(blocks, device.shared_per_multiprocessor / shared);
  return blocks;
}

Occupancy occupancy_of(const Kernel& kernel, const DeviceAttributes& device) {
  Occupancy out;
  if (device.multiprocessors == 0) return out;
  // In single precision, as Kineto does, so that halves round the same way.
  const double threads = product(kernel.block);
  const double blocks = static_cast<float>(product(kernel.grid) / device.multiprocessors);
  out.blocks_per_multiprocessor = blocks;
  out.warps_per_multiprocessor = static_cast<float>(blocks * threads / kWarp);
  const double most = double{1} * device.warps_per_multiprocessor * kWarp;
  if (most <= 0) return out;
  const double resident = std::min(static_cast<double>(resident_blocks(kernel, device)), blocks);
  out.percent = static_cast<std::int64_t>(std::floor(100 * resident * threads / most + 0.5));
  return out;
}

}  // namespace stepscope::record
