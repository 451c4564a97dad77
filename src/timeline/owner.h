// Assigns each instant to one of several overlapping intervals.
#pragma once

#include <cstddef>
#include <span>

#include "timeline/interval.h"

namespace stepscope::timeline {

/// An interval that may own time.
struct Claim {
  Interval span;
  int priority = 0;
};

/// A piece of time and the index of the claim that owns it.
struct Owned {
  Interval span;
  std::size_t claim;
};

/// Assigns each instant to the claim of highest priority that covers it; among equals to the one that began
/// last, then to the one last in `claims`. The pieces are disjoint and in order of time. O(n log n).
Column<Owned> owned_by(std::span<const Claim> claims);

}  // namespace stepscope::timeline
