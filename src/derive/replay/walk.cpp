#include "derive/replay/walk.h"

#include <algorithm>
#include <limits>
#include <span>

namespace stepscope::derive {
namespace {

using timeline::Time;
using trace::TrackId;
using Node = ReplayPlan::Node;

constexpr Time kNotYet = std::numeric_limits<Time>::min();

}  // namespace

ReplayWalk::ReplayWalk(const trace::Rank& rank, const ReplayPlan& plan, const Changes& changes, double pace,
                       Gathering* gathering, std::uint32_t index)
    : e_(rank.events),
      plan_(plan),
      changes_(changes),
      gathering_(gathering),
      index_(index),
      scale_(rank, std::span(changes.host.data(), plan.nodes.empty() ? 0 : changes.host.size()), pace),
      shift_(rank.tracks.size()),
      stretch_shift_(plan.stretches.size(), kNotYet),
      out_{plan.start, plan.end, {}} {
  for (const ReplayPlan::Mark& mark : plan.marks) out_.marks.push_back(mark.time);
  std::fill_n(stretch_shift_.begin(), std::min(stretch_shift_.size(), shift_.size()), 0);
}

bool ReplayWalk::run() {
  for (; next_ < plan_.nodes.size(); ++next_) {
    const Node& node = plan_.nodes[next_];
    if (gathering_ != nullptr && !can_do(node)) return false;
    act(node);
  }
  return true;
}

Replayed ReplayWalk::take() {
  for (std::size_t i = 0; i < out_.end.size(); ++i)
    if (out_.end[i] == kNotYet) end(i);
  return std::move(out_);
}

void ReplayWalk::act(const Node& node) {
  switch (node.kind) {
    case Node::Kind::event:
      start(node.index);
      break;
    case Node::Kind::returns:
      come_back(node.index);
      break;
    case Node::Kind::handoff:
      hand_over(node.index);
      break;
    case Node::Kind::mark:
      out_.marks[node.index] = clock(plan_.marks[node.index].thread, plan_.marks[node.index].time);
      break;
  }
}

/// True if the ends of everything that the node waits for are known. Does not depend on the changes.
bool ReplayWalk::can_do(const Node& node) {
  if (node.kind == Node::Kind::returns) {
    const ReplayPlan::Call& call = plan_.calls[node.index];
    return call.until_start || has_end(call.until);
  }
  if (node.kind != Node::Kind::event) return true;
  const ReplayPlan::Event& event = plan_.events[node.index];
  if (!has_end(event.before)) return false;
  for (auto w = static_cast<std::size_t>(event.wait); w < waits_end(node.index); ++w)
    if (!has_end(plan_.waits[w].on)) return false;
  return true;
}

bool ReplayWalk::has_end(std::int32_t event) {
  if (event == ReplayPlan::kNone || out_.end[static_cast<std::size_t>(event)] != kNotYet) return true;
  const auto index = static_cast<std::size_t>(event);
  awaited_ = gathering_->meetings().members[static_cast<std::size_t>(member_of(index))].meeting;
  if (!gathering_->over(awaited_)) return false;
  end(index);
  return true;
}

/// Fills the end of an event whose meeting is over.
void ReplayWalk::end(std::size_t index) {
  const Time start = out_.start[index];
  out_.end[index] = start + gathering_->length(static_cast<std::uint32_t>(member_of(index)),
                                               start - plan_.start[index], factor_of(index));
}

std::size_t ReplayWalk::waits_end(std::size_t event) const {
  return event + 1 < plan_.events.size() ? static_cast<std::size_t>(plan_.events[event + 1].wait)
                                         : plan_.waits.size();
}

/// The replayed time at which the thread reaches the point of its work that was recorded at `time`.
Time ReplayWalk::clock(TrackId thread, Time time) {
  return time - scale_.saved_before(thread, time) + shift_[thread];
}
void ReplayWalk::set_clock(TrackId thread, Time recorded, Time now) {
  shift_[thread] =
      std::clamp(now - (recorded - scale_.saved_before(thread, recorded)), -kFarthest, kFarthest);
}

/// The new end of `on`, minus the recorded overlap if the event started before `on` ended.
Time ReplayWalk::after(std::int32_t on, Time recorded_start) const {
  const auto i = static_cast<std::size_t>(on);
  return out_.end[i] + std::min<Time>(0, recorded_start - plan_.end[i]);
}

void ReplayWalk::start(std::size_t index) {
  const ReplayPlan::Event& event = plan_.events[index];
  const Time recorded = plan_.start[index];
  const double starts = changes_.starts.empty() ? 1 : changes_.starts[index];
  const Time latency = scaled(event.latency, starts);
  Time ready = event.asked, follows = kNotYet;
  if (event.call != ReplayPlan::kNone) {
    const TrackId thread = plan_.stretches[event.stretch];
    const Time shift = stretch_shift_[event.stretch];
    ready =
        event.asked - scale_.saved_before(thread, event.asked) + (shift == kNotYet ? shift_[thread] : shift);
    ready += std::min<Time>(0, recorded - event.asked);
  }
  if (event.before != ReplayPlan::kNone) follows = after(event.before, recorded);
  for (auto w = static_cast<std::size_t>(event.wait); w < waits_end(index); ++w)
    follows = std::max(follows, after(plan_.waits[w].on, recorded));
  Time start = std::max(ready, follows) + latency;
  // A launch's latency passes while queued work runs. Between that work and the event is the usual gap.
  if (event.on_idle && follows > ready)
    start = std::max(ready + latency, follows + std::min(latency, scaled(plan_.gap, starts)));
  out_.start[index] = std::clamp(start, recorded - kFarthest, recorded + kFarthest);
  const std::int32_t member = member_of(index);
  if (member == Meetings::kNone) {
    out_.end[index] = out_.start[index] + scaled(plan_.end[index] - recorded, factor_of(index));
    return;
  }
  out_.end[index] = kNotYet;
  const Meetings::Member& who = gathering_->meetings().members[static_cast<std::size_t>(member)];
  if (who.input != Meetings::kNone)
    out_.start[index] = std::max(out_.start[index], out_.end[static_cast<std::size_t>(who.input)]);
  if (gathering_->arrive(static_cast<std::uint32_t>(member), out_.start[index] - recorded, factor_of(index)))
    closed_.push_back(who.meeting);
}

void ReplayWalk::come_back(std::size_t index) {
  const ReplayPlan::Call& call = plan_.calls[index];
  const TrackId thread = e_.track[call.row];
  const Time began = clock(thread, e_.start[call.row]);
  const double factor = scale_.factor_at(thread, e_.start[call.row]);
  Time back = began;
  if (factor > 0) {
    if (call.until != ReplayPlan::kNone) {
      const auto& times = call.until_start ? out_.start : out_.end;
      back = std::max(began, times[static_cast<std::size_t>(call.until)] + std::min<Time>(0, call.epilogue));
    }
    back += scaled(std::max<Time>(0, call.epilogue), factor);
    if (call.waiting == Waiting::work && changes_.waits != 1)
      back = began + scaled(back - began, changes_.waits);
  }
  set_clock(thread, e_.end[call.row], back);
  stretch_shift_[call.stretch] = shift_[thread];
}

void ReplayWalk::hand_over(std::size_t index) {
  const Handoff& handoff = plan_.handoffs[index];
  const Time released = clock(handoff.from, handoff.released) + (handoff.resumed - handoff.released);
  set_clock(handoff.thread, handoff.resumed, std::max(clock(handoff.thread, handoff.quiet), released));
  stretch_shift_[plan_.first_of_handoffs + index] = shift_[handoff.thread];
}

}  // namespace stepscope::derive
