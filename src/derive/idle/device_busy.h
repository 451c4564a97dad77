// When each device did what, as sets of time.
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
  timeline::IntervalSet all;            ///< any of them
};

/// One entry per device with work, by device index. Streams are united: a device is busy when any stream is.
std::vector<DeviceBusy> busy_devices(const trace::Rank& rank);

/// When any of them was.
timeline::IntervalSet busy_time(const std::vector<DeviceBusy>& devices);

}  // namespace stepscope::derive
