// The user's own ranges: how long they take on host and device, and which kernels run in them.
#pragma once

#include <vector>

#include "analyze/named_durations.h"
#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// A range, or a device event and the range that it ran in. Times in ns since the first event.
struct Placed {
  timeline::Time start, length;
  trace::Row row, range = trace::kNoRow;
};

struct RankRanges {
  const trace::Rank* rank;
  std::vector<Placed> device_ranges, host_ranges, events;
};

/// Finds the range of each event. `shown` selects the rows to report from one side's ranges, summed by name.
report::Report annotations_in(std::vector<RankRanges> ranks, const trace::Trace& trace,
                              std::vector<NamedDurations> (*shown)(std::vector<NamedDurations>,
                                                                   const report::Params&),
                              const report::Params& params);

}  // namespace stepscope::analyze
