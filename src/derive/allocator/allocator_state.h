// The segments and blocks of a device after any event: the final segments with later events undone, and what
// was allocated in them then. Sizes in bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/allocator/level_walk.h"

namespace stepscope::derive {

/// Memory in use. Its size is that of the block in the file if it lives to the end. Otherwise it is what the
/// allocator's usual rule gives, 512 B or the next multiple, as far as there is room: a block that the
/// allocator did not split may have been up to 1 MiB larger.
struct UsedBlock {
  Allocation allocation;
  std::int64_t size = 0;
  bool pending = false;  ///< its free is requested, and not completed
};

/// Memory in a segment that nothing uses.
struct Gap {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  /// Whole pages of 2 MiB in it: what an expandable segment gives back to the device.
  std::int64_t pages() const;
};

struct HeldSegment {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::uint16_t stream = 0, pool = 0;  ///< in Snapshot::streams and pools
  bool large = false, expandable = false;
  std::vector<UsedBlock> used;  ///< by address
  std::vector<Gap> gaps;        ///< by address

  bool wholly_free() const { return used.empty(); }
};

/// By address. Memory outside of all segments, which a sound file does not have, is left out.
/// O(segment events + live log live).
std::vector<HeldSegment> segments_at(const AllocatorReplay& replay, std::int64_t event);

/// The segment that it would ask the device for, as PyTorch's defaults are.
std::int64_t segment_for(std::int64_t request);
/// Requests above 1 MiB come from large segments.
inline bool is_large(std::int64_t request) { return request > (std::int64_t{1} << 20); }

}  // namespace stepscope::derive
