// Replay of several ranks, which wait for each other in their collectives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derive/replay/meetings.h"
#include "derive/replay/replay.h"

namespace stepscope::derive {

struct JointChanges {
  std::vector<Changes> ranks;  ///< by rank of the trace; empty: none
  std::vector<bool> absent;    ///< by rank: the others do without it; empty: none
  Gathering::Pace pace = Gathering::Pace::last;
};

struct JointReplayed {
  std::vector<Replayed> ranks;  ///< by rank of the trace; of an absent one nothing
  std::int64_t given_up = 0;    ///< meetings that kept their recorded length, as ranks waited in a circle
};

/// Each rank as by `replay`, on its own clock; of a device event in a meeting a factor is that of the
/// transfer, and what it waits for the last rank follows from when all ranks come.
JointReplayed joint_replay(const trace::Trace& trace, std::span<const ReplayPlan* const> plans,
                           const Meetings& meetings, const JointChanges& changes);

}  // namespace stepscope::derive
