// A first guess of all clocks, along the pairs that share most collectives.
#pragma once

#include <vector>

#include "derive/ranks/clock_ends.h"

namespace stepscope::derive {

/// Maps of all clocks and their components. Along each edge of a spanning tree of the clocks, by number of
/// common collectives, offset and drift are the medians over pairs of ends (Theil and Sen), refitted by least
/// squares without outliers. With fewer than 3 common collectives, or within half a second, the drift is 0.
std::vector<ClockFit> first_guess(const std::vector<ClockEnd>& ends, std::size_t clocks);

}  // namespace stepscope::derive
