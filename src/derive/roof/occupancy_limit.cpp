#include "derive/roof/occupancy_limit.h"

#include <array>

#include "derive/roof/peaks.h"

namespace stepscope::derive {
namespace {

constexpr std::int64_t kRegisters = 65'536, kThreads = 2'048;  // per multiprocessor
constexpr std::int64_t kMaxThreads = 1'024, kMaxRegisters = 255;

struct SharedMemory {
  int major, minor;
  std::int64_t bytes;
};
constexpr std::array kSharedMemory = {
    SharedMemory{7, 0, 98'304},  SharedMemory{7, 5, 65'536},   SharedMemory{8, 0, 167'936},
    SharedMemory{8, 6, 102'400}, SharedMemory{8, 7, 167'936},  SharedMemory{8, 9, 102'400},
    SharedMemory{9, 0, 233'472}, SharedMemory{10, 0, 233'472}, SharedMemory{12, 0, 102'400}};

std::int64_t shared_memory_of(const trace::Device& device) {
  for (const SharedMemory& known : kSharedMemory)
    if (known.major == device.compute_major && known.minor == device.compute_minor) return known.bytes;
  return 0;
}

}  // namespace

std::string_view name_of(OccupancyLimit limit) {
  constexpr std::string_view kNames[] = {"", "registers", "shared memory", "block size"};
  return kNames[static_cast<std::size_t>(limit)];
}

OccupancyLimit occupancy_limit(const BlockNeeds& block, const trace::Device& device) {
  if (vendor_of(device.name) != Vendor::nvidia || block.threads <= 0 || block.threads > kMaxThreads)
    return OccupancyLimit::unknown;
  const std::int64_t threads = device.max_threads_per_sm > 0 ? device.max_threads_per_sm : kThreads;
  std::int64_t fewest = threads / block.threads;
  OccupancyLimit limit = OccupancyLimit::block_size;
  const auto limits = [&](std::int64_t blocks, OccupancyLimit what) {
    if (blocks < fewest) fewest = blocks, limit = what;
  };
  if (block.registers > 0 && block.registers <= kMaxRegisters)
    limits(kRegisters / (block.registers * block.threads), OccupancyLimit::registers);
  if (const std::int64_t all = shared_memory_of(device); all > 0 && block.shared_memory > 0)
    limits(all / block.shared_memory, OccupancyLimit::shared_memory);
  return limit;
}

}  // namespace stepscope::derive
