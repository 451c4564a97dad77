// Clocks that do not run evenly, because of their temperature or of a time service that corrects them.
#pragma once

#include <cstddef>
#include <vector>

#include "derive/ranks/clock_ends.h"

namespace stepscope::derive {

/// By clock: ns by which it leaves its fitted line at most, 0 where noise explains the residuals. Each
/// clock's ends are cut by time into blocks of equal size; a bend shows in the blocks' medians. `residuals`:
/// by end, ns.
std::vector<double> bends_of(const std::vector<ClockEnd>& ends, const std::vector<double>& residuals,
                             std::size_t clocks);

}  // namespace stepscope::derive
