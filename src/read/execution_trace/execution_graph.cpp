#include "read/execution_trace/execution_graph.h"

#include <fmt/format.h>

#include "derive/id_index.h"

namespace stepscope::read {
namespace {

using trace::kNoRow;
using trace::Row;

/// How often something is wrong, and where first.
struct Fault {
  std::int64_t count = 0;
  Row first = kNoRow;
  void at(Row node) {
    if (count++ == 0) first = node;
  }
};

std::string named(const ExecutionTrace& trace, Row node) {
  return fmt::format("node {} ({})", trace.nodes[node].id, trace.strings[trace.nodes[node].name]);
}

/// Nodes at which a chain of parents meets itself: one of each circle.
Fault circles(const std::vector<Row>& parents) {
  constexpr Row kWalked = kNoRow - 1;
  Fault fault;
  std::vector<Row> walk(parents.size(), kNoRow);  // by node: which walk met it first
  for (Row start = 0; start < parents.size(); ++start) {
    Row at = start;
    while (at != kNoRow && walk[at] == kNoRow) {
      walk[at] = start;
      at = parents[at];
    }
    if (at != kNoRow && walk[at] == start) fault.at(at);
    for (at = start; at != kNoRow && walk[at] == start; at = parents[at]) walk[at] = kWalked;
  }
  return fault;
}

}  // namespace

std::vector<std::string> graph_faults(const ExecutionTrace& trace) {
  const auto size = static_cast<Row>(trace.nodes.size());
  derive::IdIndex ids;  // which leaves out 0
  for (Row node = 0; node < size; ++node) ids.add(trace.nodes[node].id + 1, node);
  ids.build();
  Fault again, orphaned;
  std::vector<Row> parents(size, kNoRow);
  for (Row node = 0; node < size; ++node) {
    const ExecutionNode& of = trace.nodes[node];
    if (ids.find(of.id + 1) != node) again.at(node);
    if (of.parent == of.id || of.parent == 0) continue;  // a root
    parents[node] = ids.find(of.parent + 1);
    if (parents[node] == kNoRow) orphaned.at(node);
  }
  const Fault round = circles(parents);
  std::vector<std::string> faults;
  if (again.count > 0)
    faults.push_back(fmt::format("{} of its nodes {} an id that another has: {} first.", again.count,
                                 again.count == 1 ? "has" : "have", named(trace, again.first)));
  if (orphaned.count > 0)
    faults.push_back(
        fmt::format("{} of its nodes {} a parent that is not in the file: {} first, whose parent is {}.",
                    orphaned.count, orphaned.count == 1 ? "has" : "have", named(trace, orphaned.first),
                    trace.nodes[orphaned.first].parent));
  if (round.count > 0)
    faults.push_back(fmt::format("the parents of {} of its nodes lead back to themselves: {} first.",
                                 round.count, named(trace, round.first)));
  if (trace.without_outputs > 0)
    faults.push_back(fmt::format("{} of its nodes {} no outputs.", trace.without_outputs,
                                 trace.without_outputs == 1 ? "has" : "have"));
  return faults;
}

}  // namespace stepscope::read
