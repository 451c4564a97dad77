// What every answer of a timeline is made from.
#pragma once

#include <cstdint>
#include <vector>

#include "lanes/clock.h"
#include "lanes/counter.h"
#include "lanes/family.h"
#include "lanes/lane.h"
#include "lanes/names.h"
#include "trace/trace.h"

namespace stepscope::lanes {

/// Refers to its trace.
struct Run {
  Run(const trace::Trace& its_trace, unsigned threads);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const trace::Trace& trace;
  derive::Alignment alignment;  ///< empty for a single rank
  RunClock clock;
  Names names;
  Families families;
  Lanes lanes;
  std::vector<Counter> counters;
  Time end = 0;  ///< ns: of the last event

  const trace::Rank& rank_of(const Lane& lane) const { return trace.ranks[lane.rank]; }
  RowEvents events(const Lane& lane, const LaneRow& row) const { return events_of(trace, clock, lane, row); }
  report::Family family_of(std::size_t rank, trace::Row row) const {
    const trace::TrackId track = trace.ranks[rank].events.track[row];
    return families.of(trace.ranks[rank], row, lanes.is_autograd[rank][track]);
  }
};

}  // namespace stepscope::lanes
