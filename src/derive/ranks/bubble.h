// What a stage of a pipeline loses of its steps.
#pragma once

#include <vector>

#include "derive/idle/device_busy.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// What of a step is neither compute, nor a copy, nor a collective that is no send or receive.
struct Bubble {
  timeline::Time messages = 0;  ///< ns in which only sends and receives run, and mostly wait
  timeline::Time idle = 0;      ///< ns in which nothing runs
  timeline::Time length() const { return messages + idle; }
};

/// Of each of `steps` on one device; empty when no send or receive runs there.
std::vector<Bubble> bubbles(const trace::Trace& trace, const trace::Rank& rank, const DeviceBusy& device,
                            const std::vector<timeline::Interval>& steps);

}  // namespace stepscope::derive
