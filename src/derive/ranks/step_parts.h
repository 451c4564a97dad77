// What each step of a rank is made of, for comparing ranks.
#pragma once

#include <vector>

#include "derive/idle/device_busy.h"
#include "derive/idle/idle_cause.h"
#include "derive/ranks/stragglers.h"
#include "timeline/interval.h"

namespace stepscope::derive {

struct StepParts {
  std::vector<PartsOfStep> steps;
  timeline::IntervalSet communication;  ///< when it runs and no compute does, over all the steps
};

/// Parts of each of `steps`, which lie side by side, on one device; all communication is transfer. `pieces`:
/// its idle pieces in them. Each step's parts add up to its length. O(parts of the sets).
StepParts step_parts(const DeviceBusy& device, const Column<IdlePiece>& pieces,
                     const std::vector<timeline::Interval>& steps);

/// What of `communication` lies in `waits`, when collectives waited for other ranks, turns from transfer to
/// wait.
void tell_waits(std::vector<PartsOfStep>& parts, const timeline::IntervalSet& communication,
                const timeline::IntervalSet& waits, const std::vector<timeline::Interval>& steps);

}  // namespace stepscope::derive
