#include "derive/replay/waits.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "derive/replay/recorded_waits.h"

namespace stepscope::derive {
namespace {

using timeline::Time;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

// All in ns, as seen on the recorded traces. A launch that finds the device free starts within 2 to 20 µs. A
// stream that waited for another continues 5 to 50 µs after the end that it waited for. A kernel that fills
// the device has a tail of up to 2 % of its length in which blocks of the next kernel find room.
constexpr Time kMaxLatency = 20'000;
constexpr Time kShortlyBefore = 50'000;
constexpr Time kMaxTail = 100'000;
constexpr Time kTailShare = 50;     // 1/50 of the length
constexpr Time kEpilogue = 50'000;  // a waiting call returns within this time of the event that it waited for
constexpr Time kClockError = 5'000;  // between host and device
constexpr int kMaxLooked = 64;       // max events looked at in one search

class Waits {
 public:
  Waits(const trace::Trace& trace, const Rank& rank, ReplayPlan& plan)
      : e_(rank.events), plan_(plan), by_end_(plan.events.size()) {
    for (std::size_t i = 0; i < by_end_.size(); ++i) by_end_[i] = static_cast<std::int32_t>(i);
    std::sort(by_end_.begin(), by_end_.end(),
              [&](std::int32_t a, std::int32_t b) { return std::tuple(end(a), a) < std::tuple(end(b), b); });
    recorded_ = recorded_waits(trace, rank, plan);
  }

  void events() {
    auto recorded = recorded_.events.begin();
    for (std::size_t i = 0; i < plan_.events.size(); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      ReplayPlan::Event& event = plan_.events[i];
      event.wait = static_cast<std::int32_t>(plan_.waits.size());
      for (; recorded != recorded_.events.end() && recorded->event == index; ++recorded)
        plan_.waits.push_back(*recorded);
      settle(index, event);
    }
    settle_gap();
  }

  void returns() {
    std::vector<std::int32_t> own(plan_.calls.size(), ReplayPlan::kNone);
    for (std::size_t i = 0; i < plan_.events.size(); ++i) {
      if (plan_.events[i].call == ReplayPlan::kNone) continue;
      std::int32_t& last = own[static_cast<std::size_t>(plan_.events[i].call)];
      if (last == ReplayPlan::kNone || end(last) <= e_.end[plan_.events[i].row])
        last = static_cast<std::int32_t>(i);
    }
    std::int32_t newest = ReplayPlan::kNone;  // launched by the call's thread before it
    for (std::size_t i = 0; i < plan_.calls.size(); ++i) {
      ReplayPlan::Call& call = plan_.calls[i];
      if (i > 0 && e_.track[call.row] != e_.track[plan_.calls[i - 1].row]) newest = ReplayPlan::kNone;
      if (call.waiting != Waiting::no) settle(call, recorded_.calls[i], own[i], newest);
      if (own[i] != ReplayPlan::kNone) newest = own[i];
    }
  }

 private:
  Row row(std::int32_t event) const { return plan_.events[static_cast<std::size_t>(event)].row; }
  Time start(std::int32_t event) const { return e_.start[row(event)]; }
  Time end(std::int32_t event) const { return e_.end[row(event)]; }
  /// Start of its launch; before all times if the launch is not in the file.
  Time launched(std::int32_t event) const {
    const Row launch = e_.launch[row(event)];
    return launch == kNoRow ? std::numeric_limits<Time>::min() : e_.start[launch];
  }

  /// Fills when the event was requested, what else it waited for, and its latency after that.
  void settle(std::int32_t index, ReplayPlan::Event& event) {
    const Time start = e_.start[event.row];
    const bool linked = event.call != ReplayPlan::kNone;
    Time ready = std::numeric_limits<Time>::min();
    if (event.before != ReplayPlan::kNone) ready = end(event.before);
    for (std::size_t w = static_cast<std::size_t>(event.wait); w < plan_.waits.size(); ++w)
      ready = std::max(ready, end(plan_.waits[w].on));
    bool waiting = false;
    if (linked) {
      const ReplayPlan::Call& call = plan_.calls[static_cast<std::size_t>(event.call)];
      waiting = call.waiting == Waiting::work;
      event.asked = waiting ? e_.start[call.row] : std::clamp(start, e_.start[call.row], e_.end[call.row]);
      ready = std::max(ready, event.asked);
    } else if (ready == std::numeric_limits<Time>::min()) {
      event.asked = ready = start;  // no dependency is known, so it stays at its recorded start
    } else {
      event.asked = std::numeric_limits<Time>::min();
    }
    if (start - ready > kMaxLatency) {
      if (const std::int32_t on = ended_before(index, start); on != ReplayPlan::kNone) {
        plan_.waits.push_back({index, on});
        ready = std::max(ready, end(on));
      } else if (waiting) {  // the host was preparing the copy
        event.asked = ready = std::min(start, e_.end[plan_.calls[static_cast<std::size_t>(event.call)].row]);
      }
    }
    event.latency = std::max<Time>(0, start - ready);
    if (linked) event.latency = std::min(event.latency, kMaxLatency);
    event.on_idle = linked && !waiting && event.before != ReplayPlan::kNone && ready == event.asked;
  }
  void settle_gap() {
    std::vector<Time> gaps;
    for (const ReplayPlan::Event& event : plan_.events)
      if (event.call != ReplayPlan::kNone && event.before != ReplayPlan::kNone && !event.on_idle)
        gaps.push_back(event.latency);
    if (gaps.empty()) return;
    const auto middle = gaps.begin() + std::ssize(gaps) / 2;
    std::nth_element(gaps.begin(), middle, gaps.end());
    plan_.gap = *middle;
  }

