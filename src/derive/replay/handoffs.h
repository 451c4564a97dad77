// Which thread waited for which: autograd's thread starts where the main thread stopped, and the other way
// round.
#pragma once

#include <vector>

#include "derive/idle/waiting_calls.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// `thread` had done nothing recorded since `quiet` and went on at `resumed`, because `from` had stopped at
/// `released`.
struct Handoff {
  trace::TrackId thread, from;
  timeline::Time quiet, released, resumed;
};

/// Of `threads`, by time. A thread is quiet when no range begins or ends on it for 20 µs, time in calls that
/// wait for the device excepted. It was released by the thread that became quiet last, after the first had,
/// and still is. Without such a thread, `main` released a side thread that was quiet for 1 ms if it works
/// then. O(n).
std::vector<Handoff> handoffs(const trace::Rank& rank, const std::vector<trace::TrackId>& threads,
                              trace::TrackId main, const std::vector<Waiting>& waits);

}  // namespace stepscope::derive
