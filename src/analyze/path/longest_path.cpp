#include <algorithm>

#include "analyze/path/growing_path.h"

namespace stepscope::analyze::path {
namespace {

/// By node: the edges that leave it and those that reach it.
struct Ends {
  std::vector<std::vector<std::int32_t>> out, in;

  explicit Ends(const PathGraph& graph) : out(graph.nodes.size()), in(graph.nodes.size()) {
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
      out[static_cast<std::size_t>(graph.edges[i].from)].push_back(static_cast<std::int32_t>(i));
      in[static_cast<std::size_t>(graph.edges[i].to)].push_back(static_cast<std::int32_t>(i));
    }
  }
};

}  // namespace

void find_longest(PathGraph& graph) {
  const std::size_t count = graph.nodes.size();
  const Ends ends(graph);
  std::vector<std::size_t> waiting(count);
  std::vector<NodeId> ready;
  for (std::size_t i = 0; i < count; ++i) {
    waiting[i] = ends.in[i].size();
    if (waiting[i] == 0 && !ends.out[i].empty()) ready.push_back(static_cast<NodeId>(i));
  }
  std::vector<Time> longest(count);
  std::vector<std::int32_t> by(count, kNone);
  NodeId end = kNone;
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const auto at = static_cast<std::size_t>(ready[next]);
    for (const std::int32_t edge : ends.in[at]) {
      const Time length = longest[static_cast<std::size_t>(graph.edge(edge).from)] + graph.edge(edge).weight;
      if (by[at] == kNone || length > longest[at]) {
        longest[at] = length;
        by[at] = edge;
      }
    }
    if (end == kNone || longest[at] > longest[static_cast<std::size_t>(end)]) end = ready[next];
    for (const std::int32_t edge : ends.out[at])
      if (--waiting[static_cast<std::size_t>(graph.edge(edge).to)] == 0) ready.push_back(graph.edge(edge).to);
  }
  for (NodeId at = end; at != kNone;) {
    graph.path.push_back(at);
    const std::int32_t edge = by[static_cast<std::size_t>(at)];
    if (edge != kNone) graph.path_edges.push_back(edge);
    at = edge == kNone ? kNone : graph.edge(edge).from;
  }
  std::reverse(graph.path.begin(), graph.path.end());
  std::reverse(graph.path_edges.begin(), graph.path_edges.end());
}

}  // namespace stepscope::analyze::path
