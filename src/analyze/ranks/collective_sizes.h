// Matched collectives by group, kind and size: how far apart ranks came, how long they waited, how fast data
// moved.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "derive/ranks/collective_times.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class Derived;

/// One collective that all its ranks began in their windows.
struct MatchedCollective {
  std::string group;      ///< what the program calls it: its description, else its name
  std::int64_t ranks;     ///< of the group, 0: not recorded
  std::string_view span;  ///< "one host", "several hosts"; "": not known
  derive::Exchange exchange;
  std::string_view dtype;
  std::int64_t bytes;    ///< of the rank that gives or takes most, 0: not recorded
  timeline::Time wait;   ///< summed over ranks; kNoTime: not known
  timeline::Time total;  ///< likewise of the durations
  derive::CollectiveTime time;
  bool too_short;  ///< for a rate: under 3 ticks of a clock, or under what the clocks are off
  bool whole;      ///< all ranks that take part are open
};

std::vector<MatchedCollective> matched_collectives(const Derived& derived,
                                                   const derive::CollectiveTimes& times);

report::Table size_table(const std::vector<MatchedCollective>& collectives);

/// What a collective takes beyond what its size explains, and the rate at which it grows with its size: the
/// line through the median transfers of each size, of those families that have sizes enough.
report::Table latency_table(const std::vector<MatchedCollective>& collectives);

}  // namespace stepscope::analyze
