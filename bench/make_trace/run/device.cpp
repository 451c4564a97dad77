#include "make_trace/run/device.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace stepscope::make_trace {
namespace {

constexpr std::int64_t kEventLatency = 1000;  // from the end of the awaited work to the start after the event

}  // namespace

Device::Device(const Hardware& hw, Collectives& collectives, int rank, int streams)
    : hw_(hw), collectives_(collectives), rank_(rank), streams_(static_cast<std::size_t>(streams)) {}

std::size_t Device::submit(Activity activity) {
  Stream& stream = streams_[static_cast<std::size_t>(activity.stream)];
  activity.after = std::exchange(stream.waits, {});
  activities_.push_back(std::move(activity));
  const std::size_t index = activities_.size() - 1;
  stream.pending.push_back(index);
  stream.newest = index;
  return index;
}

Device::Event& Device::event(std::uint32_t slot) {
  if (events_.size() <= slot) events_.resize(slot + 1);
  return events_[slot];
}

void Device::record_event(std::uint32_t slot, int stream) {
  const Stream& s = streams_[static_cast<std::size_t>(stream)];
  event(slot) = {s.newest, s.last_end};
}

void Device::wait_event(std::uint32_t slot, int stream) {
  Stream& s = streams_[static_cast<std::size_t>(stream)];
  const Event& e = event(slot);
  if (e.activity) {
    s.waits.push_back(*e.activity);
  } else {
    s.floor = std::max(s.floor, e.end + kEventLatency);
  }
}

bool Device::settle_head(Stream& stream) {
  Activity& a = activities_[stream.pending.front()];
  if (a.start == kUnknown) {
    std::int64_t start = std::max(a.ready, stream.floor);
    if (stream.last_end > 0) start = std::max(start, stream.last_end + hw_.stream_gap_ns);
    for (const std::size_t other : a.after) {
      if (activities_[other].end == kUnknown) return false;
      start = std::max(start, activities_[other].end + kEventLatency);
    }
    a.start = start;
  }
  if (a.meeting >= 0) {
    const auto k = static_cast<std::size_t>(a.meeting);
    collectives_.arrive(k, rank_, a.start);
    if (!collectives_.meeting(k).complete()) return false;
    a.end = collectives_.left(k, rank_);
  } else {
    a.end = a.start + a.duration;
  }
  stream.last_end = a.end;
  stream.pending.pop_front();
  return true;
}

void Device::settle() {
  for (bool progress = true; progress;) {
    progress = false;
    for (Stream& stream : streams_) {
      while (!stream.pending.empty() && settle_head(stream)) progress = true;
    }
  }
}

std::int64_t Device::end_of(std::size_t activity) {
  if (activities_[activity].end == kUnknown) settle();
  return activities_[activity].end;
}

std::int64_t Device::idle_from(int stream) {
  settle();
  std::int64_t end = 0;
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (stream >= 0 && static_cast<std::size_t>(stream) != s) continue;
    if (!streams_[s].pending.empty()) return kUnknown;
    end = std::max(end, streams_[s].last_end);
  }
  return end;
}

std::int64_t Device::accepts_from() {
  const auto limit = static_cast<std::size_t>(hw_.queue_limit);
  if (activities_.size() >= limit) {
    const Activity& blocker = activities_[activities_.size() - limit];
    if (blocker.start == kUnknown) settle();
    return blocker.start;
  }
  const std::size_t back = limit - activities_.size();
  return past_starts_.size() >= back ? past_starts_[past_starts_.size() - back] : 0;
}

void Device::next_step() {
  for (Stream& stream : streams_) {
    if (!stream.pending.empty()) throw std::logic_error("a step ended with unknown device times");
    for (const std::size_t wait : std::exchange(stream.waits, {})) {
      stream.floor = std::max(stream.floor, activities_[wait].end + kEventLatency);
    }
    stream.newest.reset();
  }
  for (Event& e : events_) {
    if (e.activity) e = {std::nullopt, activities_[*e.activity].end};
  }
  const auto limit = static_cast<std::size_t>(hw_.queue_limit);
  const std::size_t kept = std::min(activities_.size(), limit);
  for (std::size_t i = activities_.size() - kept; i < activities_.size(); ++i) {
    past_starts_.push_back(activities_[i].start);
  }
  if (past_starts_.size() > limit) {
    past_starts_.erase(past_starts_.begin(),
                       past_starts_.begin() + static_cast<std::ptrdiff_t>(past_starts_.size() - limit));
  }
  activities_.clear();
}

}  // namespace stepscope::make_trace
