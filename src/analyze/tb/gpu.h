// The plugin's device metrics and tensor-core ratios, shared by its device table and its recommendations.
#pragma once

#include <vector>

#include "analyze/tb/events.h"
#include "analyze/tb/tree.h"

namespace stepscope::analyze::tb {

/// Shares; kNoReal if absent.
struct DeviceMetrics {
  std::int64_t rank, device;
  double utilization = 0;                      ///< share of the window in which a kernel runs, not a copy
  double sm_efficiency = report::kNoReal;      ///< absent when no kernel of the device has blocks per SM
  double occupancy = report::kNoReal;          ///< absent when no kernel has it inside the window
  double tensor_core_share = report::kNoReal;  ///< of the time of kernels that operators launched
};

/// One entry per `device` arg of kernels, in ascending order; ids of 64 and more are left out. `window` is
/// StepWindows::all().
std::vector<DeviceMetrics> device_metrics(const Forest& forest, timeline::Interval window);

struct TensorCoreRatios {
  double used = 0;      ///< share of all kernel time in kernels taken to use tensor cores
  double eligible = 0;  ///< share of operators' kernel time launched by the innermost eligible operators
};
TensorCoreRatios tensor_core_ratios(const Forest& forest);

}  // namespace stepscope::analyze::tb
