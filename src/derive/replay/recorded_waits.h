// Waits that the recording itself contains: CUDA synchronisation events.
#pragma once

#include "derive/replay/plan.h"

namespace stepscope::derive {

struct RecordedWaits {
  std::vector<ReplayPlan::Wait> events;  ///< waits of device events for device events, by event
  std::vector<std::int32_t> calls;       ///< by call of the plan: the device event it waited for, or kNone
};

/// From rows of kind device_sync. A stream that waits for an event continues when all work launched on the
/// other stream before the event was recorded has ended. The same holds for a call that waits for a stream or
/// an event.
RecordedWaits recorded_waits(const trace::Trace& trace, const trace::Rank& rank, const ReplayPlan& plan);

}  // namespace stepscope::derive
