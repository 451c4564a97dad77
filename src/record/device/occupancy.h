// How many blocks of a kernel a multiprocessor of an NVIDIA device holds at a time.
#pragma once

#include "record/device/format.h"

namespace stepscope::record {

/// Limited by registers, shared memory, warps and block slots, with the granularities of CUDA's occupancy
/// calculator since compute capability 7.0. 0: a block does not fit, or the device's attributes are not
/// known.
std::uint64_t resident_blocks(const Kernel& kernel, const DeviceAttributes& device);

struct Occupancy {
  double blocks_per_multiprocessor = 0, warps_per_multiprocessor = 0;
  std::int64_t percent = 0;  ///< resident threads / maximum per multiprocessor; also limited by the grid
};
Occupancy occupancy_of(const Kernel& kernel, const DeviceAttributes& device);

}  // namespace stepscope::record
