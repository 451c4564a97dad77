// The longest path through what calls and device events of a window had to wait for, built as in HTA
// (analyzers/critical_path_analysis.py).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/path/rows.h"

namespace stepscope::analyze::path {

enum class EdgeType : std::uint8_t { op, dependency, launch_delay, kernel_delay, sync };
std::string_view name_of(EdgeType type);

/// Nodes are begins and ends of events, two each.
struct PathNode {
  Time time;
  std::int32_t event;  ///< position in Table::events
  bool end;
};

struct PathEdge {
  std::int32_t from, to;  ///< nodes
  Time weight;
  EdgeType type;
  std::int32_t event;  ///< whose time it is, position in Table::events; -1: nobody's
};

struct PathGraph {
  std::vector<PathNode> nodes;           ///< by time, then by the event's index
  std::vector<PathEdge> edges;           ///< one of a pair of nodes, in the order in which pairs came up
  std::vector<std::int32_t> path;        ///< nodes, in order
  std::vector<std::int32_t> path_edges;  ///< places in `edges`
  std::int64_t ranges = 0;               ///< whose name holds the annotation, chosen or not
  const PathNode& node(std::int32_t id) const { return nodes[static_cast<std::size_t>(id)]; }
  const PathEdge& edge(std::int32_t place) const { return edges[static_cast<std::size_t>(place)]; }
};

/// Of the ranges whose name holds `annotation` the first to the last of `instances`, from 0, in the table's
/// order; "" for the whole recording.
struct Ranges {
  std::string_view annotation = "";
  std::pair<std::int64_t, std::int64_t> instances = {0, 0};
};

/// How events are told apart.
struct Rules {
  bool (*blocks)(std::string_view call);  ///< calls whose own time is a wait
  bool (*communicates)(const trace::Trace&, const trace::Rank&, Row);
  /// Another tool's, by names; nullptr: what the recording says.
  bool (*host_category)(std::string_view category) = nullptr;
  bool (*queues)(std::string_view call) = nullptr;  ///< a stream is idle when no such launch waits on it
  bool mirrored_ranges = false;                     ///< ranges on the device are instances too
};
extern const Rules kRules;

/// Of what begins from the earliest start of these ranges to their latest end; nothing without any.
PathGraph longest_path(const trace::Trace& trace, const Table& table, const Ranges& ranges,
                       const Rules& rules);

}  // namespace stepscope::analyze::path
