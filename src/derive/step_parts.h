// What each step of a rank is made of, for comparing ranks.
#pragma once

#include <vector>

#include "derive/device_busy.h"
#include "derive/idle_cause.h"
#include "derive/stragglers.h"
#include "timeline/interval.h"

namespace stepscope::derive {

/// Parts of each of `steps`, which lie side by side, on one device. `pieces`: its idle pieces in them;
/// `waits`: when its collectives waited for other ranks. Each step's parts add up to its length. O(parts of
/// the sets).
std::vector<PartsOfStep> step_parts(const DeviceBusy& device, const Column<IdlePiece>& pieces,
                                    const timeline::IntervalSet& waits,
                                    const std::vector<timeline::Interval>& steps);

}  // namespace stepscope::derive
