// What each step of a memory snapshot allocates, takes from the device and gives back, and whose frees wait.
#pragma once

#include <string>
#include <vector>

#include "analyze/memory/memory_steps.h"

namespace stepscope::analyze {

/// One device, over the steps after the warm-up; without steps, over the whole recording. Bytes, counts.
struct Churn {
  std::int64_t rank, device;
  std::int64_t steps;                        ///< judged
  std::int64_t unsettled;                    ///< of them, that take segments from the device and return some
  double segments_taken, segments_returned;  ///< per step
  std::int64_t taken;                        ///< bytes per step
  std::int64_t retries;                      ///< in these steps
  double allocations;                        ///< per step
  std::int64_t allocated;                    ///< bytes per step
  std::int64_t delayed_frees;                ///< in the whole recording: frees that waited for another stream
  std::int64_t peak_pending;                 ///< most bytes that waited at once
  std::string found_by;                      ///< how steps were found
};

/// Segments that one place makes the allocator take or return, in the judged steps.
struct ChurningPlace {
  std::int64_t rank, device;
  std::string place;
  std::int64_t segments_taken, taken, segments_returned, returned;
};

struct MemoryChurn {
  std::vector<Churn> devices;
  std::vector<ChurningPlace> places;  ///< by device, most bytes first
  std::vector<MemoryStep> steps;
  std::vector<std::string> notes;
};
MemoryChurn memory_churn_of(const Derived& derived);

}  // namespace stepscope::analyze
