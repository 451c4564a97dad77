// A device's memory over the events of a memory snapshot.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/allocator/level_walk.h"

namespace stepscope::analyze {

/// What holds after an event. Bytes.
struct MemoryAfterEvent : derive::MemoryLevels {
  std::int64_t rank, device;
  std::int64_t event;  ///< -1: before the first event
  std::int64_t time;   ///< ns from the first event's time; 0 before it; report::kNoInt without times
};

/// Allocations of one category that are alive at the peak of requested. Bytes.
struct CategoryAtPeak {
  std::int64_t rank, device;
  std::string category;
  std::int64_t bytes, count;
  double share;  ///< bytes / all bytes requested at the peak
};

struct MemoryCurve {
  std::vector<MemoryAfterEvent> points;
  std::vector<CategoryAtPeak> categories;  ///< by device, largest first; none if the file has no categories
  std::vector<std::string> notes;
};

inline constexpr std::int64_t kSnapshotPoints = 400;

/// `points`: max points of each device's curve.
MemoryCurve memory_curve_of(const Derived& derived, std::int64_t points = kSnapshotPoints);

}  // namespace stepscope::analyze
