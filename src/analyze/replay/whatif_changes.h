// What scales speak of, found in a rank.
#pragma once

#include <span>
#include <vector>

#include "analyze/replay/scale.h"
#include "derive/replay/replay.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// By rank of the trace: whether a `straggler` of `scales` speaks of it; empty when none does.
std::vector<bool> stragglers_in(std::span<const Scale> scales, const trace::Trace& trace);

/// Adds what `scales` ask for, stragglers aside; false if nothing in the rank is of these kinds or names.
/// Takes a pass over the rank for each kind and factor, however many names they have.
bool add_changes(const trace::Trace& trace, const trace::Rank& rank, const derive::ReplayPlan& plan,
                 std::span<const Scale> scales, derive::Changes& changes);

}  // namespace stepscope::analyze
