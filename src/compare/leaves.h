// Cuts the counted steps of a recording into leaves.
#pragma once

#include <vector>

#include "compare/counted_steps.h"
#include "compare/leaf.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// Longest first. Times are means over ranks. What the slowest rank takes beyond the mean is a leaf of its
/// own, and so is time in which nothing is recorded.
std::vector<Leaf> leaves_of(const trace::Trace& trace, const CountedSteps& counted);

}  // namespace stepscope::compare
