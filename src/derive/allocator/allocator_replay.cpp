#include "derive/allocator/allocator_replay.h"

#include <algorithm>
#include <limits>

#include "derive/allocator/open_addresses.h"
#include "derive/allocator/saturated.h"

namespace stepscope::derive {
namespace {

using trace::AllocatorEvents;
using trace::MemoryAction;

}  // namespace

AllocatorReplay::AllocatorReplay(const trace::MemoryOfDevice& device) : device_(device) {
  match();
  find_start();
  walk();
  find_reserved();
  count_retries();
}

void AllocatorReplay::match() {
  const AllocatorEvents& events = device_.events;
  const auto has = [&](MemoryAction action) {
    return std::find(events.action.begin(), events.action.end(), action) != events.action.end();
  };
  by_request = !has(MemoryAction::free_completed) && has(MemoryAction::free_requested);
  if (by_request) ends_ = MemoryAction::free_requested;
  partner_.assign(events.count(), kNoEvent);
  OpenAddresses open;
  const auto end_of = [&](OpenAddresses::Entry& entry, std::uint32_t e) {
    partner_[entry.event] = e;
    if (entry.requested == kNoEvent) return;
    if (entry.requested + 1 != e) delayed_.push_back({entry.event, entry.requested, e});
    entry.requested = kNoEvent;
  };
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    const MemoryAction action = events.action[e];
    if (action == MemoryAction::alloc) {
      ++allocations;
      OpenAddresses::Entry& entry = open.at(events.address[e]);
      if (entry.event != kNoEvent) {
        replaced_.emplace_back(e, entry.event);
        end_of(entry, e);
        ++reused;
      }
      entry.event = e;
    } else if (action == ends_) {
      OpenAddresses::Entry& entry = open.at(events.address[e]);
      if (entry.event == kNoEvent) {
        ++unmatched_frees;
        unmatched_bytes = plus(unmatched_bytes, events.size[e]);
        before_.push_back({kNoEvent, e, events.address[e], events.size[e], trace::kNoStack});
        continue;
      }
      partner_[e] = entry.event;
      end_of(entry, e);
      entry.event = kNoEvent;
    } else if (action == MemoryAction::free_requested) {
      OpenAddresses::Entry& entry = open.at(events.address[e]);
      if (entry.event == kNoEvent || entry.requested != kNoEvent) continue;
      partner_[e] = entry.event;
      entry.requested = e;
    }
  }
  for (const OpenAddresses::Entry& entry : open.open()) {
    open_.push_back(entry.address);
    if (entry.requested != kNoEvent) delayed_.push_back({entry.event, entry.requested});
  }
  std::ranges::sort(delayed_, {}, &DelayedFree::requested);
  find_peak_pending();
}

void AllocatorReplay::find_peak_pending() {
  std::vector<std::pair<std::uint32_t, std::int64_t>> changes;  // (event, bytes)
  for (const DelayedFree& of : delayed_) {
    const std::int64_t size = device_.events.size[of.allocation];
    changes.emplace_back(of.requested, size);
    if (of.completed != kNoEvent) changes.emplace_back(of.completed, -size);
  }
  std::ranges::sort(changes);
  std::int64_t pending = 0;
  for (const auto& [event, bytes] : changes) {
    pending = plus(pending, bytes);
    peak_pending = std::max(peak_pending, pending);
  }
}

void AllocatorReplay::find_start() {
  start = unmatched_bytes;
  for (const trace::MemoryBlock& block : device_.blocks) {
    if (block.state == trace::MemoryBlock::State::inactive) continue;
    in_use = plus(in_use, block.requested);
    if (std::binary_search(open_.begin(), open_.end(), block.address)) continue;
    start = plus(start, block.requested);
    before_.push_back({kNoEvent, kNoEvent, block.address, block.requested, block.stack});
  }
}

std::uint32_t AllocatorReplay::ended_by(std::uint32_t event) const {
  if (device_.events.action[event] == ends_) return partner_[event];
  if (device_.events.action[event] != MemoryAction::alloc || replaced_.empty()) return kNoEvent;
  const auto implied =
      std::lower_bound(replaced_.begin(), replaced_.end(), std::pair(event, std::uint32_t{0}));
  return implied != replaced_.end() && implied->first == event ? implied->second : kNoEvent;
}

std::int64_t AllocatorReplay::change(std::uint32_t event) const {
  const AllocatorEvents& events = device_.events;
  const std::uint32_t ended = ended_by(event);
  const std::int64_t freed = ended == kNoEvent ? 0 : events.size[ended];
  if (events.action[event] == MemoryAction::alloc) return events.size[event] - freed;
  if (events.action[event] != ends_) return 0;
  return ended == kNoEvent ? -events.size[event] : -freed;
}

