// What groups of stacks hold at instants of a memory snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derive/allocator/peak_without.h"

namespace stepscope::derive {

/// The most bytes that each group holds at any instant. Each group of `group_of` is below `groups`.
/// O(events).
std::vector<std::int64_t> group_peaks(const AllocatorReplay& replay, const GroupsOfStacks& group_of,
                                      std::size_t groups);

/// Bytes that each group holds, instant by instant, `groups` numbers for each. `instants` are events, rising;
/// -1: before the first. O(events + instants x groups).
std::vector<std::int64_t> group_levels(const AllocatorReplay& replay, const GroupsOfStacks& group_of,
                                       std::size_t groups, std::span<const std::int64_t> instants);

}  // namespace stepscope::derive
