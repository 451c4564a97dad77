// What the device events and waiting calls of a plan waited for.
#pragma once

#include "derive/replay/plan.h"

namespace stepscope::derive {

/// Fills waits, requests, latencies and returns of a plan whose events and calls are known.
void find_waits(const trace::Trace& trace, const trace::Rank& rank, ReplayPlan& plan);

}  // namespace stepscope::derive
