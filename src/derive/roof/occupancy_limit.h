// What limits the number of a kernel's blocks that run on one multiprocessor at the same time.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace stepscope::derive {

struct BlockNeeds {
  std::int64_t threads = 0, registers = 0, shared_memory = 0;  ///< registers per thread; bytes per block
};

enum class OccupancyLimit : std::uint8_t { unknown, registers, shared_memory, block_size };
/// "registers"; "" for unknown.
std::string_view name_of(OccupancyLimit limit);

/// The resource that allows the fewest blocks; unknown when nothing is recorded. Limits are NVIDIA's by
/// compute capability (CUDA C++ Programming Guide, table of technical specifications); unknown for other
/// vendors.
OccupancyLimit occupancy_limit(const BlockNeeds& block, const trace::Device& device);

}  // namespace stepscope::derive
