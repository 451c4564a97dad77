// Operators that take longer to call than to compute, and the operators that autograd's nodes go back
// through.
#pragma once

#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// A shorter call costs about as much as its work. Measured: an operator on a small tensor takes 2 to 30 µs,
/// and autograd, the module around it and Python as much again.
inline constexpr timeline::Time kShortOperator = 100'000;  // ns

/// A node of autograd that no other node contains, and the operator that made it.
struct NodeOf {
  trace::Row node;
  trace::Row maker = trace::kNoRow;  ///< kNoRow: another node called it, or it is not recorded
  trace::Row maker_node =
      trace::kNoRow;  ///< without `maker`: the node that called the operator (gradients of gradients)
};
std::vector<NodeOf> nodes_with_makers(const trace::Trace& trace, const trace::Rank& rank);

/// A thread's outermost operators, nodes left out, in order.
std::vector<trace::Row> outermost_operators(const trace::Trace& trace, const trace::Rank& rank,
                                            trace::TrackId thread);

/// Where a thread is in operators that autograd's nodes call.
timeline::IntervalSet operators_below_nodes(const trace::Trace& trace, const trace::Rank& rank,
                                            trace::TrackId thread);

/// The outermost operator around an operator, nodes included; kNoRow for kNoRow. O(depth).
trace::Row outermost(const trace::Rank& rank, trace::Row op);

/// Of `rows`, ranges of one thread in order, the time of one that is short: until the next one begins if at
/// most kShortOperator lies between them, else until its end. Empty if it is not short.
timeline::Interval short_call(const trace::Rank& rank, const std::vector<trace::Row>& rows, std::size_t i);

}  // namespace stepscope::derive
