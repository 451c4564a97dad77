#include "derive/replay.h"

#include <algorithm>
#include <limits>

#include "derive/host_scale.h"

namespace stepscope::derive {
namespace {

using timeline::Time;
using trace::EventTable;
using trace::TrackId;
using Thing = ReplayPlan::Thing;

constexpr Time kNotYet = std::numeric_limits<Time>::min();

class Walk {
 public:
  Walk(const trace::Rank& rank, const ReplayPlan& plan, const Changes& changes)
      : e_(rank.events),
        plan_(plan),
        changes_(changes),
        scale_(rank, changes.host),
        shift_(rank.tracks.size()),
        call_shift_(plan.calls.size(), kNotYet) {
    out_.start.reserve(plan.events.size());
    out_.end.reserve(plan.events.size());
    for (const ReplayPlan::Event& event : plan.events) {
      out_.start.push_back(e_.start[event.row]);
      out_.end.push_back(e_.end[event.row]);
    }
    for (const ReplayPlan::Mark& mark : plan.marks) out_.marks.push_back(mark.time);
  }

  Replayed run() {
    for (const Thing& thing : plan_.things) {
      switch (thing.kind) {
        case Thing::Kind::launch: {
          const trace::Row row = plan_.calls[thing.index].row;
          call_shift_[thing.index] = shift_[e_.track[row]];
          break;
        }
        case Thing::Kind::event:
          start(thing.index);
          break;
        case Thing::Kind::returns:
          come_back(thing.index);
          break;
        case Thing::Kind::handoff:
          hand_over(plan_.handoffs[thing.index]);
          break;
        case Thing::Kind::mark:
          out_.marks[thing.index] = clock(plan_.marks[thing.index].thread, plan_.marks[thing.index].time);
          break;
      }
    }
    return std::move(out_);
  }

 private:
  /// When the thread is where it was at `time`.
  Time clock(TrackId thread, Time time) { return time - scale_.saved_before(thread, time) + shift_[thread]; }
  void set_clock(TrackId thread, Time recorded, Time now) {
    shift_[thread] =
        std::clamp(now - (recorded - scale_.saved_before(thread, recorded)), -kFarthest, kFarthest);
  }

  /// The new end of `on`, or as much earlier as the event was recorded to start before it.
  Time after(std::int32_t on, Time recorded_start) const {
    const auto i = static_cast<std::size_t>(on);
    return out_.end[i] + std::min<Time>(0, recorded_start - e_.end[plan_.events[i].row]);
  }

  void start(std::size_t index) {
    const ReplayPlan::Event& event = plan_.events[index];
    const Time recorded = e_.start[event.row];
    const double starts = changes_.starts.empty() ? 1 : changes_.starts[index];
    const Time latency = scaled(event.latency, starts);
    Time ready = event.asked, follows = kNotYet;
    if (event.call != ReplayPlan::kNone) {
      const auto call = static_cast<std::size_t>(event.call);
      const TrackId thread = e_.track[plan_.calls[call].row];
      ready = event.asked - scale_.saved_before(thread, event.asked) +
              (call_shift_[call] == kNotYet ? shift_[thread] : call_shift_[call]);
      ready += std::min<Time>(0, recorded - event.asked);
    }
    if (event.before != ReplayPlan::kNone) follows = after(event.before, recorded);
    const std::size_t last = index + 1 < plan_.events.size()
                                 ? static_cast<std::size_t>(plan_.events[index + 1].wait)
                                 : plan_.waits.size();
    for (auto w = static_cast<std::size_t>(event.wait); w < last; ++w)
      follows = std::max(follows, after(plan_.waits[w].on, recorded));
    const double factor = changes_.device.empty() ? 1 : changes_.device[index];
    Time start = std::max(ready, follows) + latency;
    // The way of a launch passes beside queued work; between that and the event lies the usual gap.
    if (event.on_idle && follows > ready)
      start = std::max(ready + latency, follows + std::min(latency, scaled(plan_.gap, starts)));
    out_.start[index] = std::clamp(start, recorded - kFarthest, recorded + kFarthest);
    out_.end[index] = out_.start[index] + scaled(e_.duration(event.row), factor);
  }

  void come_back(std::size_t index) {
    const ReplayPlan::Call& call = plan_.calls[index];
    const TrackId thread = e_.track[call.row];
    const Time began = clock(thread, e_.start[call.row]);
    const double factor = scale_.factor_at(thread, e_.start[call.row]);
    Time back = began;
    if (factor > 0) {
      if (call.until != ReplayPlan::kNone)
        back = std::max(began,
                        out_.end[static_cast<std::size_t>(call.until)] + std::min<Time>(0, call.epilogue));
      back += scaled(std::max<Time>(0, call.epilogue), factor);
      if (call.waiting == Waiting::work && changes_.waits != 1)
        back = began + scaled(back - began, changes_.waits);
    }
    set_clock(thread, e_.end[call.row], back);
    if (call.waiting == Waiting::queue) call_shift_[index] = shift_[thread];
  }

  void hand_over(const Handoff& handoff) {
    const Time released = clock(handoff.from, handoff.released) + (handoff.resumed - handoff.released);
    set_clock(handoff.thread, handoff.resumed, std::max(clock(handoff.thread, handoff.quiet), released));
  }

  const EventTable& e_;
  const ReplayPlan& plan_;
  const Changes& changes_;
  HostScale scale_;
  std::vector<Time> shift_;       // by track: what its waits gained or lost, besides scaled work
  std::vector<Time> call_shift_;  // by call: its thread's shift when it launched
  Replayed out_;
};

}  // namespace

Replayed replay(const trace::Rank& rank, const ReplayPlan& plan, const Changes& changes) {
  if (!plan.things.empty()) return Walk(rank, plan, changes).run();
  Replayed nothing;
  for (const ReplayPlan::Mark& mark : plan.marks) nothing.marks.push_back(mark.time);
  return nothing;
}

}  // namespace stepscope::derive
