// Bytes of one memory by what they are for, after each of its records.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "derive/growth/allocation_growth.h"
#include "derive/growth/tensor_degrees.h"
#include "derive/memory_records.h"
#include "derive/memory_use.h"

namespace stepscope::derive {

/// By record: how it grows, and what it is for. A parameter is known by its shape.
struct JudgedRecords {
  std::vector<AllocationGrowth> growth;
  std::vector<MemoryUse> uses;
};
JudgedRecords judged_records(const trace::Trace& trace, const trace::Rank& rank, const MemoryRecords& records,
                             const TensorDegrees& degrees);

struct CategoryLevels {
  std::array<std::int64_t, kMemoryUses> bytes{}, count{};  ///< by MemoryUse, of live allocations
  std::int64_t before = 0;  ///< bytes allocated before the recording, as far as records tell of them
  std::int64_t all() const;
};

/// Walks from record to record. The sum of all categories is the level of the records, plus what was freed
/// without an allocation if the records begin at 0.
class CategoryWalk {
 public:
  /// Both must outlive this object. `records` must be addressed.
  CategoryWalk(const MemoryRecords& records, const std::vector<MemoryUse>& uses);

  /// Applies the next record; false after the last.
  bool next();
  std::uint32_t record() const { return record_; }  ///< the last one that was applied
  const CategoryLevels& now() const { return now_; }

 private:
  void apply(std::uint32_t record);
  void add(std::uint32_t allocation, std::int64_t sign);

  const MemoryRecords& records_;
  const std::vector<MemoryUse>& uses_;
  std::vector<std::uint32_t> ends_;  // by record: the allocation that it ends, else kNever
  std::int64_t known_ = 0;           // sum of now_.bytes
  std::int64_t base_ = 0;            // held before the first record and not in the records' levels
  std::uint32_t record_ = MemoryRecords::kNever;
  CategoryLevels now_;
};

}  // namespace stepscope::derive
