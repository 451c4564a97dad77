// How far the host was ahead of the device: every device event beside the call that launched it.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// One entry per device event with a recorded launch, by launch start, then by device start.
struct LaunchQueue {
  std::vector<trace::Row> event;   ///< kernel, copy or fill
  std::vector<trace::Row> launch;  ///< the runtime call
  /// ns from the launch's end (a graph launch's start: its kernels run while it is still launching) to the
  /// event's start; 0 when that is negative.
  std::vector<std::int64_t> delay;
  /// Launches on the event's stream that had been called and not started at this launch's start, itself
  /// included. The events of one graph launch count once.
  std::vector<std::int32_t> depth;
  /// ns the call itself waited for the device, 0 if it did not: all of a blocking call; a copy call over 50
  /// µs that stayed for its copy (below); a launch of over 10 × the median while at least 900 launches
  /// were queued (the hardware queue holds about 1,024). One call with several events has it on each.
  std::vector<std::int64_t> blocked;
  std::size_t size() const { return event.size(); }
};

/// True if a copy's call returned when at least half of the copy was done, so was bound to it. A call that
/// copies from pageable memory returns when its last piece is staged, 40 to 90 µs before the copy ends.
bool stayed_for_copy(const trace::EventTable& events, trace::Row call, trace::Row copy);

/// An unloaded launch starts in 2 to 5 µs; work that waits behind other work starts later than this, ns.
inline constexpr std::int64_t kPromptDelay = 10'000;
/// By row: device events that started within kPromptDelay of their launch, so had nothing queued before them.
std::vector<bool> prompt_events(const LaunchQueue& queue, std::size_t rows);

/// O(n log n) in device events.
LaunchQueue launch_queue(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
