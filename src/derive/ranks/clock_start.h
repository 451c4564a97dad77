// A first guess of every clock's offset and drift, from the pairs that share the most collectives.
#pragma once

#include <vector>

#include "derive/ranks/clock_ends.h"

namespace stepscope::derive {

/// Maps and components of all clocks. The guess follows a spanning tree of the clocks, by number of common
/// collectives. Along each edge, offset and drift are the line with the least median distance from the ends
/// (Rousseeuw), refitted by least squares without outliers. With fewer than 3 common collectives, or within
/// half a second, the drift is 0.
std::vector<ClockFit> first_guess(const std::vector<ClockEnd>& ends, std::size_t clocks);

}  // namespace stepscope::derive
