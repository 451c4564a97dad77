#include "derive/allocator/group_levels.h"

#include <unordered_map>

#include "derive/allocator/saturated.h"

namespace stepscope::derive {

std::vector<std::int64_t> group_levels(const AllocatorReplay& replay, const GroupsOfStacks& group_of,
                                       std::size_t groups, std::span<const std::int64_t> instants) {
  const trace::AllocatorEvents& events = replay.device().events;
  std::vector<std::int64_t> held(groups), levels;
  const auto hold = [&](trace::StackId stack, bool before, std::int64_t bytes) {
    std::int64_t& level = held[group_of[stack][before]];
    level = plus(level, bytes);
  };
  std::unordered_map<std::uint32_t, trace::StackId> freed_later;  // allocated before the first event
  for (const Allocation& of : replay.live_at(-1)) {
    hold(of.stack, true, of.bytes);
    if (of.freed != kNoEvent) freed_later.emplace(of.freed, of.stack);
  }
  std::int64_t done = -1;
  for (const std::int64_t instant : instants) {
    while (done < instant) {
      const auto e = static_cast<std::uint32_t>(++done);
      if (const std::uint32_t ended = replay.ended_by(e); ended != kNoEvent)
        hold(events.stack[ended], false, -events.size[ended]);
      else if (const auto older = freed_later.find(e); older != freed_later.end())
        hold(older->second, true, -events.size[e]);
      if (events.action[e] == trace::MemoryAction::alloc) hold(events.stack[e], false, events.size[e]);
    }
    levels.insert(levels.end(), held.begin(), held.end());
  }
  return levels;
}

}  // namespace stepscope::derive
