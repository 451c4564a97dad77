// How far the host was ahead of the device: every device event with the call that launched it.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// One entry per device event with a recorded launch, by launch start, then by device start.
struct LaunchQueue {
  Column<trace::Row> event;   ///< kernel, copy or fill
  Column<trace::Row> launch;  ///< the runtime call
  /// ns from the launch's end to the event's start, at least 0. For a graph launch, from the launch's start:
  /// its kernels run while it is still launching.
  Column<std::int64_t> delay;
  /// Launches on the event's stream that had been called but had not started when this launch was called,
  /// including this one. The events of one graph launch count once.
  Column<std::int32_t> depth;
  /// ns that the call itself waited for the device, 0 if it did not wait: the full duration of a blocking
  /// call, of a copy call over 50 µs that waited for its copy (stayed_for_copy), or of a launch over 10 × the
  /// median while at least 900 launches were queued (the hardware queue holds about 1,024). For a call with
  /// several events, each event has the value.
  Column<std::int64_t> blocked;
  std::size_t size() const { return event.size(); }
};

/// True if a copy's call returned after at least half of the copy was done, so the call waited for the copy.
/// A call that copies from pageable memory returns when its last piece is staged, 40 to 90 µs before the copy
/// ends.
bool stayed_for_copy(const trace::EventTable& events, trace::Row call, trace::Row copy);

/// ns. An unloaded launch starts within 2 to 5 µs; work queued after other work starts later than this.
inline constexpr std::int64_t kPromptDelay = 10'000;
/// By row: device events that started within kPromptDelay of their launch, so nothing was queued before them.
std::vector<bool> prompt_events(const LaunchQueue& queue, std::size_t rows);

/// O(n log n) in device events.
LaunchQueue launch_queue(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
