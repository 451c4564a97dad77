// The memory time line of one device that torch.profiler's export_memory_timeline() wrote. Bytes by category
// change at instants; which device it is, the file does not say.
#pragma once

#include <cstdint>

#include "base/memory.h"

namespace stepscope::trace {

/// Numbered as in the file. `sum`: the file has only the sum of each category, and this is how it changed.
enum class TimelineAction : std::uint8_t { sum, preexisting, create, increment_version, destroy };
inline constexpr std::uint8_t kTimelineCategories = 8;

/// Changes in the order of the file.
struct MemoryTimeline {
  Column<std::int64_t> time;  ///< Unix ns; what was there before the recording has the first time
  Column<TimelineAction> action;
  Column<std::int64_t> bytes;     ///< negative when freed, or when the category loses it to another
  Column<std::uint8_t> category;  ///< numbered as derive::MemoryUse
  bool has_actions = true;        ///< false: all are sums

  std::uint32_t count() const { return static_cast<std::uint32_t>(time.size()); }
};

}  // namespace stepscope::trace
