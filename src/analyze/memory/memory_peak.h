// Who holds a device's memory at its peak, or after any event of a memory snapshot.
#pragma once

#include <string>
#include <vector>

#include "analyze/memory/held_groups.h"

namespace stepscope::analyze {

/// Allocations of one place that are alive at the instant. Bytes.
struct HeldMemory {
  std::int64_t rank, device;
  std::string place;
  std::int64_t bytes, count;
  double share;               ///< bytes / all bytes requested at the instant
  std::int64_t largest;       ///< of the allocations
  std::int64_t optimizer;     ///< the part of `bytes` that an optimizer of PyTorch allocated
  std::int64_t before;        ///< the part of `bytes` that was allocated before the first event
  std::int64_t mean;          ///< bytes that the place holds, mean over all events; kNoInt: not asked
  std::int64_t peak_without;  ///< what the peak would be without the place; kNoInt: not asked
  std::int64_t oldest_events, oldest_time;  ///< age of the oldest: events, and ns; kNoInt if not known
};

/// Allocations of one call stack that are alive at the instant.
struct HeldByStack {
  std::int64_t rank, device;
  std::string stack;  ///< outermost frame first, with semicolons
  std::int64_t bytes, count;
};

/// What a recording of the same run says of the instant.
struct RanThen {
  std::int64_t rank, device;
  std::int64_t step;       ///< its number; report::kNoInt outside of the recording's steps
  std::string op, module;  ///< the outermost op that ran, and its module; "" if none is known
};

struct MemoryHolders {
  std::vector<MemoryInstant> instants;
  std::vector<HeldMemory>
      held;  ///< by device, largest first; `peak_without` of the first kPeakPlaces at the peak
  std::vector<HeldByStack> stacks;  ///< by device, largest first; kPeakStacks and one row for all others
  std::vector<RanThen> ran;         ///< by device, where a recording covers the instant
  std::vector<std::string> notes;
};

inline constexpr std::size_t kPeakPlaces = 16, kPeakStacks = 300;
inline constexpr std::string_view kOtherStacks = "other stacks";

/// `at`: an instant as in memory_instants.h.
MemoryHolders memory_holders_of(const Derived& derived, std::string_view at = "peak",
                                HeldGroup by = HeldGroup::line);

}  // namespace stepscope::analyze
