// HTA's tree of calls (common/trace_call_graph.py): events of each host thread by nesting, device events
// below the calls that launched them.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/hta/rows.h"

namespace stepscope::analyze::hta {

struct Node {
  std::int32_t parent = -1;  ///< position in Table::events, -1: none
  std::int32_t depth = -1;   ///< 0 at the top, -1: in no tree
  std::int32_t height = -1;  ///< 0 for device events, 1 for calls without children, -1: in no tree
  std::int64_t kernels = 0;  ///< device events at or below it
  Time kernel_time = 0;      ///< sum of their durations
  Time first_kernel = 0, last_kernel = 0;  ///< start of the first, end of the last, if `kernels` > 0
};

/// One node per event of the table.
std::vector<Node> call_graph(const trace::Trace& trace, const Table& table);

}  // namespace stepscope::analyze::hta
