// The rows of the trace tables about a memory snapshot: what its allocator did, from where, and its final
// blocks.
#pragma once

#include "write/trace_rows.h"

namespace stepscope::write {

/// Each passes a rank's rows and returns false if the sink ended the table. A rank without a snapshot has
/// none.
bool put_allocator_events(const trace::Trace& trace, const trace::Rank& rank, RowSink& sink);
bool put_allocator_stacks(const trace::Trace& trace, const trace::Rank& rank, RowSink& sink);
bool put_allocator_blocks(const trace::Trace& trace, const trace::Rank& rank, RowSink& sink);

}  // namespace stepscope::write
