// What was allocated while a recording was on, from when to when, and what it was for: as far as that follows
// from where it was allocated and how long it lived.
#pragma once

#include <cstdint>
#include <vector>

#include "record/recording.h"

namespace stepscope::record {

/// By the numbers of torch.profiler's memory timelines. Which memory is a parameter's is not recorded.
enum class MemoryUse : std::int64_t {
  parameter = 0,
  optimizer_state = 1,  ///< allocated in an optimizer's step, and there behind it
  input = 2,            ///< allocated by a data loader
  temporary = 3,        ///< freed before the outermost op ended in which it was allocated
  activation = 4,       ///< allocated by an op of the forward pass, and there behind it
  gradient = 5,         ///< allocated in a backward pass, and there behind it
  autograd_detail = 6,  ///< allocated in a backward pass and freed in it
  unknown = 7           ///< outside of ops, before the recording, or kept over two steps of an optimizer
};

/// Per block, in the order of allocation. Times are ns since 1970.
struct MemoryBlocks {
  std::vector<std::int64_t> begin_ns, end_ns;  ///< -1: before the recording; not freed in it
  std::vector<std::int64_t> address, bytes;
  std::vector<std::int64_t> device_type, device_index;
  std::vector<std::int64_t> use;  ///< of MemoryUse
};

MemoryBlocks memory_blocks(const Recording& recording);

}  // namespace stepscope::record
