#include "derive/allocator/peak_without.h"

#include <algorithm>

namespace stepscope::derive {

std::vector<GroupPeak> peaks_without(const AllocatorReplay& replay,
                                     const std::vector<std::uint32_t>& group_of, std::size_t groups) {
  const trace::AllocatorEvents& events = replay.device().events;
  std::vector<std::int64_t> others(groups, replay.start);  // requested by all but the group
  std::vector<std::int64_t> held(groups);
  const auto hold = [&](trace::StackId stack, std::int64_t bytes) {
    const std::uint32_t group = group_of[stack];
    if (group != kNoGroup) held[group] += bytes;
    return group;
  };
  for (const Allocation& of : replay.live_at(-1))
    if (const std::uint32_t group = hold(of.stack, of.bytes); group != kNoGroup) others[group] -= of.bytes;

  std::vector<GroupPeak> peaks(groups);
  for (std::size_t g = 0; g < groups; ++g) peaks[g].peak_without = others[g];
  const auto change = [&](trace::StackId stack, std::int64_t bytes) {
    const std::uint32_t own = hold(stack, bytes);
    for (std::uint32_t g = 0; g < groups; ++g)
      if (g != own) others[g] += bytes;
  };
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    const std::int64_t changed = replay.change(e);
    const std::uint32_t ended = replay.ended_by(e);
    if (ended != kNoEvent) change(events.stack[ended], -events.size[ended]);
    if (events.action[e] == trace::MemoryAction::alloc)
      change(events.stack[e], events.size[e]);
    else if (ended == kNoEvent && changed != 0)
      change(trace::kNoStack, changed);
    for (std::size_t g = 0; g < groups; ++g) {
      if (changed > 0) peaks[g].peak_without = std::max(peaks[g].peak_without, others[g]);
      peaks[g].mean_held += static_cast<double>(held[g]);
    }
  }
  if (events.count() > 0)
    for (GroupPeak& of : peaks) of.mean_held /= events.count();
  return peaks;
}

}  // namespace stepscope::derive
