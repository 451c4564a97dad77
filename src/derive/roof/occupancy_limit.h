// What keeps more blocks of a kernel from running on one multiprocessor at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace stepscope::derive {

struct BlockNeeds {
  std::int64_t threads = 0, registers = 0, shared_memory = 0;  ///< registers of one thread; bytes of a block
};

enum class OccupancyLimit : std::uint8_t { unknown, registers, shared_memory, block_size };
/// "registers"; "" for unknown.
std::string_view name_of(OccupancyLimit limit);

/// Whichever allows the fewest blocks; unknown when nothing is recorded. Limits of NVIDIA's devices by
/// compute capability (CUDA C++ Programming Guide, table of technical specifications); unknown for others.
OccupancyLimit occupancy_limit(const BlockNeeds& block, const trace::Device& device);

}  // namespace stepscope::derive
