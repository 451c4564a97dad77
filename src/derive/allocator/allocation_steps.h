// Where the steps of a memory snapshot begin: ranges that the program marked say it, or the steps of a
// recording of the same process. Without either, the rhythm in which the same stacks allocate is taken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "derive/allocator/allocator_replay.h"
#include "trace/trace.h"

namespace stepscope::derive {

enum class StepsFrom : std::uint8_t {
  none,       ///< no steps were found
  marks,      ///< ranges of the program: ProfilerStep#N, else the optimizer's steps
  recording,  ///< steps of the rank's recording, which cover most of the events
  rhythm,     ///< a stack that allocates once per step, as most stacks do
};

struct AllocationSteps {
  StepsFrom from = StepsFrom::none;
  std::vector<std::uint32_t> begins;       ///< events, rising
  trace::StackId stack = trace::kNoStack;  ///< of `rhythm`: the stack whose allocations begin steps
};

/// `rank` has the snapshot that `replay` replays a device of.
AllocationSteps allocation_steps(const trace::Trace& trace, const trace::Rank& rank,
                                 const AllocatorReplay& replay);

}  // namespace stepscope::derive
