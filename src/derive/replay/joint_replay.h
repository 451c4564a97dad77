// Replay of several ranks, which wait for each other in their collectives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derive/replay/meetings.h"
#include "derive/replay/replay.h"

namespace stepscope::derive {

struct JointChanges {
  std::vector<Changes> ranks;  ///< by rank of the trace; empty: no changes
  std::vector<bool> absent;    ///< by rank: the other ranks run without it; empty: no rank is absent
  Gathering::Pace pace = Gathering::Pace::last;
};

struct JointReplayed {
  std::vector<Replayed> ranks;  ///< by rank of the trace; empty for an absent rank
  std::int64_t given_up = 0;    ///< meetings that kept their recorded length because ranks waited in a circle
};

/// Replays each rank as `replay` does, on its own clock. In a meeting, the factor of a device event scales
/// the transfer; the wait for the last rank follows from when all ranks arrive.
JointReplayed joint_replay(const trace::Trace& trace, std::span<const ReplayPlan* const> plans,
                           const Meetings& meetings, const JointChanges& changes);

}  // namespace stepscope::derive
