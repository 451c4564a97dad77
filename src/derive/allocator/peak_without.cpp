#include "derive/allocator/peak_without.h"

#include <algorithm>
#include <unordered_map>

#include "derive/allocator/saturated.h"

namespace stepscope::derive {

std::vector<GroupPeak> peaks_without(const AllocatorReplay& replay, const GroupsOfStacks& group_of,
                                     std::size_t groups) {
  const trace::AllocatorEvents& events = replay.device().events;
  std::vector<std::int64_t> held(groups);
  std::vector<std::uint32_t> since(groups);  // the event from which `held` holds
  std::vector<GroupPeak> peaks(groups);
  std::unordered_map<std::uint32_t, trace::StackId> freed_later;  // allocated before the first event
  const auto hold = [&](trace::StackId stack, bool before, std::int64_t bytes, std::uint32_t e) {
    const std::uint32_t group = group_of[stack][before];
    if (group == kNoGroup) return;
    peaks[group].mean_held += static_cast<double>(held[group]) * (e - since[group]);
    since[group] = e;
    held[group] = plus(held[group], bytes);
  };
  for (const Allocation& of : replay.live_at(-1)) {
    hold(of.stack, true, of.bytes, 0);
    if (of.freed != kNoEvent) freed_later.emplace(of.freed, of.stack);
  }
  std::int64_t all = replay.start;
  for (std::size_t g = 0; g < groups; ++g) peaks[g].peak_without = plus(all, -held[g]);
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    const std::int64_t change = replay.change(e);
    if (change == 0) continue;
    all = plus(all, change);
    if (const std::uint32_t ended = replay.ended_by(e); ended != kNoEvent)
      hold(events.stack[ended], false, -events.size[ended], e);
    else if (const auto older = freed_later.find(e); older != freed_later.end())
      hold(older->second, true, -events.size[e], e);
    if (events.action[e] != trace::MemoryAction::alloc) continue;
    hold(events.stack[e], false, events.size[e], e);
    for (std::size_t g = 0; g < groups; ++g)
      peaks[g].peak_without = std::max(peaks[g].peak_without, plus(all, -held[g]));
  }
  for (std::size_t g = 0; g < groups && events.count() > 0; ++g) {
    peaks[g].mean_held += static_cast<double>(held[g]) * (events.count() - since[g]);
    peaks[g].mean_held /= events.count();
  }
  return peaks;
}

}  // namespace stepscope::derive
