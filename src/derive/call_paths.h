// Host ranges merged by path: ranges with the same name under the same path are one node. Call trees, module
// trees and flame graphs have this form.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "trace/string_pool.h"
#include "trace/trace.h"

namespace stepscope::derive {

using PathId = std::uint32_t;
inline constexpr PathId kNoPath = 0xFFFFFFFF;

/// A forest of names. A node's id is larger than its parent's.
class CallPaths {
 public:
  /// Deeper nodes are not made: no real program nests this deep.
  static constexpr std::uint32_t kDeepest = 1'000;

  trace::StringPool names;  ///< names of the nodes

  /// The child of `parent` (kNoPath: a root) with this name, made if missing. Returns `parent` at kDeepest.
  PathId child(PathId parent, trace::StringId name);
  PathId parent(PathId path) const { return nodes_[path].parent; }
  std::string_view name(PathId path) const { return names[nodes_[path].name]; }
  std::uint32_t depth(PathId path) const { return nodes_[path].depth; }
  std::size_t size() const { return nodes_.size(); }
  /// Whether a node around it has the same name.
  bool is_recursive(PathId path) const;

  /// Every node after its parent; siblings by descending weight, then by name.
  std::vector<PathId> preorder(const std::vector<std::int64_t>& weight) const;
  /// Adds to each node's value the values of its descendants.
  void add_up(std::vector<std::int64_t>& values) const;

 private:
  struct Node {
    PathId parent;
    trace::StringId name;
    std::uint32_t depth;
  };
  std::size_t slot_of(PathId parent, trace::StringId name) const;
  void grow();
  HashSeed seed_ = process_hash_seed();
  std::vector<Node> nodes_;
  std::vector<PathId> slots_;
};

/// Calls and times of host ranges, by path.
struct HostPaths {
  Column<PathId> path;              ///< by row: path of the range or of its nearest ancestor with a path
  std::vector<std::int64_t> calls;  ///< by path
  std::vector<std::int64_t> total;  ///< by path, ns
  std::vector<std::int64_t> self;   ///< by path, ns: total without the nearest descendants that have a path
};

/// `path_of(row, above)` returns a range's path; `above` is its parent's. kNoPath skips the range.
template <class PathOf>
HostPaths host_paths(const trace::Rank& rank, const CallPaths& paths, PathOf path_of) {
  const trace::EventTable& e = rank.events;
  HostPaths out;
  out.path.assign(e.size(), kNoPath);
  Column<trace::Row> counted(e.size(),
                             trace::kNoRow);  // the row, or its nearest ancestor with a path
  for (trace::Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    const trace::Row parent = e.parent[row];
    const trace::Row outer = parent == trace::kNoRow ? parent : counted[parent];
    const PathId above = parent == trace::kNoRow ? kNoPath : out.path[parent];
    const PathId own = path_of(row, above);
    if (own == kNoPath || own == above) {
      out.path[row] = above;
      counted[row] = outer;
      continue;
    }
    out.path[row] = own;
    counted[row] = row;
    for (std::vector<std::int64_t>* column : {&out.calls, &out.total, &out.self})
      column->resize(paths.size());
    ++out.calls[own];
    out.total[own] += e.duration(row);
    out.self[own] += e.duration(row);
    if (outer != trace::kNoRow) out.self[out.path[outer]] -= e.duration(row);
  }
  for (std::vector<std::int64_t>* column : {&out.calls, &out.total, &out.self}) column->resize(paths.size());
  // Old files round both ends of a range, so children may add up to a little more than their parent.
  for (std::int64_t& self : out.self) self = self < 0 ? 0 : self;
  return out;
}

/// The innermost op, annotation or Python range that a device event was launched from, kNoRow if none is
/// recorded.
trace::Row launched_from(const trace::EventTable& events, trace::Row event);

}  // namespace stepscope::derive
