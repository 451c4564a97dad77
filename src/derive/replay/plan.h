// What a rank did as a list of things in recorded order, each with what it depended on: the input of replay.
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

  /// A kernel, copy or fill. It starts when it is asked for, what came before it on its stream has ended and
  /// what it waits for on other streams has, plus its latency.
  struct Event {
    trace::Row row;
    std::int32_t call = kNone;    ///< that launched it; none: the call is not in the file
    std::int32_t before = kNone;  ///< the event on its stream that ended last before it
    std::int32_t wait = kNone;    ///< first of its entries in `waits`, which end where another event's begin
    timeline::Time asked = 0;     ///< recorded time at which the host had asked for it
    timeline::Time latency = 0;   ///< from then to its start, ns; at most 20 µs when the call is recorded
    std::uint32_t stretch = 0;    ///< in which its call launched it
    bool on_idle = false;         ///< what it follows had ended when it was asked for: a launch's whole way
  };
  struct Wait {
    std::int32_t event, on;
  };
  /// A call that launched device work or waited for some.
  struct Call {
    trace::Row row;
    Waiting waiting = Waiting::no;
    std::int32_t until = kNone;   ///< the event whose end let it return
    bool until_start = false;     ///< its start did: that made room in the launch queue
    timeline::Time epilogue = 0;  ///< from then, or from the call's start if later, to its return
    std::uint32_t stretch = 0;    ///< of one that waits: which it begins by returning
  };
  /// A host time that is asked for: the same instant of the thread's work in the replay.
  struct Mark {
    trace::TrackId thread;
    timeline::Time time;
  };
  struct Thing {
    enum class Kind : std::uint8_t { event, returns, handoff, mark };
    timeline::Time time;
    Kind kind;
    std::uint32_t index;
  };

  Column<Event> events;               ///< by start
  Column<timeline::Time> start, end;  ///< of the events, as recorded
  timeline::Time gap = kMaxGap;       ///< median latency of events that were queued behind another one, ns
  Column<Wait> waits;                 ///< by event
  Column<Call> calls;
  std::vector<Handoff> handoffs;
  /// The thread of each stretch: what a thread does from one wait to the next, where all it does is late or
  /// early by the same. First each track's until its first wait, then those that waiting calls and handoffs
  /// begin.
  Column<trace::TrackId> stretches;
  std::uint32_t first_of_handoffs = 0;  ///< stretch
  std::vector<Mark> marks;
  Column<Thing> things;  ///< by recorded time
};

/// `waits`: by row; `marks`: host times to follow. O(n log n) in calls and device events.
///
/// Waits on another stream are taken from the recording where it has them. Else an event that starts over 20
/// µs after both its request and the end of what came before it on its stream is taken to wait for an event
/// of another stream that was launched earlier: one that is in the last 2 % of its length, else the one that
/// ended last, at most 50 µs before. A call that waits returned because of its own copy; else of the newest
/// event of its thread, if that ended at most 50 µs before the return; else of the event that ended last,
/// among those launched before the call. A launch that waited for room returned because of the event that
/// started last, at most 50 µs before the return, one of its own stream if there is one.
///
/// Empty for a rank that was recorded for over 11 days: its times are damaged.
ReplayPlan replay_plan(const trace::Trace& trace, const trace::Rank& rank, const std::vector<Waiting>& waits,
                       std::vector<ReplayPlan::Mark> marks);

}  // namespace stepscope::derive
