// Whether the nodes of an execution trace make a tree.
#pragma once

#include <string>
#include <vector>

#include "read/execution_trace/execution_trace.h"

namespace stepscope::read {

/// Sentences: ids that are not unique, parents that are not there or go round, ops without outputs.
std::vector<std::string> graph_faults(const ExecutionTrace& trace);

}  // namespace stepscope::read
