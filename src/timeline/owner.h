// Who owns each instant when several things go on at once.
#pragma once

#include <cstddef>
#include <span>

#include "timeline/interval.h"

namespace stepscope::timeline {

/// Something that goes on for a while and may own the time.
struct Claim {
  Interval span;
  int priority = 0;
};

/// A stretch that one claim owns, by its index.
struct Owned {
  Interval span;
  std::size_t claim;
};

/// Each instant that any claim covers goes to the one of highest priority; of equals to the one that began
/// last, of those that began together to the one that comes last. Pieces are disjoint and in time order.
/// O(n log n).
Column<Owned> owned_by(std::span<const Claim> claims);

}  // namespace stepscope::timeline
