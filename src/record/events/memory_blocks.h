// Memory blocks of a recording: when each was allocated and freed, and its use, inferred from where it was
// allocated and how long it lived.
#pragma once

#include <cstdint>
#include <vector>

#include "record/recording.h"

namespace stepscope::record {

/// Numbered as in torch.profiler's memory timelines. `parameter` is not used: it is not recorded which blocks
/// are parameters.
enum class MemoryUse : std::int64_t {
  parameter = 0,
  optimizer_state = 1,  ///< allocated in an optimizer's step, still alive after it
  input = 2,            ///< allocated by a data loader
  temporary = 3,        ///< freed before the end of the outermost op around its allocation
  activation = 4,       ///< allocated by an op of the forward pass, still alive after it
  gradient = 5,         ///< allocated in a backward pass, still alive after it
  autograd_detail = 6,  ///< allocated in a backward pass and freed in it
  unknown = 7  ///< allocated outside ops or before the recording, or lived through two optimizer steps
};

/// Per block, in the order of allocation. Times are ns since 1970.
struct MemoryBlocks {
  std::vector<std::int64_t> begin_ns, end_ns;  ///< begin -1: before the recording; end -1: not freed in it
  std::vector<std::int64_t> address, bytes;
  std::vector<std::int64_t> device_type, device_index;
  std::vector<std::int64_t> use;  ///< a MemoryUse
};

MemoryBlocks memory_blocks(const Recording& recording);

}  // namespace stepscope::record
