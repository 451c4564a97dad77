// How busy each device was, and how full when it was busy.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"

namespace stepscope::analyze {

/// One device of a rank in the window; report::kNoReal and kNoInt for what is not known.
struct DeviceUse {
  std::int64_t rank, device;
  std::string name;
  double utilization = report::kNoReal;            ///< share of the window: something runs
  double kernels = report::kNoReal;                ///< likewise: kernels run
  double exposed_communication = report::kNoReal;  ///< likewise: collectives without compute
  double exposed_copy = report::kNoReal;           ///< likewise: copies without kernels
  double sm_efficiency = report::kNoReal;          ///< likewise: multiprocessors have a block, on average
  double occupancy = report::kNoReal;              ///< of kernels, weighted with durations
  double tensor_cores = report::kNoReal;           ///< share of compute kernels' time, by their names
  double plain_cores =
      report::kNoReal;  ///< likewise: products and convolutions; where there are matrix units
  double unknown_cores = report::kNoReal;                            ///< likewise
  double fp64 = report::kNoReal;                                     ///< likewise
  double plain_gain = report::kNoReal, fp64_gain = report::kNoReal;  ///< bf16's peak ÷ fp32's, fp64's
  std::int64_t busy = 0, window = 0;                                 ///< ns
  std::int64_t memory = report::kNoInt;                              ///< bytes
  int compute_major = 0, compute_minor = 0;                          ///< 0.0 where it has none
};

/// One hundredth of a device's window. `time`: its begin, ns from the first event of the file.
struct UseOverTime {
  std::int64_t rank, device, time;
  double utilization, sm_efficiency;  ///< as in DeviceUse
};

struct Devices {
  std::vector<DeviceUse> devices;
  std::vector<UseOverTime> over_time;
  std::vector<std::string> notes;
};
Devices devices_of(const Derived& derived);

}  // namespace stepscope::analyze
