// The parts of each step of a rank, for comparing ranks.
#pragma once

#include <vector>

#include "derive/idle/device_busy.h"
#include "derive/idle/idle_cause.h"
#include "derive/ranks/stragglers.h"
#include "timeline/interval.h"

namespace stepscope::derive {

struct StepParts {
  std::vector<PartsOfStep> steps;
  timeline::IntervalSet communication;  ///< while no compute runs, over all steps
};

/// Parts of each of `steps` on one device; the steps are adjacent. All communication counts as transfer.
/// `pieces` are the device's idle pieces in the steps. Each step's parts add up to its length. O(parts of the
/// sets).
StepParts step_parts(const DeviceBusy& device, const Column<IdlePiece>& pieces,
                     const std::vector<timeline::Interval>& steps);

/// Moves time from transfer to wait: the part of `communication` inside `waits`, in which collectives waited
/// for other ranks.
void tell_waits(std::vector<PartsOfStep>& parts, const timeline::IntervalSet& communication,
                const timeline::IntervalSet& waits, const std::vector<timeline::Interval>& steps);

}  // namespace stepscope::derive
