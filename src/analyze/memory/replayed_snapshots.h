// The replays of the snapshots' devices, and what must be said of each recording before its numbers.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/allocator/allocator_replay.h"
#include "derive/allocator/stack_places.h"

namespace stepscope::analyze {

/// One replay per device of the rank's snapshot; none without a snapshot.
const std::vector<derive::AllocatorReplay>& replays_of(const Derived& derived, const trace::Rank& rank);

/// What to record, if no rank has a snapshot.
extern const char* const kNoSnapshotNote;

/// Sentences about how complete the snapshot is: dropped events, frees without allocations, stacks without
/// Python frames, what events and final state disagree on, damage.
std::vector<std::string> capture_health(const trace::Trace& trace, const trace::Rank& rank,
                                        const std::vector<derive::AllocatorReplay>& replays);

/// The same without the events: what is wrong with the final state.
std::vector<std::string> state_health(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::analyze
