// The peak of a recording's memory, had it run with other sizes, other numbers or another optimizer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "derive/growth/allocation_growth.h"
#include "derive/growth/checkpointed_peak.h"
#include "derive/memory_use.h"

namespace stepscope::derive {

/// A factor that is known only to lie between two.
struct Factor {
  double low = 1, high = 1;
};

struct PlanChange {
  double batch = 1, sequence = 1;  ///< new size / recorded size
  Factor weights;                  ///< of parameters and their gradients in fp32
  Factor floats;                   ///< of all other numbers in fp32
  Factor optimizer_state, optimizer_temporaries;
  double more_low = 0, more_high = 0;  ///< bytes that are added to the whole step
};

/// Memory that the program held before the recording, as far as it must be added to the recorded changes.
struct HeldBefore {
  std::int64_t parameters = 0, gradients = 0, optimizer_state = 0;
  std::int64_t other = 0;       ///< not known what for: the allocator's total at the first record
  std::int64_t buffers = 0;     ///< at most
  std::int64_t more_state = 0;  ///< of the optimizer, at most
};

/// Bytes by MemoryUse, then what was held before and is not known.
inline constexpr std::size_t kPlanParts = kMemoryUses + 1;
using PlanParts = std::array<double, kPlanParts>;

struct PlannedPeak {
  double low = 0, high = 0;  ///< bytes
  std::uint32_t at = 0;      ///< record with the high peak
  /// At that record, each allocation at its low and its high size.
  PlanParts parts_low{}, parts_high{};
};

/// Replays the records of one memory with each allocation at its planned size. The peak may move to another
/// record. O(records) per plan.
class MemoryPlan {
 public:
  /// All must outlive this object. `records` must be addressed.
  MemoryPlan(const MemoryRecords& records, const std::vector<AllocationGrowth>& growth,
             const std::vector<MemoryUse>& uses, HeldBefore before);

  /// `recomputed`: calls that keep nothing for the backward pass and run again in it, as in
  /// checkpointed_peak().
  PlannedPeak peak(const PlanChange& change, const std::vector<RecomputedCall>& recomputed = {}) const;
  /// Of an allocation: planned size / recorded size.
  Factor factor(std::uint32_t record, const PlanChange& change) const;

 private:
  double transient_of(const RecomputedCall& call, const PlanChange& change) const;

  const MemoryRecords& records_;
  const std::vector<AllocationGrowth>& growth_;
  const std::vector<MemoryUse>& uses_;
  const HeldBefore before_;
  std::vector<std::uint32_t> ends_;  ///< by record: the allocation that it ends, else kNever
};

}  // namespace stepscope::derive
