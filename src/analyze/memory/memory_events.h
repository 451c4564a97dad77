// Allocator events: the curve of each memory, its peak and what was alive then, allocations by operator, and
// allocations that were never freed.
#pragma once

#include <string>
#include <vector>

#include "analyze/memory/kept_functions.h"
#include "analyze/memory/op_memory.h"
#include "derive/memory_records.h"

namespace stepscope::analyze {

/// One memory in the chosen steps. Times in ns from the first event of the file, sizes in bytes;
/// report::kNoInt if not recorded.
struct MemoryPeak {
  std::int64_t rank;
  derive::MemoryDevice memory;
  std::int64_t allocated;  ///< at the peak
  std::int64_t reserved;   ///< max over the records
  std::int64_t capacity;   ///< of the device
  double reserved_share;   ///< of the capacity
  std::int64_t time;
  std::int64_t step;        ///< number of the peak's step; report::kNoInt outside steps
  std::int64_t change;      ///< max of the bytes allocated minus freed since the first record
  std::int64_t end_change;  ///< the same at the last record
  std::int64_t allocations, frees, out_of_memory;
};

/// Allocations of one operator that are alive at the peak.
struct AliveAtPeak {
  std::int64_t rank;
  derive::MemoryDevice memory;
  std::string op;
  std::int64_t count, bytes;
  double share;  ///< bytes / all bytes allocated then
};

/// An allocation without a free. `event`: the record's place in the file; `time`, `step`: as in MemoryPeak.
struct KeptAllocation {
  std::int64_t rank;
  derive::MemoryDevice memory;
  std::int64_t time, event, bytes;
  std::string op;
  std::int64_t step;
};

/// A point of the curve. `time` as in MemoryPeak; `change`: bytes allocated minus freed since the first
/// record.
struct MemoryLevel {
  std::int64_t rank;
  derive::MemoryDevice memory;
  std::int64_t time, allocated, reserved, change;
};

/// Lowest and highest number of bytes in use in a step.
struct StepMemory {
  std::int64_t rank;
  derive::MemoryDevice memory;
  std::int64_t step, lowest, highest;
};

struct MemoryEvents {
  std::vector<MemoryPeak> peaks;
  std::vector<AliveAtPeak> alive;
  std::vector<OpMemory> operators;
  std::vector<KeptAllocation> kept;
  std::vector<KeptFunction> kept_in;
  std::vector<MemoryLevel> curve;
  std::vector<StepMemory> steps;
  std::vector<std::string> notes;
};

inline constexpr std::int64_t kCurvePoints = 2'000;

/// `points`: max points of each curve.
MemoryEvents memory_events_of(const trace::Trace& trace, const StepChoice& choice,
                              std::int64_t points = kCurvePoints);

}  // namespace stepscope::analyze
