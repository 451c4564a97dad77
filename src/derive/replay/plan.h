// What a rank did, as a list of nodes in recorded order, each with its dependencies: the input of replay.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/replay/handoffs.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

struct ReplayPlan {
  static constexpr std::int32_t kNone = -1;
  static constexpr timeline::Time kMaxGap = 20'000;

  /// A kernel, copy or fill. It starts `latency` after all of: the host's request, the end of the previous
  /// event on its stream, and the ends of the events on other streams that it waits for.
  struct Event {
    trace::Row row;
    std::int32_t call = kNone;    ///< the call that launched it; kNone: not in the file
    std::int32_t before = kNone;  ///< the earlier event on its stream that ended last
    std::int32_t wait = kNone;   ///< index of its first entry in `waits`; they end at the next event's `wait`
    timeline::Time asked = 0;    ///< recorded time of the host's request
    timeline::Time latency = 0;  ///< from the last condition to its start, ns; ≤ 20 µs with a recorded call
    std::uint32_t stretch = 0;   ///< the stretch in which its call launched it
    bool on_idle = false;  ///< its stream was idle at the request, so `latency` is that of a full launch
  };
  struct Wait {
    std::int32_t event, on;
  };
  /// A call that launched device work or waited for device work.
  struct Call {
    trace::Row row;
    Waiting waiting = Waiting::no;
    std::int32_t until = kNone;   ///< the event whose end let it return
    bool until_start = false;     ///< the event's start, not its end, let it return: the queue had room
    timeline::Time epilogue = 0;  ///< from that time, or from the call's start if later, to its return
    std::uint32_t stretch = 0;    ///< for a waiting call: the stretch that begins at its return
  };
  /// A host time to find again in the replay: the same instant of the thread's work.
  struct Mark {
    trace::TrackId thread;
    timeline::Time time;
  };
  struct Node {
    enum class Kind : std::uint8_t { event, returns, handoff, mark };
    timeline::Time time;
    Kind kind;
    std::uint32_t index;
  };

  Column<Event> events;               ///< by start
  Column<timeline::Time> start, end;  ///< by event, as recorded
  timeline::Time gap = kMaxGap;       ///< median latency of events that were queued after another event, ns
  Column<Wait> waits;                 ///< by event
  Column<Call> calls;
  std::vector<Handoff> handoffs;
  /// The thread of each stretch. A stretch is a thread's work from one wait to the next, which moves as a
  /// whole. First each track's stretch until its first wait, then the stretches that waiting calls and
  /// handoffs begin.
  Column<trace::TrackId> stretches;
  std::uint32_t first_of_handoffs = 0;  ///< index of the first stretch that a handoff begins
  std::vector<Mark> marks;
  Column<Node> nodes;  ///< by recorded time
};

/// `waits`: by row; `marks`: host times to follow. O(n log n) in calls and device events.
///
/// Waits on another stream come from the recording if it has them. Else an event waited if it starts over
/// 20 µs after both its request and the end of the previous event on its stream. It waited for an event of
/// another stream that was launched earlier: one that is in the last 2 % of its length, else the one that
/// ended last, at most 50 µs before. A waiting call returned because of its own copy; else because of its
/// thread's newest event, if that ended at most 50 µs before the return; else because of the event that ended
/// last among those launched before the call. A launch that waited for room returned because of the event
/// that started last, at most 50 µs before the return, preferably on its own stream.
///
/// Empty for a rank that was recorded for over 11 days: its times are damaged.
ReplayPlan replay_plan(const trace::Trace& trace, const trace::Rank& rank, const std::vector<Waiting>& waits,
                       std::vector<ReplayPlan::Mark> marks);

}  // namespace stepscope::derive
