// What the peak would be if some allocations did not exist.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "derive/allocator/allocator_replay.h"

namespace stepscope::derive {

/// Of a group of stacks. Bytes.
struct GroupPeak {
  std::int64_t peak_without = 0;  ///< peak of requested - held by the group
  double mean_held = 0;           ///< by the group, mean over the events
};

inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;

/// By stack: the group of its allocations among the events, and that of those before the first event.
using GroupsOfStacks = std::vector<std::array<std::uint32_t, 2>>;

/// By group. Each group of `group_of` is below `groups`, or kNoGroup. O(events x groups).
std::vector<GroupPeak> peaks_without(const AllocatorReplay& replay, const GroupsOfStacks& group_of,
                                     std::size_t groups);

}  // namespace stepscope::derive
