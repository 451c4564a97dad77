// The compute kernels of a rank's steps, for comparing ranks: how many of each there are, and how long.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

struct KernelTotals {
  /// Kernels of one name, grid and block; ranks of one process know them by the same number.
  struct Equal {
    std::uint64_t kernel;
    std::int64_t count = 0;
    double time = 0;  ///< ns
  };
  std::int64_t steps = 0;
  std::vector<Equal> kernels;  ///< in the order in which each ran first
};

/// `chosen`: by index of the rank's steps.
KernelTotals kernel_totals(const trace::Trace& trace, const trace::Rank& rank,
                           const std::vector<bool>& chosen);

/// What a rank's kernels are beside another's. Equal ones that both run as often are the same work.
struct KernelDifference {
  double calls = 0, others_calls = 0;  ///< per step
  double same = 0;  ///< of the rank's kernel time: in kernels that the other runs as often per step
  double pace = 0;  ///< time of these ÷ what they take on the other; 0 without any
  double even = 0;  ///< of the time of these: in kernels whose own ratio is within 10 % of that
};
KernelDifference kernel_difference(const KernelTotals& own, const KernelTotals& other);

}  // namespace stepscope::derive
