// Count and time of each compute kernel in a rank's steps, for comparing ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

struct KernelTotals {
  /// Kernels with the same name, grid and block. `kernel` is the hash of these three. It changes from process
  /// to process: compare it only within one.
  struct Equal {
    std::uint64_t kernel;
    std::int64_t count = 0;
    double time = 0;  ///< ns
  };
  std::int64_t steps = 0;
  std::vector<Equal> kernels;  ///< in order of first run
};

/// `chosen`: by index of the rank's steps, true to include the step.
KernelTotals kernel_totals(const trace::Trace& trace, const trace::Rank& rank,
                           const std::vector<bool>& chosen);

/// A rank's kernels compared with another rank's. Equal kernels that both run equally often are the same
/// work.
struct KernelDifference {
  double calls = 0, others_calls = 0;  ///< per step
  double same = 0;                     ///< same work: share of the rank's kernel time
  double pace = 0;  ///< time of the same work ÷ its time on the other rank; 0 if there is none
  double even = 0;  ///< share of the same work's time in kernels whose own ratio is within 10 % of `pace`
};
KernelDifference kernel_difference(const KernelTotals& own, const KernelTotals& other);

}  // namespace stepscope::derive
