// What an execution trace tells of a rank's ops, given to them as args.
#pragma once

#include "read/execution_trace/execution_trace.h"
#include "trace/trace.h"

namespace stepscope::read {

/// Finds the rank that `nodes` tell of and gives its ops what they lack: inputs, outputs, the schema. An op
/// is a node's when both the id and the name are the same. Adds to the trace's companions and notes, in any
/// case. The ranks have their numbers, and nothing is derived yet.
void link_execution_trace(trace::Trace& trace, ExecutionTrace nodes);

}  // namespace stepscope::read
