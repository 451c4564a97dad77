// A rank as Perfetto TrackEvent packets. Files of several ranks are their packets one behind the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace stepscope::write {

/// What a track is called in the file that is written.
struct PerfettoLane {
  std::int64_t pid = 0, tid = 0;
  std::string process;
  std::int64_t sort = 0;  ///< of the process among all
};

struct PerfettoOptions {
  /// Own to each rank in the file, not 0.
  std::uint32_t sequence = 1;
  std::function<PerfettoLane(const trace::Track&)> lane;
  /// From a row's time to Unix ns. Must not turn times round.
  std::function<std::int64_t(std::int64_t)> time;
  /// What is added to ids that an arg of this name holds, so that two ranks share none; 0 for other args.
  std::function<std::int64_t(std::string_view key)> id_shift;
};

struct PerfettoCount {
  std::int64_t slices = 0, instants = 0, counters = 0;  ///< packets of rows; a slice has two
  std::int64_t flows = 0;                               ///< ends of flows that found their slice
  std::int64_t loose_flows = 0;                         ///< ends where no slice is: left out
  std::int64_t not_numbers = 0;                         ///< counters without a number: left out
};

/// Calls `put` with pieces of the file, until it returns false. Rows must be sorted, as read::seal leaves
/// them; derived columns are not asked.
PerfettoCount perfetto(const trace::Trace& trace, const trace::Rank& rank, const PerfettoOptions& options,
                       const std::function<bool(std::string_view)>& put);

}  // namespace stepscope::write
