// The critical path as marks on its events and arrows between them.
#include <algorithm>

#include "analyze/path/critical_path.h"

namespace stepscope::analyze {
namespace {

using path::EdgeType;
using path::PathEdge;
using path::PathNode;

class PathDrawer {
 public:
  PathDrawer(const RankPath& path, Sketch& sketch) : path_(path), sketch_(sketch) {}

  void mark() {
    std::vector<std::uint32_t>& critical = sketch_.drawing().critical;
    for (const std::int32_t node : path_.graph.path)
      critical.push_back(sketch_.rank().events.source[row_of(path_.graph.node(node))]);
    std::sort(critical.begin(), critical.end());
    critical.erase(std::unique(critical.begin(), critical.end()), critical.end());
  }

  void draw_path() {
    for (const std::int32_t edge : path_.graph.path_edges) {
      const EdgeType type = path_.graph.edge(edge).type;
      if (type != EdgeType::op && type != EdgeType::kernel_delay) draw(edge, true);
    }
  }

  void draw_all() {
    std::vector<bool> critical(path_.graph.edges.size());
    for (const std::int32_t edge : path_.graph.path_edges) critical[static_cast<std::size_t>(edge)] = true;
    for (std::size_t edge = 0; edge < critical.size(); ++edge)
      draw(static_cast<std::int32_t>(edge), critical[edge]);
  }

 private:
  trace::Row row_of(const PathNode& node) const { return path_.rows->at(node.event).row; }

  /// Time of a node. An end is moved inside its event, so that viewers find the event there.
  std::int64_t time_of(const PathNode& node) const {
    const trace::EventTable& e = sketch_.rank().events;
    const trace::Row row = row_of(node);
    return node.end ? std::max(e.start[row], e.end[row] - 1) : e.start[row];
  }

  /// If the two events overlap, the arrow leaves early, at the time of its head. An arrow back in time cannot
  /// be drawn.
  void draw(std::int32_t at, bool critical) {
    const PathEdge& edge = path_.graph.edge(at);
    const PathNode &tail = path_.graph.node(edge.from), &head = path_.graph.node(edge.to);
    const trace::Row from = row_of(tail), to = row_of(head);
    const std::int64_t end = time_of(head);
    if (sketch_.rank().events.start[from] > end) return;
    sketch_.drawing().arrows.push_back({sketch_.lane_of(from), sketch_.lane_of(to),
                                        std::min(time_of(tail), end), end, edge.weight,
                                        path::name_of(edge.type), critical});
  }

  const RankPath& path_;
  Sketch& sketch_;
};

}  // namespace

void draw_path_of(const trace::Trace& trace, const path::Table& table, const path::Rules& rules,
                  const report::Params& params, Sketch& sketch) {
  const bool only_critical = params.flag("only-critical");
  sketch.drawing().only_critical = only_critical;
  for (const RankPath& path : critical_paths(trace, {&table, 1}, rules, params, sketch.notes)) {
    PathDrawer drawer(path, sketch);
    drawer.mark();
    if (params.flag("all-edges") && !only_critical)
      drawer.draw_all();
    else
      drawer.draw_path();
  }
}

void draw_critical_path(const Derived& derived, const report::Params& params, Sketch& sketch) {
  draw_path_of(derived.trace(), path::table_of(derived.trace(), sketch.rank()), path::kRules, params, sketch);
}

}  // namespace stepscope::analyze
