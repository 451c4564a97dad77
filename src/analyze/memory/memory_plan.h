// What the peak of a recording's memory would be at other sizes.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/growth/memory_plan.h"

namespace stepscope::analyze {

enum class Fits : std::uint8_t { unknown, yes, perhaps, no };
std::string_view name_of(Fits fits);

/// The peak of one memory with one batch size and sequence length. Bytes.
struct PlannedMemory {
  std::int64_t rank = -1;
  derive::MemoryDevice memory;
  std::int64_t batch, sequence;  ///< kNoInt: not known
  std::int64_t low, high;
  Fits fits = Fits::unknown;
};

/// A part of the high peak.
struct PlannedPart {
  std::int64_t rank = -1;
  derive::MemoryDevice memory;
  std::string_view part;
  std::int64_t recorded, low, high;  ///< at the recorded peak; at the planned one
};

/// Allocations of one operator that are alive at the high peak. Bytes.
struct PlannedOperator {
  std::int64_t rank = -1;
  derive::MemoryDevice memory;
  std::string op, grows;
  std::int64_t count, recorded, low, high;
};

struct MemoryPlans {
  std::vector<PlannedMemory> peaks;
  std::vector<PlannedPart> parts;          ///< of the last peak of each memory
  std::vector<PlannedOperator> operators;  ///< of the same peaks, largest first
  struct Largest {
    std::int64_t rank = -1;
    derive::MemoryDevice memory;
    std::int64_t capacity, sure, perhaps;  ///< bytes; batch sizes, 0: none
  };
  std::vector<Largest> largest;  ///< where a capacity is known
  std::vector<std::string> notes;
};
MemoryPlans memory_plans_of(const Derived& derived, const report::Params& params);

}  // namespace stepscope::analyze
