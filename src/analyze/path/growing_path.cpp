#include "analyze/path/growing_path.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace stepscope::analyze::path {
namespace {

bool has_lock(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"};
  return is_one_of(name, kNames);
}

}  // namespace

PathRows::PathRows(const trace::Trace& trace, const Table& table, const Rules& rules)
    : trace_(trace),
      table_(table),
      e_(table.rank->events),
      rules_(rules),
      locking_(trace.strings, has_lock),
      blocking_(trace.strings, rules.blocks),
      host_category_(trace.strings, rules.host_category) {
  for (Position at = 0; at < size(); ++at) by_index_.try_emplace(event(at).index, at);
}

Position PathRows::partner(Position at) const {
  const auto found = event(at).partner > 0 ? by_index_.find(event(at).partner) : by_index_.end();
  return found == by_index_.end() ? kNone : found->second;
}

bool PathRows::is_host_call(Position at) {
  const trace::Kind kind = e_.kind[event(at).row];
  return rules_.host_category != nullptr ? host_category_(e_.category[event(at).row])
                                         : kind == trace::Kind::op || kind == trace::Kind::runtime;
}

GrowingPath::GrowingPath(PathRows& rows, const std::vector<Position>& inside) {
  for (const Position at : inside) {
    const bool device = rows.is_device(at) && rows.event(at).partner >= 0;
    if (!device && !rows.is_host_call(at)) continue;
    graph_.nodes.push_back({rows.event(at).start, at, false});
    graph_.nodes.push_back({rows.event(at).end(), at, true});
  }
  std::stable_sort(graph_.nodes.begin(), graph_.nodes.end(), [&](const PathNode& a, const PathNode& b) {
    return std::tuple(a.time, rows.event(a.event).index) < std::tuple(b.time, rows.event(b.event).index);
  });
  for (NodeId id = 0; id < size(); ++id) ids_[node(id).event][node(id).end ? 1 : 0] = id;
}

void GrowingPath::add_edge(NodeId from, NodeId to, EdgeType type, Position whose, bool no_weight) {
  const bool free = no_weight || type == EdgeType::dependency || type == EdgeType::sync;
  const PathEdge edge{from, to, free ? 0 : std::max<Time>(0, node(to).time - node(from).time), type, whose};
  const auto [at, fresh] = places_.try_emplace({from, to}, graph_.edges.size());
  if (fresh)
    graph_.edges.push_back(edge);
  else
    graph_.edges[at->second] = edge;
}

}  // namespace stepscope::analyze::path
