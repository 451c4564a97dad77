// A recording as torch.profiler's function events: ops and ranges of all threads as columns, nested, each
// with its own time and memory.
//
// Events nest per thread, if they end on the thread they began on: an event that begins before another ends
// and ends no later is inside it. An only child with its parent's name is merged into the parent. An event's
// memory is that of all threads between its begin and end. Python calls are not events; they form the stacks
// of the events inside them.
//
// CUDA calls are events of their threads. Kernels, copies, fills and stream annotations are events of their
// device and do not nest. An op's device time is that of the work that its calls launched.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/recording.h"
#include "record/text/inputs_text.h"

namespace stepscope::record {

struct FunctionEvents {
  // Per event, sorted by begin, longest first; recordings one after the other.
  std::vector<std::int64_t> begin_ns, end_ns;  ///< from its recording's begin
  std::vector<std::int64_t> self_ns;           ///< without its children; 0 for asynchronous events
  std::vector<std::int64_t> parent;            ///< -1: none
  std::vector<std::int64_t> name, trace_name;  ///< index in `texts`; in `name` every step is "ProfilerStep*"
  std::vector<std::int64_t> overload;          ///< index in `texts`; -1: none, or not recorded
  std::vector<std::int64_t> inputs, stack;     ///< indices in `inputs_told` and `stacks`; 0: none
  std::vector<std::int64_t> thread, forward_thread;  ///< PyTorch's numbers, or else the kernel's ids
  std::vector<std::int64_t> sequence, scope, is_async;
  std::vector<std::int64_t> cpu_bytes, device_bytes, self_cpu_bytes, self_device_bytes;
  std::vector<std::int64_t> device, stream;  ///< -1: on the host, or no stream
  std::vector<std::int64_t> launcher;  ///< of device work: the event of the op that launched it; -1: none
  std::vector<std::int64_t> device_ns, self_device_ns;  ///< of an op: time of the work launched in it
  bool has_devices = false;

  std::vector<std::string> texts;
  std::vector<InputTexts> inputs_told;
  std::vector<std::vector<std::int64_t>> stacks;  ///< indices in `texts`, innermost first

  std::size_t size() const { return begin_ns.size(); }
};

/// Wraps around instead of overflowing: a damaged file may hold any numbers.
inline std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t difference_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

FunctionEvents function_events(std::span<const Recording* const> recordings);

}  // namespace stepscope::record
