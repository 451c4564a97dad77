// The plugin's device metrics and tensor-core ratios, shared by its device table and its recommendations.
#pragma once

#include <map>
#include <optional>

#include "analyze/tb/events.h"
#include "analyze/tb/tree.h"

namespace stepscope::analyze::tb {

struct DeviceMetrics {
  double utilization = 0;               ///< share of the window with a kernel running; copies do not count
  std::optional<double> sm_efficiency;  ///< share of 1; absent when no kernel of the device has blocks per SM
  std::optional<double> occupancy;      ///< percent; absent when no kernel has it inside the window
  std::optional<double>
      tensor_core_share;  ///< of kernel time that operators launched; absent when there is none
};

/// By the kernels' `device` arg; ids of 64 and more are left out. `window` is StepWindows::all().
std::map<std::int64_t, DeviceMetrics> device_metrics(const Forest& forest, timeline::Interval window);

struct TensorCoreRatios {
  double used = 0;      ///< of all kernel time, the share of kernels taken to use tensor cores
  double eligible = 0;  ///< of kernel time launched by operators, the share of the lowest eligible ones
};
TensorCoreRatios tensor_core_ratios(const Forest& forest);

}  // namespace stepscope::analyze::tb
