// The steps of a memory snapshot, and what happens to a device's memory in each. Bytes and counts.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/memory/replayed_snapshots.h"
#include "derive/allocator/allocation_steps.h"

namespace stepscope::analyze {

struct MemoryStep {
  std::int64_t rank, device;
  std::int64_t number;        ///< from 0
  std::int64_t event;         ///< its first
  std::int64_t length;        ///< ns; report::kNoInt if the file has no times
  std::int64_t start, peak;   ///< requested: before its first event, and the maximum in it
  std::int64_t lowest;        ///< requested: the minimum in it
  std::int64_t lowest_event;  ///< the first event after which it holds
  std::int64_t peak_reserved;
  std::int64_t allocations, allocated;       ///< number and sum of allocations
  std::int64_t segments_taken, taken;        ///< segments allocated or mapped: number, bytes
  std::int64_t segments_returned, returned;  ///< segments freed or unmapped
  std::int64_t retries;
};

struct DeviceSteps {
  derive::AllocationSteps found;
  std::vector<MemoryStep> steps;  ///< without steps, the whole recording as one
  std::size_t warm_up = 0;        ///< of `steps`, that are not judged
  bool judged() const { return found.from != derive::StepsFrom::none; }
};

/// By device of the rank's snapshot.
const std::vector<DeviceSteps>& memory_steps_of(const Derived& derived, const trace::Rank& rank);

/// "8 steps, begun where train.py(88): step allocates": how steps were found, and how many.
std::string told(const trace::Trace& trace, const trace::Rank& rank, const DeviceSteps& of);

}  // namespace stepscope::analyze
