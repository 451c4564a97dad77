// Element-wise operators, and the calls that they belong to.
#pragma once

#include <utility>
#include <vector>

#include "derive/places/short_operators.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// (the outermost operator that it is part of, ns) of each element-wise operator that begins in the window
/// and is inside no other one. One below an autograd node is a part of the operator that the node goes back
/// through; kNoRow if that is not recorded. O(rows × depth).
std::vector<std::pair<trace::Row, timeline::Time>> element_wise_calls(const trace::Trace& trace,
                                                                      const trace::Rank& rank,
                                                                      const std::vector<NodeOf>& nodes,
                                                                      timeline::Interval window);

}  // namespace stepscope::derive
