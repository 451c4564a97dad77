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

/// A call that keeps what it made for the backward pass. Indices of records.
struct RecomputedCall {
  std::uint32_t begin = MemoryRecords::kNever,
                end = 0;                         ///< the first record of the call, and the first after it
  std::uint32_t again = MemoryRecords::kNever;   ///< the first record after it is called again
  std::uint32_t output = MemoryRecords::kNever;  ///< of the allocations that it left alive the last one
  std::vector<std::uint32_t> kept{};             ///< the others that the backward pass frees
};

/// Those of `calls` that keep something. `calls`: host ranges that do not overlap on their thread. A call is
/// made again when the backward pass reaches it: in the outermost range around the first free of what it
/// keeps. O(records · log calls).
std::vector<RecomputedCall> recomputed_calls(const trace::Rank& rank, const MemoryRecords& records,
                                             const std::vector<bool>& in_backward,
                                             const std::vector<trace::Row>& calls);

/// Of what a call allocated and left alive, its output stays; what else it keeps is dropped at the call's end
/// and made again. `high` counts what the call needs only while it runs, and a second output, at that
/// instant; `low` does not. Memory that is never freed is not dropped. O(records).
CheckpointedPeak checkpointed_peak(const MemoryRecords& records, const std::vector<RecomputedCall>& calls);

}  // namespace stepscope::derive
