// Time that a pipeline stage loses in each step.
#pragma once

#include <vector>

#include "derive/idle/device_busy.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Time of a step without compute, copies and collectives. Sends and receives do not count as collectives.
struct Bubble {
  timeline::Time messages = 0;  ///< ns in which only sends and receives run, and mostly wait
  timeline::Time idle = 0;      ///< ns in which nothing runs
  timeline::Time length() const { return messages + idle; }
};

/// The bubble of each of `steps` on one device; empty if no send or receive runs on the device.
std::vector<Bubble> bubbles(const trace::Trace& trace, const trace::Rank& rank, const DeviceBusy& device,
                            const std::vector<timeline::Interval>& steps);

}  // namespace stepscope::derive
