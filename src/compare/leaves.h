// Cuts the counted steps of a recording into leaves.
#pragma once

#include <vector>

#include "compare/counted_steps.h"
#include "compare/leaf.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// By falling time. What several ranks do is their mean; what the slowest rank takes beyond the mean is a
/// leaf of its own, and so are instants of which nothing is recorded.
std::vector<Leaf> leaves_of(const trace::Trace& trace, const CountedSteps& counted);

}  // namespace stepscope::compare
