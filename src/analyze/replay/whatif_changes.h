// Turns scales into a replay's changes.
#pragma once

#include <span>
#include <vector>

#include "analyze/replay/scale.h"
#include "derive/replay/replay.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// By rank of the trace: whether a `straggler` of `scales` names it; empty if none does.
std::vector<bool> stragglers_in(std::span<const Scale> scales, const trace::Trace& trace);

/// Adds the changes of `scales`, except stragglers; false if nothing in the rank is of these kinds or names.
/// One pass over the rank per kind and factor, however many names they have.
bool add_changes(const trace::Trace& trace, const trace::Rank& rank, const derive::ReplayPlan& plan,
                 std::span<const Scale> scales, derive::Changes& changes);

}  // namespace stepscope::analyze
