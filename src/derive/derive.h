// Columns computed from other columns, filled once when a Trace is sealed.
#pragma once

#include "trace/trace.h"

namespace stepscope::derive {

/// Fills every derived column of `rank`, on up to two threads.
void fill(const trace::Trace& trace, trace::Rank& rank, unsigned threads = 1);

}  // namespace stepscope::derive
