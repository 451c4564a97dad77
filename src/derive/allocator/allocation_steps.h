// Where the steps of a memory snapshot begin. Nothing in the file says it for certain: ranges that the
// program marked do, and else the rhythm in which the same stacks allocate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "derive/allocator/allocator_replay.h"
#include "trace/trace.h"

namespace stepscope::derive {

enum class StepsFrom : std::uint8_t {
  none,    ///< no steps were found
  marks,   ///< ranges of the program: ProfilerStep#N, else the optimizer's steps
  rhythm,  ///< a stack that allocates once per step, as most stacks do
};

struct AllocationSteps {
  StepsFrom from = StepsFrom::none;
  std::vector<std::uint32_t> begins;       ///< events, rising
  trace::StackId stack = trace::kNoStack;  ///< of `rhythm`: the stack whose allocations begin steps
};

AllocationSteps allocation_steps(const trace::Trace& trace, const trace::Snapshot& snapshot,
                                 const AllocatorReplay& replay);

}  // namespace stepscope::derive
