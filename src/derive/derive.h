// Columns that follow from others, filled once when a Trace is sealed.
#pragma once

#include "trace/trace.h"

namespace stepscope::derive {

/// Fills every derived column of `rank` in dependency order.
void fill(const trace::Trace& trace, trace::Rank& rank);

}  // namespace stepscope::derive
