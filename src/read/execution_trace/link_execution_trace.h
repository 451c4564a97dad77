// Adds the data of an execution trace to a rank's ops, as args.
#pragma once

#include "read/execution_trace/execution_trace.h"
#include "trace/trace.h"

namespace stepscope::read {

/// Finds the rank that `nodes` belong to and adds what its ops lack: inputs, outputs, the schema. An op
/// matches a node when both id and name are equal. Always adds to the trace's companions and notes. Ranks
/// must have their numbers, and nothing may be derived yet.
void link_execution_trace(trace::Trace& trace, ExecutionTrace nodes);

}  // namespace stepscope::read
