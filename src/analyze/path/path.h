// The longest path through the calls and device events of a window, along what each had to wait for. Built as
// in HTA (analyzers/critical_path_analysis.py).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/path/rows.h"

namespace stepscope::analyze::path {

enum class EdgeType : std::uint8_t { op, dependency, launch_delay, kernel_delay, sync };
std::string_view name_of(EdgeType type);

/// The begin or the end of an event.
struct PathNode {
  Time time;
  std::int32_t event;  ///< position in Table::events
  bool end;
};

struct PathEdge {
  std::int32_t from, to;  ///< nodes
  Time weight;
  EdgeType type;
  std::int32_t event;  ///< the event whose time it is, position in Table::events; -1: none
};

struct PathGraph {
  std::vector<PathNode> nodes;           ///< by time, then by the event's index
  std::vector<PathEdge> edges;           ///< at most one per pair of nodes, in order of first insertion
  std::vector<std::int32_t> path;        ///< indices into `nodes`, in order
  std::vector<std::int32_t> path_edges;  ///< indices into `edges`
  std::int64_t ranges = 0;               ///< number of ranges whose name contains the annotation
  const PathNode& node(std::int32_t id) const { return nodes[static_cast<std::size_t>(id)]; }
  const PathEdge& edge(std::int32_t place) const { return edges[static_cast<std::size_t>(place)]; }
};

/// Chooses ranges whose name contains `annotation`, "" for the whole recording: those numbered
/// `instances.first` to `instances.second`, counted from 0 in the table's order.
struct Ranges {
  std::string_view annotation = "";
  std::pair<std::int64_t, std::int64_t> instances = {0, 0};
};

/// How events are classified.
struct Rules {
  bool (*blocks)(std::string_view call);  ///< calls whose own time is a wait
  bool (*communicates)(const trace::Trace&, const trace::Rank&, Row);
  /// Categories of host calls in another tool; nullptr: ops and runtime calls.
  bool (*host_category)(std::string_view category) = nullptr;
  bool (*queues)(std::string_view call) = nullptr;  ///< launches that keep a stream busy; nullptr: no check
  bool mirrored_ranges = false;                     ///< ranges on the device count as instances too
};
extern const Rules kRules;

/// How many ranges whose name contains `annotation` come before that at `row`: its number as an instance.
std::int64_t ranges_before(const trace::Trace& trace, const Table& table, std::string_view annotation,
                           Row row);

/// The path through what begins between the earliest start and the latest end of these ranges; empty if there
/// are none.
PathGraph longest_path(const trace::Trace& trace, const Table& table, const Ranges& ranges,
                       const Rules& rules);

}  // namespace stepscope::analyze::path
