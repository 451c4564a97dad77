// How busy each device was, and how full when it was busy.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"

namespace stepscope::analyze {

/// One device of a rank in the window. Unknown values are report::kNoReal or kNoInt.
struct DeviceUse {
  std::int64_t rank, device;
  std::string name;
  // Shares of the window.
  double utilization = report::kNoReal;            ///< something runs
  double kernels = report::kNoReal;                ///< kernels run
  double exposed_communication = report::kNoReal;  ///< collectives run without compute
  double exposed_copy = report::kNoReal;           ///< copies run without kernels
  double sm_efficiency = report::kNoReal;          ///< multiprocessors have a block, on average
  double occupancy = report::kNoReal;              ///< of kernels, weighted by duration
  // Shares of compute kernel time, by kernel names.
  double tensor_cores = report::kNoReal;   ///< on matrix units
  double plain_cores = report::kNoReal;    ///< matrix work on plain cores; kNoReal without matrix units
  double unknown_cores = report::kNoReal;  ///< on units that the names do not show
  double fp64 = report::kNoReal;           ///< in fp64
  double plain_gain = report::kNoReal, fp64_gain = report::kNoReal;  ///< peak of bf16 ÷ peak of fp32, of fp64
  std::int64_t busy = 0, window = 0;                                 ///< ns
  std::int64_t memory = report::kNoInt;                              ///< bytes
  int compute_major = 0, compute_minor = 0;                          ///< 0.0 if not known
};

/// One hundredth of a device's window. `time`: its begin, ns since the first event of the file.
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
