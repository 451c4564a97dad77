// A rank as Perfetto TrackEvent packets. A file of several ranks is the concatenation of their packets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace stepscope::write {

/// Ids and process name of a track in the written file.
struct PerfettoLane {
  std::int64_t pid = 0, tid = 0;
  std::string process;
  std::int64_t sort = 0;  ///< position of the process among all processes
};

struct PerfettoOptions {
  /// Not 0, and different for each rank in the file.
  std::uint32_t sequence = 1;
  std::function<PerfettoLane(const trace::Track&)> lane;
  /// Converts a row's time to Unix ns. Must be monotonic.
  std::function<std::int64_t(std::int64_t)> time;
  /// Offset for args of this name that hold ids, so that ids of different ranks differ; 0 for other args.
  std::function<std::int64_t(std::string_view key)> id_shift;
};

struct PerfettoCount {
  std::int64_t slices = 0, instants = 0, counters = 0;  ///< rows written; a slice takes two packets
  std::int64_t flows = 0;                               ///< ends of arrows between slices
  std::int64_t loose_flows = 0;                         ///< ends outside any slice: left out
  std::int64_t not_numbers = 0;                         ///< counters without a number: left out
};

/// Calls `put` with pieces of the file, until it returns false. Rows must be sorted, as after read::seal;
/// derived columns are not used.
PerfettoCount perfetto(const trace::Trace& trace, const trace::Rank& rank, const PerfettoOptions& options,
                       const std::function<bool(std::string_view)>& put);

}  // namespace stepscope::write