  /// The event of another stream, launched earlier, that was about to end at `time`, else the one that ended
  /// last before it. A kernel that fills the device lets the next kernel start in its tail.
  std::int32_t ended_before(std::int32_t index, Time time) const {
    for (auto at = ended_until(time); at != by_end_.end() && end(*at) - time <= kMaxTail; ++at)
      if (could_hold(*at, index) && end(*at) - time <= e_.duration(row(*at)) / kTailShare) return *at;
    auto at = ended_until(time);
    for (int looked = 0; at != by_end_.begin() && looked < kMaxLooked; ++looked) {
      const std::int32_t other = *--at;
      if (end(other) < time - kShortlyBefore) break;
      if (could_hold(other, index)) return other;
    }
    return ReplayPlan::kNone;
  }
  bool could_hold(std::int32_t other, std::int32_t index) const {
    return other < index && e_.track[row(other)] != e_.track[row(index)] &&
           launched(other) <= launched(index);
  }

  void settle(ReplayPlan::Call& call, std::int32_t stated, std::int32_t own, std::int32_t newest) const {
    if (call.waiting == Waiting::queue && stated == ReplayPlan::kNone) call.until = made_room(call, own);
    call.until_start = call.until != ReplayPlan::kNone;
    if (!call.until_start) call.until = awaited(call, stated, own, newest);
    call.epilogue = e_.end[call.row] - (call.until_start ? std::max(e_.start[call.row], start(call.until))
                                                         : known_from(call, call.until));
  }
  /// The call's start, or the end of the event if that is later.
  Time known_from(const ReplayPlan::Call& call, std::int32_t event) const {
    return event == ReplayPlan::kNone ? e_.start[call.row] : std::max(e_.start[call.row], end(event));
  }

  /// The event that left the launch queue last before the call returned.
  std::int32_t made_room(const ReplayPlan::Call& call, std::int32_t own) const {
    const Time back = e_.end[call.row];
    auto i =
        std::partition_point(plan_.events.begin(), plan_.events.end(),
                             [&](const ReplayPlan::Event& event) { return e_.start[event.row] < back; }) -
        plan_.events.begin();
    std::int32_t last = ReplayPlan::kNone;
    for (int looked = 0; i > 0 && looked < kMaxLooked; ++looked) {
      const auto event = static_cast<std::int32_t>(--i);
      if (start(event) < back - kEpilogue) break;
      if (launched(event) >= e_.start[call.row]) continue;
      if (own == ReplayPlan::kNone || e_.track[row(event)] == e_.track[row(own)]) return event;
      if (last == ReplayPlan::kNone) last = event;
    }
    return last;
  }

  /// The event that let the call return: the recorded one; else its own; else the newest of its thread, if
  /// that explains the return; else the one that ended last.
  std::int32_t awaited(const ReplayPlan::Call& call, std::int32_t stated, std::int32_t own,
                       std::int32_t newest) const {
    if (stated != ReplayPlan::kNone) return stated;
    if (call.waiting == Waiting::work) {
      if (own != ReplayPlan::kNone) return own;
      const Time back = e_.end[call.row];
      if (newest != ReplayPlan::kNone && end(newest) <= back + kClockError &&
          back - known_from(call, newest) <= kEpilogue)
        return newest;
    }
    return released(call, own);
  }

  /// The event that ended last before the call's return, among those launched before the call. For a launch
  /// that waited for room, only events on its own stream count.
  std::int32_t released(const ReplayPlan::Call& call, std::int32_t own) const {
    auto at = ended_until(e_.end[call.row] + kClockError);
    for (int looked = 0; at != by_end_.begin() && looked < kMaxLooked; ++looked) {
      const std::int32_t other = *--at;
      if (launched(other) >= e_.start[call.row] || e_.start[row(other)] >= e_.end[call.row]) continue;
      if (call.waiting == Waiting::queue && own != ReplayPlan::kNone &&
          e_.track[row(other)] != e_.track[row(own)])
        continue;
      return other;
    }
    return ReplayPlan::kNone;
  }

  std::vector<std::int32_t>::const_iterator ended_until(Time time) const {
    return std::upper_bound(by_end_.begin(), by_end_.end(), time,
                            [&](Time t, std::int32_t event) { return t < end(event); });
  }

  const EventTable& e_;
  ReplayPlan& plan_;
  std::vector<std::int32_t> by_end_;
  RecordedWaits recorded_;
};

}  // namespace

void find_waits(const trace::Trace& trace, const Rank& rank, ReplayPlan& plan) {
  Waits waits(trace, rank, plan);
  waits.events();
  waits.returns();
}

}  // namespace stepscope::derive
