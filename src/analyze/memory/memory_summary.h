// What a memory snapshot says of each device: levels, peak, cached memory, retries.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/memory/replayed_snapshots.h"

namespace stepscope::analyze {

/// One device of a snapshot. Bytes and counts.
struct DeviceMemory {
  std::int64_t rank, device, events;
  std::int64_t start_requested, end_requested, peak_requested;
  std::int64_t peak_event;  ///< from 0; -1: before the first event
  std::int64_t peak_reserved, end_reserved, end_allocated, end_active;
  std::int64_t largest_free_block, free_cached, segments, blocks;
  std::int64_t alloc_retries, ooms, oom_request, distinct_stacks;
  bool expandable;  ///< has segments that can grow
};

struct MemorySummary {
  std::vector<DeviceMemory> devices;
  std::vector<CaptureFault> faults;
  std::vector<std::string> notes;
};
MemorySummary memory_summary_of(const Derived& derived);

}  // namespace stepscope::analyze
