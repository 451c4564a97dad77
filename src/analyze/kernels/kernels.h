// Which kernels ran on the device, how long, and how well they fill it; short kernels, copies and fills.
#pragma once

#include <string>
#include <vector>

#include "analyze/kernels/conv_setup.h"
#include "analyze/kernels/kernel_drift.h"
#include "analyze/kernels/kernel_groups.h"
#include "analyze/kernels/low_occupancy.h"
#include "analyze/kernels/named_copies.h"
#include "analyze/kernels/recomputed_work.h"
#include "derive/kernel_kind.h"
#include "derive/roof/matrix_cores.h"

namespace stepscope::analyze {

/// Kernels of one row. Times in ns; `op` to `shared_memory` are set only when grouping by properties.
struct KernelTimes {
  std::int64_t rank;
  std::string name, op, grid, block;
  std::int64_t registers, shared_memory;  ///< per thread; bytes per block
  std::int64_t count, total;
  double share;  ///< of the total time of the rank's kernels
  std::int64_t mean, p50, p95, min, max;
  double blocks_per_sm, occupancy;  ///< means weighted by duration
  derive::MatrixCores matrix_cores;
  bool communication;
};

/// Kernels shorter than `below`. Times in ns.
struct ShortKernels {
  std::int64_t rank, below, count;
  double share;  ///< of the number of the rank's kernels
  std::int64_t total;
  double time_share;  ///< of the total time of the rank's kernels
};

/// Compute kernels of one kind. Times in ns.
struct KernelKindTimes {
  std::int64_t rank;
  derive::KernelKind kind;
  std::int64_t count, total;
  double share;    ///< of the time of all the rank's compute kernels
  double small;    ///< share of `total` in kernels with fewer blocks than multiprocessors
  double chained;  ///< share of `total` saved by fusing runs of neighbours: chained_time()
};

struct Kernels {
  std::vector<KernelTimes> kernels;
  std::vector<ShortKernels> shorts;
  std::vector<NamedCopies> copies;
  std::vector<KernelKindTimes> kinds;
  std::vector<LowOccupancy> low_occupancy;
  std::vector<KernelDrift> drift;
  std::vector<RecomputedWork> recomputed;
  std::vector<ConvSetup> convolutions;
  std::vector<std::string> notes;
};
Kernels kernels_of(const trace::Trace& trace, const StepChoice& choice, KernelsBy by = KernelsBy::name);

}  // namespace stepscope::analyze
