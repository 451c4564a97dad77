// A slow rank's work in the part where it is slow, compared with its peers.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/derived.h"
#include "derive/ranks/stragglers.h"

namespace stepscope::analyze {

/// Times of one part, ns: per step, or in the one step in which the straggler is slow.
struct PartTimes {
  timeline::Time own = 0;
  timeline::Time others = 0;  ///< median of the peers
  timeline::Time apart = 0;   ///< max distance of a peer from `others`
};
/// `parts[rank][step]`; `peers`: of the straggler, including itself.
PartTimes part_times(const std::vector<std::vector<derive::PartsOfStep>>& parts,
                     const derive::Straggler& straggler, const std::vector<std::uint32_t>& peers);

/// Compute kernels of a slow rank compared with those of `against`, the peer with the median compute time.
struct SlowKernels {
  std::int64_t rank, against;
  double calls, others_calls;  ///< per step
  double same;  ///< share of the rank's kernel time in common kernels: equal name, grid, block and count
  double pace;  ///< time of the common kernels / their time on the peer
  double even;  ///< share of that time in kernels whose own ratio is within 10 % of `pace`
};
/// Only stragglers that compute longer in every step. `peers`: by straggler.
std::vector<SlowKernels> slow_kernels(const Derived& derived,
                                      const std::vector<std::vector<derive::PartsOfStep>>& parts,
                                      const std::vector<derive::Straggler>& stragglers,
                                      const std::vector<std::vector<std::uint32_t>>& peers);

}  // namespace stepscope::analyze
