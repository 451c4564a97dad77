// An address map: what the memory of each segment holds at an instant of a memory snapshot.
#pragma once

#include <string>
#include <vector>

#include "analyze/memory/memory_instants.h"

namespace stepscope::analyze {

/// Neighbouring blocks and gaps of a segment. Bytes.
struct MemoryRange {
  std::int64_t rank, device;
  std::string segment;        ///< its address, as hexadecimal text
  std::int64_t offset, size;  ///< in the segment
  std::string_view state;     ///< "used", "pending", "free", or "mixed"
  std::string place;          ///< where it was allocated; "" for free memory, kSeveralPlaces if they differ
  std::int64_t free;          ///< the part of `size` that nothing uses
  std::int64_t largest_free;  ///< of the gaps in it
  std::int64_t blocks;        ///< in use
};

struct MemoryState {
  std::vector<MemoryRange> ranges;  ///< by device, the largest segments first, by address
  std::vector<std::string> notes;
};

inline constexpr std::string_view kSeveralPlaces = "several places";

/// `at`: an instant as in memory_instants.h. Neighbours of the same state and place are one range. So are
/// small ones: below 1/256 of their segment, or 1/4,096 of all segments.
MemoryState memory_state_of(const Derived& derived, std::string_view at = "", HeldBy by = HeldBy::line);

}  // namespace stepscope::analyze
