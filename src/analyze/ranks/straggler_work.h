// What a slow rank does in its part of the step, beside what the ranks do that it is compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/derived.h"
#include "derive/ranks/stragglers.h"

namespace stepscope::analyze {

/// ns per step of one part; of a straggler in one step: in it.
struct PartTimes {
  timeline::Time own = 0;
  timeline::Time others = 0;  ///< the middle one of the peers'
  timeline::Time apart = 0;   ///< what a peer is away from that at most
};
/// `parts[rank][step]`; `peers`: of the straggler, itself among them.
PartTimes part_times(const std::vector<std::vector<derive::PartsOfStep>>& parts,
                     const derive::Straggler& straggler, const std::vector<std::uint32_t>& peers);

/// Compute kernels of a slow rank beside those of the peer whose compute time is the middle one.
struct SlowKernels {
  std::int64_t rank, against;
  double calls, others_calls;  ///< per step
  double same;  ///< of the rank's kernel time: of a name, grid and block that both run as often
  double pace;  ///< time of these / their time on the peer
  double even;  ///< of that time: in kernels whose own ratio is within 10 % of it
};
/// Of those that compute longer in every step. `peers`: by straggler.
std::vector<SlowKernels> slow_kernels(const Derived& derived,
                                      const std::vector<std::vector<derive::PartsOfStep>>& parts,
                                      const std::vector<derive::Straggler>& stragglers,
                                      const std::vector<std::vector<std::uint32_t>>& peers);

}  // namespace stepscope::analyze
