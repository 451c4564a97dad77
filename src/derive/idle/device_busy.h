// Busy times of each device by kind of work, as interval sets.
#pragma once

#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

struct DeviceBusy {
  std::int64_t device = 0;
  timeline::IntervalSet compute;        ///< compute kernels
  timeline::IntervalSet communication;  ///< collective kernels
  timeline::IntervalSet copy;           ///< copies and fills
  timeline::IntervalSet kernels;        ///< compute and communication
  timeline::IntervalSet all;            ///< all of the above
};

/// One entry per device with work, by device index. A device is busy when any of its streams is.
std::vector<DeviceBusy> busy_devices(const trace::Rank& rank);

/// When any of `devices` was busy.
timeline::IntervalSet busy_time(const std::vector<DeviceBusy>& devices);

}  // namespace stepscope::derive
