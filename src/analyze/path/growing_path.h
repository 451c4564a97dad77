// How the longest path is built: select the rows in the window, add nodes and edges over them, find the
// longest path.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/path/path.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::path {

using Position = std::int32_t;  ///< in Table::events
using NodeId = std::int32_t;    ///< in PathGraph::nodes
inline constexpr std::int32_t kNone = -1;

/// The events of a table, with the properties that edges depend on.
class PathRows {
 public:
  PathRows(const trace::Trace& trace, const Table& table, const Rules& rules);

  const trace::Trace& trace() const { return trace_; }
  const Table& table() const { return table_; }
  const Rules& rules() const { return rules_; }
  Position size() const { return static_cast<Position>(table_.events.size()); }
  const Event& event(Position at) const { return table_.at(at); }
  std::string_view name(Position at) const { return trace_.name(*table_.rank, event(at).row); }
  std::string_view category(Position at) const { return trace_.text(e_.category[event(at).row]); }
  const trace::Track& track(Position at) const { return table_.rank->tracks[e_.track[event(at).row]]; }
  /// The call that launched device work, or the device work that a call launched; kNone if absent.
  Position partner(Position at) const;
  bool is_sync(Position at) const { return category(at) == "cuda_sync"; }
  bool is_device(Position at) const { return event(at).stream != -1; }

  bool is_host_call(Position at);
  /// Calls that only one thread at a time can be in.
  bool is_locking(Position at) { return locking_(e_.name[event(at).row]); }
  bool is_blocking(Position at) { return blocking_(e_.name[event(at).row]); }

 private:
  using Names = trace::AskedOnce<bool (*)(std::string_view)>;
  const trace::Trace& trace_;
  const Table& table_;
  const trace::EventTable& e_;
  const Rules& rules_;
  Names locking_, blocking_, host_category_;
  std::unordered_map<std::int64_t, Position> by_index_;
};

/// The graph under construction.
class GrowingPath {
 public:
  /// Adds nodes for host calls and launched device work among `inside`, the rows of the window.
  GrowingPath(PathRows& rows, const std::vector<Position>& inside);

  NodeId begin_of(Position at) const { return node_of(at, 0); }
  NodeId end_of(Position at) const { return node_of(at, 1); }
  NodeId size() const { return static_cast<NodeId>(graph_.nodes.size()); }
  const PathNode& node(NodeId id) const { return graph_.node(id); }
  /// A second edge between the same two nodes replaces the first.
  void add_edge(NodeId from, NodeId to, EdgeType type, Position whose, bool no_weight = false);
  PathGraph take() { return std::move(graph_); }

 private:
  NodeId node_of(Position at, std::size_t end) const {
    const auto found = ids_.find(at);
    return found == ids_.end() ? kNone : found->second[end];
  }

  PathGraph graph_;
  std::unordered_map<Position, std::array<NodeId, 2>> ids_;
  std::map<std::pair<NodeId, NodeId>, std::size_t> places_;
};

/// Adds edges along threads, and between calls that take the runtime's lock.
void add_host_edges(PathRows& rows, const std::vector<Position>& inside, GrowingPath& path);
/// Adds edges along streams, from launches, and from awaited work.
void add_device_edges(const PathRows& rows, const std::vector<Position>& inside, GrowingPath& path);
/// Fills in the longest path; among equally long paths, the one whose edges were added first.
void find_longest(PathGraph& graph);

}  // namespace stepscope::analyze::path
