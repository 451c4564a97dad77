// The events that flow arrows connect.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// An arrow from one slice to another.
struct Arrow {
  trace::Row begin, end;  ///< rows of the FlowTable
  trace::Row from, to;    ///< the slices in which they lie
};

struct Arrows {
  std::vector<trace::Row> slices;  ///< by row of the FlowTable: the innermost slice there, or kNoRow
  std::vector<Arrow> arrows;       ///< by time of their ends
};

/// Follows the ids of the file as a reader of Chrome's JSON does: an arrow runs from the last start or step
/// of a category and id to each step and end after it. Ids may be used again, and one start may have several
/// ends.
Arrows arrows_of(const trace::Rank& rank);

/// By row of the FlowTable: the event that the arrow leaves, and the one that it reaches; kNoRow if it is not
/// known.
struct FlowEvents {
  std::vector<trace::Row> from, to;
};
FlowEvents flow_events(const trace::Rank& rank);

}  // namespace stepscope::derive
