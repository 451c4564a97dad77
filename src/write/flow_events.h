// The events that flow arrows connect.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace stepscope::write {

/// The innermost slice of `track` at `time`, in which a flow's end lies. kNoRow without one.
trace::Row slice_at(const trace::Rank& rank, const trace::Track& track, std::int64_t time);

/// By row of the FlowTable: the event that the arrow leaves, and the one that it reaches.
struct FlowEvents {
  std::vector<trace::Row> from, to;
};

/// Ends belong together by category and id. An arrow begins at the last end with phase s or t before it.
FlowEvents flow_events(const trace::Rank& rank);

}  // namespace stepscope::write
