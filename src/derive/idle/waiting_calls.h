// Host calls that returned only after device work was done.
#pragma once

#include <vector>

#include "derive/idle/launch_queue.h"
#include "trace/trace.h"

namespace stepscope::derive {

enum class Waiting : std::uint8_t {
  no,
  work,   ///< a blocking call, or a copy call that waited for its copy
  queue,  ///< a launch that waited for room in the launch queue
};

/// By row. A call inside a waiting call is part of it and does not count. O(n).
std::vector<Waiting> waiting_calls(const trace::Trace& trace, const trace::Rank& rank,
                                   const LaunchQueue& queue);

}  // namespace stepscope::derive
