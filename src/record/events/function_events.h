// A recording as torch.profiler's function events: ops and ranges of all threads as columns, nested, each
// with its own time and memory.
//
// Nesting is by thread, of events that end on the thread they began on: one that begins before another ends
// and ends no later is inside. Of a parent and its only child of the same name one event is left. Memory is
// that of all threads between an event's two ends. Calls of Python functions are no events but the stack of
// what runs in them.
//
// Calls of CUDA are events of their threads. Kernels, copies, fills and the ranges of streams are events of
// their device, which nest in nothing; an op has the time of what it started, as its launches say.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/recording.h"
#include "record/text/inputs_text.h"

namespace stepscope::record {

struct FunctionEvents {
  // Per event, by begin, longest first; recordings one after the other.
  std::vector<std::int64_t> begin_ns, end_ns;        ///< from the begin of its recording
  std::vector<std::int64_t> self_ns;                 ///< without its children; 0 of asynchronous ones
  std::vector<std::int64_t> parent;                  ///< -1: none
  std::vector<std::int64_t> name, trace_name;        ///< of `texts`; in `name` all steps are ProfilerStep*
  std::vector<std::int64_t> overload;                ///< of `texts`; -1: none, or none was recorded
  std::vector<std::int64_t> inputs, stack;           ///< of `inputs_told`, `stacks`; 0: none
  std::vector<std::int64_t> thread, forward_thread;  ///< PyTorch's numbers; the kernel's where it has none
  std::vector<std::int64_t> sequence, scope, is_async;
  std::vector<std::int64_t> cpu_bytes, device_bytes, self_cpu_bytes, self_device_bytes;
  std::vector<std::int64_t> device, stream;             ///< -1: on the host; no stream
  std::vector<std::int64_t> launcher;                   ///< of work: the op that started it, -1: none
  std::vector<std::int64_t> device_ns, self_device_ns;  ///< of an op: of what it and its children started
  bool has_devices = false;

  std::vector<std::string> texts;
  std::vector<InputTexts> inputs_told;
  std::vector<std::vector<std::int64_t>> stacks;  ///< of `texts`, innermost first

  std::size_t size() const { return begin_ns.size(); }
};

/// Sums of what a file says wrap round rather than overflow.
inline std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t difference_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

FunctionEvents function_events(std::span<const Recording* const> recordings);

}  // namespace stepscope::record
