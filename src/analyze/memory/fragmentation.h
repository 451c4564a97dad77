// How a device's reserved memory is used: by pool, stream and size class, at any instant of a memory
// snapshot.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/allocator/allocator_state.h"

namespace stepscope::analyze {

/// One pool of one stream for small or large requests. Requests are served from their own pool, stream and
/// class only. Bytes.
struct PoolMemory {
  std::int64_t rank, device;
  std::string pool;     ///< "default", else the private pool's number in the file
  std::int64_t stream;  ///< in the order of the file; 0 is the default stream
  bool large;
  std::int64_t segments, reserved;
  std::int64_t used;          ///< blocks in use, rounded, also those whose free is pending
  std::int64_t waste;         ///< the part of `used` that no tensor asked for
  std::int64_t free;          ///< reserved - used
  std::int64_t releasable;    ///< the part of `free` in segments of the default pool without any block in use
  std::int64_t split;         ///< the part of `free` in segments with a block in use
  std::int64_t largest_free;  ///< the largest request that fits without a new segment
  std::int64_t gaps;          ///< number of free stretches
  std::int64_t pages;         ///< whole pages of 2 MiB in `split`: expandable segments could return them
  double share;               ///< split / reserved
};

/// A place whose blocks keep segments with free memory from being returned. Bytes.
struct PinningPlace {
  std::int64_t rank, device;
  std::string place;
  std::int64_t held;      ///< its blocks in such segments
  std::int64_t segments;  ///< in which it holds a block
  std::int64_t split;     ///< free bytes in them
  std::int64_t alone;     ///< the part of `split` in segments that only this place holds
};

struct Fragmentation {
  std::vector<PoolMemory> pools;      ///< by device, largest `split` first
  std::vector<PinningPlace> pinning;  ///< by device, largest `alone` first, then `split`
  std::vector<std::string> notes;
};
/// `at`: an instant as in memory_peak; "oom" is just before the last allocation that failed, and "" that, or
/// the peak if none failed.
Fragmentation fragmentation_of(const Derived& derived, std::string_view at = "");

/// The pools of a device's segments.
std::vector<PoolMemory> pools_of(const trace::Rank& rank, std::int64_t device,
                                 const std::vector<derive::HeldSegment>& segments);

}  // namespace stepscope::analyze