/// Levels, the peak, and checkpoints so far apart that they hold no more than the events do.
void AllocatorReplay::walk() {
  constexpr std::size_t kApart = 4096;
  const AllocatorEvents& events = device_.events;
  std::int64_t now = peak = start;
  std::vector<std::uint32_t> alive;
  std::size_t next = kApart;
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    if (events.action[e] == MemoryAction::alloc) alive.push_back(e);
    now = plus(now, change(e));
    if (now > peak) {
      peak = now;
      peak_event = e;
    }
    if (e + 1 < next) continue;
    std::erase_if(alive, [&](std::uint32_t of) { return partner_[of] <= e; });
    checkpoints_.push_back({e, live_.size(), now});
    live_.insert(live_.end(), alive.begin(), alive.end());
    next = e + 1 + std::max(kApart, alive.size());
  }
  end = now;
}

const AllocatorReplay::Checkpoint* AllocatorReplay::before(std::int64_t event) const {
  const auto behind = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), event,
                                       [](std::int64_t at, const Checkpoint& c) { return at < c.event; });
  return behind == checkpoints_.begin() ? nullptr : &*(behind - 1);
}

std::int64_t AllocatorReplay::requested_at(std::int64_t event) const {
  const Checkpoint* from = before(event);
  std::int64_t now = from == nullptr ? start : from->requested;
  for (std::int64_t e = from == nullptr ? 0 : from->event + 1; e <= event; ++e)
    now = plus(now, change(static_cast<std::uint32_t>(e)));
  return now;
}

std::vector<Allocation> AllocatorReplay::live_at(std::int64_t event) const {
  const AllocatorEvents& events = device_.events;
  std::vector<Allocation> live;
  for (const Allocation& of : before_)
    if (of.freed == kNoEvent || of.freed > event) live.push_back(of);
  const auto add = [&](std::uint32_t e) {
    if (partner_[e] == kNoEvent || partner_[e] > event)
      live.push_back({e, partner_[e], events.address[e], events.size[e], events.stack[e]});
  };
  const Checkpoint* from = before(event);
  if (from != nullptr) {
    const bool last = from == &checkpoints_.back();
    const std::uint64_t behind = last ? live_.size() : (from + 1)->first;
    for (std::uint64_t i = from->first; i < behind; ++i) add(live_[i]);
  }
  for (std::int64_t e = from == nullptr ? 0 : from->event + 1; e <= event; ++e)
    if (events.action[static_cast<std::size_t>(e)] == MemoryAction::alloc) add(static_cast<std::uint32_t>(e));
  return live;
}

void AllocatorReplay::find_reserved() {
  for (const trace::MemorySegment& segment : device_.segments)
    end_reserved = plus(end_reserved, segment.size);
  std::int64_t now = end_reserved;
  peak_reserved = device_.events.count() == 0 ? now : std::numeric_limits<std::int64_t>::min();
  for (std::uint32_t e = device_.events.count(); e-- > 0;) {
    peak_reserved = std::max(peak_reserved, now);
    now = plus(now, -reserved_change(e));
  }
}

std::int64_t AllocatorReplay::reserved_change(std::uint32_t event) const {
  const AllocatorEvents& events = device_.events;
  switch (events.action[event]) {
    case MemoryAction::segment_alloc:
    case MemoryAction::segment_map:
      return events.size[event];
    case MemoryAction::segment_free:
    case MemoryAction::segment_unmap:
      return -events.size[event];
    default:
      return 0;
  }
}

std::int64_t AllocatorReplay::reserved_at(std::int64_t event) const {
  std::int64_t now = end_reserved;
  for (std::int64_t e = device_.events.count(); --e > event;)
    now = plus(now, -reserved_change(static_cast<std::uint32_t>(e)));
  return now;
}

/// Each out-of-memory error came after a retry. A retry that helped shows as cached segments freed, and then
/// one allocated, all by one call.
bool AllocatorReplay::is_retry(std::uint32_t e) const {
  const AllocatorEvents& events = device_.events;
  const auto is = [&](std::uint32_t at, MemoryAction a, MemoryAction b) {
    return events.action[at] == a || events.action[at] == b;
  };
  return events.action[e] == MemoryAction::oom ||
         (e > 0 && is(e, MemoryAction::segment_alloc, MemoryAction::segment_map) &&
          is(e - 1, MemoryAction::segment_free, MemoryAction::segment_unmap) &&
          events.stack[e] == events.stack[e - 1]);
}

void AllocatorReplay::count_retries() {
  const AllocatorEvents& events = device_.events;
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    retries += is_retry(e);
    if (events.action[e] != MemoryAction::oom) continue;
    ++ooms;
    oom_request = events.size[e];
  }
}

}  // namespace stepscope::derive
