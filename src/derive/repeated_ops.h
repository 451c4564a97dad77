// Loops in the program, as seen in the recording: the same few operators called repeatedly from one place.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

struct RepeatedOps {
  trace::Row first, last;  ///< first and last operator; their callees lie between them or in `last`
  trace::Row parent;       ///< the range that calls them, kNoRow if none
  std::uint32_t unit;      ///< operators in one round
  std::int64_t times;      ///< rounds
};

/// Runs of at least 10 rounds of 1 to 8 operators directly below one range. Python's built-in frames between
/// the range and the operators are ignored. Operators of autograd's nodes do not count: repeated nodes are
/// layers. Sorted by end of the run. O(n).
std::vector<RepeatedOps> repeated_ops(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
