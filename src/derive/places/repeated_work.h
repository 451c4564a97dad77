// What a backward pass does a second time.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/places/short_operators.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Sums over what begins in a window, on all threads.
struct RepeatedWork {
  timeline::Time recomputed = 0;  ///< ns: operators of the forward pass that the backward pass repeats
  timeline::Time again = 0;       ///< ns: nodes that go through an operator again, after the first time
  std::int64_t nodes = 0;         ///< nodes with a sequence number
  std::int64_t deeper = 0;  ///< of these, nodes of operators that another node called: gradients of gradients
};
RepeatedWork repeated_work(const trace::Trace& trace, const trace::Rank& rank,
                           const std::vector<NodeOf>& nodes, timeline::Interval window);

}  // namespace stepscope::derive
