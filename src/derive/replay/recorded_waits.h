// Waits that the recording itself states: CUDA synchronisation events.
#pragma once

#include "derive/replay/plan.h"

namespace stepscope::derive {

struct RecordedWaits {
  std::vector<ReplayPlan::Wait> events;  ///< device event on device event, by event
  std::vector<std::int32_t> calls;       ///< by call of the plan: the device event it waited for, or kNone
};

/// From rows of kind device_sync: a stream that waits for an event goes on when what had been launched on the
/// other stream before the event was recorded has ended; a call that waits for a stream or an event likewise.
RecordedWaits recorded_waits(const trace::Trace& trace, const trace::Rank& rank, const ReplayPlan& plan);

}  // namespace stepscope::derive
