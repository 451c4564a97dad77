// Self and device time of every host range: what it did itself, and what it launched.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

struct RowTimes {
  std::vector<std::int64_t> host_self;  ///< ns: duration without the ranges directly inside
  std::vector<std::int64_t>
      device_self;  ///< ns: union of device events whose innermost op the row is; ops only
  std::vector<std::int64_t>
      device_total;  ///< ns: union of device events launched anywhere below; ops and annotations
};

/// Device events are united per row: work on two streams at once counts once. O(rows + device events ×
/// nesting).
RowTimes row_times(const trace::Rank& rank);

/// Rows of device work of all devices by start.
std::vector<trace::Row> device_rows_by_start(const trace::Rank& rank);

}  // namespace stepscope::derive
