// A device's memory over the events of a memory snapshot.
#pragma once

#include <string>
#include <vector>

#include "analyze/memory/memory_instants.h"
#include "derive/allocator/level_walk.h"

namespace stepscope::analyze {

/// What holds after an event. Bytes.
struct MemoryAfterEvent : derive::MemoryLevels {
  std::int64_t rank, device;
  std::int64_t event;  ///< -1: before the first event
  std::int64_t time;   ///< ns from the first event's time; 0 before it; report::kNoInt without times
};

/// What a place holds after an event. Bytes.
struct PlaceAfterEvent {
  std::int64_t rank, device;
  std::string place;
  std::int64_t event, time;  ///< as in MemoryAfterEvent
  std::int64_t bytes;
};

/// An instant that a picture of the memory marks.
struct MarkedInstant : MemoryInstant {
  std::string_view name;  ///< "peak", or "oom": just before the last allocation that failed
  std::int64_t asked;     ///< bytes that this allocation asked for; kNoInt: of the peak
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
  std::vector<PlaceAfterEvent> places;     ///< by device and place, at the instants of `points`
  std::vector<MarkedInstant> marks;        ///< by device
  std::vector<CategoryAtPeak> categories;  ///< by device, largest first; none if the file has no categories
  std::vector<std::string> notes;
};

inline constexpr std::int64_t kSnapshotPoints = 400;
inline constexpr std::size_t kCurvePlaces = 8;
inline constexpr std::string_view kOtherPlaces = "other places";

/// `points`: max points of each device's curve. The kCurvePlaces places that hold most at any instant have a
/// curve of their own. `since`, `until`: instants as in memory_instants.h, in any order.
MemoryCurve memory_curve_of(const Derived& derived, std::int64_t points = kSnapshotPoints,
                            HeldBy by = HeldBy::line, std::string_view since = "start",
                            std::string_view until = "end");

}  // namespace stepscope::analyze
