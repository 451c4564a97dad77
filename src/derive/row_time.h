// Self time and device time of every host range: its own host work, and the device work that it launched.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

struct RowTimes {
  std::vector<std::int64_t> host_self;  ///< ns: duration without direct children
  std::vector<std::int64_t>
      device_self;  ///< ns: union of device events whose innermost op is this row; ops only
  std::vector<std::int64_t>
      device_total;  ///< ns: union of device events launched anywhere below; ops and annotations
};

/// Device events are united per row, so simultaneous work on two streams counts once. O(rows + device events
/// × nesting).
RowTimes row_times(const trace::Rank& rank);

/// Rows of device work on all devices, by start.
Column<trace::Row> device_rows_by_start(const trace::Rank& rank);

}  // namespace stepscope::derive
