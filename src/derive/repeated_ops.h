// Loops in the program, as the recording shows them: the same few operators called again and again from one
// place.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

struct RepeatedOps {
  trace::Row first, last;  ///< the first operator and the last; what they call lies between them or in `last`
  trace::Row parent;       ///< the range that calls them, kNoRow: none
  std::uint32_t unit;      ///< operators in one round
  std::int64_t times;      ///< rounds
};

/// Runs of at least 10 rounds of 1 to 8 operators directly below one range; Python's built-in frames between
/// them are looked through. Operators of autograd's nodes do not count: those are layers. By end of the run.
/// O(n).
std::vector<RepeatedOps> repeated_ops(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
