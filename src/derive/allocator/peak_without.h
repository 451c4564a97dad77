// What the peak would be if some allocations did not exist.
#pragma once

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

/// By group. `group_of` is by stack: a group below `groups`, or kNoGroup. O(events x groups).
std::vector<GroupPeak> peaks_without(const AllocatorReplay& replay,
                                     const std::vector<std::uint32_t>& group_of, std::size_t groups);

}  // namespace stepscope::derive
