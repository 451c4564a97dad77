// The peak of a recording's memory, had it recomputed some calls in the backward pass instead of keeping what
// they made.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/memory_records.h"

namespace stepscope::derive {

struct CheckpointedPeak {
  std::int64_t held = 0;           ///< bytes that the calls keep for the backward pass, summed at the peak
  std::int64_t low = 0, high = 0;  ///< bytes of the new peak
};

/// By record: whether it is in a backward pass. O(n log n) in host rows.
std::vector<bool> in_backward_passes(const trace::Trace& trace, const trace::Rank& rank,
                                     const MemoryRecords& records);

/// `calls`: host ranges that do not overlap on their thread. Of what a call allocated and left alive, the
/// last allocation counts as its output and stays; all else is dropped at the call's end and made again when
/// the backward pass reaches the call: in the outermost range around the first of these frees. `high` counts
/// what the call needs only while it runs, and a second output, at that instant; `low` does not. Memory that
/// is never freed is not dropped. O(records · log calls).
CheckpointedPeak checkpointed_peak(const trace::Rank& rank, const MemoryRecords& records,
                                   const std::vector<bool>& in_backward,
                                   const std::vector<trace::Row>& calls);

}  // namespace stepscope::derive
