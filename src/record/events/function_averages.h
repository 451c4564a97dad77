// Function events summed by name, and by shapes, stack or overload on request: torch.profiler's key_averages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/events/function_events.h"

namespace stepscope::record {

struct Grouping {
  bool by_shapes = false;
  std::int64_t stack_depth = 0;  ///< group by that many innermost entries of the stack; 0: not by stack
  bool by_overload = false;
};

/// One entry per group, in order of its first event.
struct FunctionAverages {
  std::vector<std::int64_t> first;  ///< index of the first event
  std::vector<std::int64_t> count, total_ns, self_ns;
  std::vector<std::int64_t> device_ns, self_device_ns;
  std::vector<std::int64_t> cpu_bytes, device_bytes, self_cpu_bytes, self_device_bytes, flops;
};

/// `flops`: per event, or empty. A user range and an op of the same name are separate groups; so are host and
/// device events.
FunctionAverages function_averages(const FunctionEvents& events, std::span<const std::int64_t> flops,
                                   Grouping grouping);

}  // namespace stepscope::record
