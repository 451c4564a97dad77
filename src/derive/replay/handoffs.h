// Which thread waited for which: autograd's thread starts when the main thread stops, and vice versa.
#pragma once

#include <vector>

#include "derive/idle/waiting_calls.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// `thread` had recorded nothing since `quiet` and resumed at `resumed`, because `from` stopped at
/// `released`.
struct Handoff {
  trace::TrackId thread, from;
  timeline::Time quiet, released, resumed;
};

/// Handoffs among `threads`, by time. A thread is quiet if no range begins or ends on it for 20 µs; calls
/// that wait for the device do not count as quiet. It was released by the thread that became quiet last, if
/// that happened after it became quiet itself and still holds when it resumes. Without such a thread, a side
/// thread that was quiet for 1 ms was released by `main`, if `main` works then. O(n).
std::vector<Handoff> handoffs(const trace::Rank& rank, const std::vector<trace::TrackId>& threads,
                              trace::TrackId main, const std::vector<Waiting>& waits);

}  // namespace stepscope::derive
