// The allocator's reports, in order, each with the operator it happened in and the record that ended or began
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// 64 PiB, more than any memory holds: a larger size in a file is damage.
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 56;
/// 4 EiB, more than any recording allocates and frees in all: sums of sizes stay within it.
inline constexpr std::int64_t kMaxMoved = std::int64_t{1} << 62;

/// One memory: that of the host or of one device.
struct MemoryDevice {
  std::int64_t type = 0, id = 0;  ///< `Device Type` and `Device Id` as recorded
  bool host() const { return type == 0; }
  std::string name() const;  ///< "host", "device 0"
  friend bool operator==(const MemoryDevice&, const MemoryDevice&) = default;
};

/// Allocations and frees of one memory, in time order. Numbers that are not recorded are kAbsent; a total
/// that is missing or beyond kMaxBytes follows from the one before it.
struct MemoryRecords {
  static constexpr std::int64_t kAbsent = INT64_MIN;
  static constexpr std::uint32_t kNever = 0xFFFFFFFF;

  MemoryDevice device;
  Column<trace::Row> row;
  Column<trace::Row> range;        ///< innermost host range of the record's thread, kNoRow outside
  Column<std::int64_t> bytes;      ///< negative for frees
  Column<std::int64_t> allocated;  ///< total after the record as recorded, or kAbsent
  Column<std::int64_t> reserved;   ///< likewise
  Column<std::int64_t> change;     ///< sum of bytes since the first record
  Column<std::uint32_t> freed;     ///< of an allocation: index of its free, kNever if there is none
  bool addressed = false;          ///< addresses are recorded, so `freed` means something
  std::int64_t out_of_memory = 0;  ///< failed allocations
  std::int64_t absurd = 0;         ///< records beyond kMaxBytes or kMaxMoved, left out
  std::size_t size() const { return row.size(); }
  bool has_totals() const { return !allocated.empty() && allocated.front() != kAbsent; }
  /// What is in use after record i: as recorded, else the sum of bytes since the first record.
  std::int64_t level(std::uint32_t i) const { return has_totals() ? allocated[i] : change[i]; }
};

/// One entry per memory with records, devices before the host. Frees pair with the last allocation at their
/// address in the same memory; an allocation whose address is given out again counts as freed there. O(n log
/// n) in records.
std::vector<MemoryRecords> memory_records(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
