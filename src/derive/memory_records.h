// The allocator's reports in order, each with the innermost host range around it and, for an allocation, its
// free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// 64 PiB, more than any memory holds: a larger size means a damaged file.
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 56;
/// 4 EiB, more than any recording allocates and frees in total: sums of sizes stay below it.
inline constexpr std::int64_t kMaxMoved = std::int64_t{1} << 62;

/// The memory of the host or of one device.
struct MemoryDevice {
  std::int64_t type = 0, id = 0;  ///< `Device Type` and `Device Id` as recorded
  bool host() const { return type == 0; }
  std::string name() const;  ///< "host", "device 0"
  friend bool operator==(const MemoryDevice&, const MemoryDevice&) = default;
};

/// Allocations and frees of one memory, in time order. A number that is not recorded is kAbsent. A total that
/// is missing or beyond kMaxBytes is computed from the previous total.
struct MemoryRecords {
  static constexpr std::int64_t kAbsent = INT64_MIN;
  static constexpr std::uint32_t kNever = 0xFFFFFFFF;

  MemoryDevice device;
  Column<trace::Row> row;
  Column<trace::Row> range;        ///< innermost host range around the record on its thread, kNoRow if none
  Column<std::int64_t> bytes;      ///< negative for frees
  Column<std::int64_t> allocated;  ///< recorded total after the record, or kAbsent
  Column<std::int64_t> reserved;   ///< recorded reserved total after the record, or kAbsent
  Column<std::int64_t> change;     ///< sum of bytes since the first record
  Column<std::uint32_t> freed;     ///< for an allocation: index of its free, kNever if none
  bool addressed = false;          ///< addresses are recorded, so `freed` is valid
  std::int64_t out_of_memory = 0;  ///< failed allocations
  std::int64_t absurd = 0;         ///< records beyond kMaxBytes or kMaxMoved, which are dropped
  std::size_t size() const { return row.size(); }
  bool has_totals() const { return !allocated.empty() && allocated.front() != kAbsent; }
  /// Bytes in use after record i: the recorded total, else the sum of bytes since the first record.
  std::int64_t level(std::uint32_t i) const { return has_totals() ? allocated[i] : change[i]; }
};

/// One entry per memory with records, devices before the host. A free belongs to the last allocation at its
/// address in the same memory. If an address is allocated again without a free, the earlier allocation counts
/// as freed there. O(n log n) in records.
std::vector<MemoryRecords> memory_records(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
