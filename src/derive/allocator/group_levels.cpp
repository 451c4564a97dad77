#include "derive/allocator/group_levels.h"

#include <algorithm>
#include <unordered_map>

#include "derive/allocator/saturated.h"

namespace stepscope::derive {
namespace {

/// What groups hold, event by event. Begins before the first event.
class GroupWalk {
 public:
  GroupWalk(const AllocatorReplay& replay, const GroupsOfStacks& group_of, std::size_t groups)
      : replay_(replay), group_of_(group_of), held_(groups) {
    for (const Allocation& of : replay.live_at(-1)) {
      hold(of.stack, true, of.bytes);
      if (of.freed != kNoEvent) freed_later_.emplace(of.freed, of.stack);
    }
  }

  const std::vector<std::int64_t>& held() const { return held_; }
  std::int64_t event() const { return event_; }

  /// Goes to the next event. The group that it adds memory to; kNoGroup: none.
  std::uint32_t next() {
    const trace::AllocatorEvents& events = replay_.device().events;
    const auto e = static_cast<std::uint32_t>(++event_);
    if (const std::uint32_t ended = replay_.ended_by(e); ended != kNoEvent)
      hold(events.stack[ended], false, -events.size[ended]);
    else if (const auto older = freed_later_.find(e); older != freed_later_.end())
      hold(older->second, true, -events.size[e]);
    if (events.action[e] != trace::MemoryAction::alloc) return kNoGroup;
    hold(events.stack[e], false, events.size[e]);
    return group_of_[events.stack[e]][0];
  }

 private:
  void hold(trace::StackId stack, bool before, std::int64_t bytes) {
    std::int64_t& held = held_[group_of_[stack][before]];
    held = plus(held, bytes);
  }

  const AllocatorReplay& replay_;
  const GroupsOfStacks& group_of_;
  std::vector<std::int64_t> held_;
  std::unordered_map<std::uint32_t, trace::StackId> freed_later_;  ///< allocated before the first event
  std::int64_t event_ = -1;
};

}  // namespace

std::vector<std::int64_t> group_peaks(const AllocatorReplay& replay, const GroupsOfStacks& group_of,
                                      std::size_t groups) {
  GroupWalk walk(replay, group_of, groups);
  std::vector<std::int64_t> peaks = walk.held();
  while (walk.event() + 1 < replay.device().events.count())
    if (const std::uint32_t group = walk.next(); group != kNoGroup)
      peaks[group] = std::max(peaks[group], walk.held()[group]);
  return peaks;
}

std::vector<std::int64_t> group_levels(const AllocatorReplay& replay, const GroupsOfStacks& group_of,
                                       std::size_t groups, std::span<const std::int64_t> instants) {
  GroupWalk walk(replay, group_of, groups);
  std::vector<std::int64_t> levels;
  for (const std::int64_t instant : instants) {
    while (walk.event() < instant) walk.next();
    levels.insert(levels.end(), walk.held().begin(), walk.held().end());
  }
  return levels;
}

}  // namespace stepscope::derive
