// The user's own ranges: how long on the host and on the device, and which kernels ran in them.
#pragma once

#include <vector>

#include "analyze/named_durations.h"
#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// An event on a device's track, and the range that it ran in. Times in ns since the zero of its table.
struct Placed {
  timeline::Time start, length;
  trace::Row row, range = trace::kNoRow;
};

struct RankRanges {
  const trace::Rank* rank;
  std::vector<Placed> device_ranges, host_ranges, events;
};

/// Finds the range of each event. `shown`: which rows by name are told of a rank's ranges of one side.
report::Report annotations_in(std::vector<RankRanges> ranks, const trace::Trace& trace,
                              std::vector<NamedDurations> (*shown)(std::vector<NamedDurations>,
                                                                   const report::Params&),
                              const report::Params& params);

}  // namespace stepscope::analyze
