// Edges of the critical path between calls.
#include <algorithm>

#include "analyze/path/growing_path.h"

namespace stepscope::analyze::path {
namespace {

/// Only one call at a time, of any thread, holds the runtime's lock.
void add_locks(PathRows& rows, GrowingPath& path) {
  std::vector<NodeId> open;
  NodeId before = kNone;
  for (NodeId at = 0; at < path.size(); ++at) {
    const PathNode& node = path.node(at);
    if (!rows.is_locking(node.event)) continue;
    if (!node.end) {
      open.push_back(at);
    } else {
      for (; !open.empty(); open.pop_back()) {
        const bool own = path.node(open.back()).event == node.event;
        path.add_edge(open.back(), at, own ? EdgeType::op : EdgeType::dependency, own ? node.event : kNone);
      }
      if (before != kNone && path.node(before).end) path.add_edge(before, at, EdgeType::dependency, kNone);
    }
    before = at;
  }
}

using ThreadKey = std::pair<std::string_view, std::string_view>;

/// Calls by thread. If there is one forward and one backward thread, their calls are merged.
std::map<ThreadKey, std::vector<Position>> threads_of(const PathRows& rows,
                                                      const std::vector<Position>& inside) {
  std::map<ThreadKey, std::vector<Position>> of;
  for (const Position at : inside)
    if (!rows.is_device(at) && !rows.is_sync(at)) of[{rows.track(at).pid, rows.track(at).tid}].push_back(at);
  std::vector<ThreadKey> forward, backward;
  for (const auto& [key, calls] : of) {
    const auto has = [&](std::string_view word) {
      return std::any_of(calls.begin(), calls.end(), [&](Position at) {
        return (rows.category(at) == "cpu_op" || rows.category(at) == "user_annotation") &&
               rows.name(at).find(word) != std::string_view::npos;
      });
    };
    if (has("forward"))
      forward.push_back(key);
    else if (has("autograd"))
      backward.push_back(key);
  }
  if (forward.size() == 1 && backward.size() == 1) {
    auto& calls = of[forward[0]];
    calls.insert(calls.end(), of[backward[0]].begin(), of[backward[0]].end());
    of.erase(backward[0]);
  }
  return of;
}

bool locks_overlap(PathRows& rows, const PathNode& a, const PathNode& b) {
  if (!rows.is_locking(a.event) || !rows.is_locking(b.event)) return false;
  const Event &x = rows.event(a.event), &y = rows.event(b.event);
  return x.start < y.end() && y.start < x.end();
}

/// `parent`: the call that encloses the stretch between the two nodes.
void join(PathRows& rows, GrowingPath& path, NodeId from, NodeId to, bool between_tops, Position parent) {
  if (from == kNone || locks_overlap(rows, path.node(from), path.node(to))) return;
  const PathNode &a = path.node(from), &b = path.node(to);
  if (between_tops) return path.add_edge(from, to, EdgeType::dependency, kNone);
  const Position whose = !a.end ? a.event : b.end ? b.event : parent;
  path.add_edge(from, to, EdgeType::op, whose, b.end && rows.is_blocking(b.event));
}

/// Joins each begin and end in the tree of calls to the previous one.
void walk(PathRows& rows, GrowingPath& path, const std::vector<Position>& calls) {
  const std::vector<Nested> nested = nested_in(rows.table(), calls);
  std::unordered_map<Position, std::vector<Position>> below;
  for (const Nested& of : nested) below[of.parent].push_back(of.event);
  struct Level {
    Position at, op;  ///< the call, and the innermost call with nodes at or above it
    std::size_t next;
  };
  std::vector<Level> open = {{kNone, kNone, 0}};
  NodeId last = kNone;
  while (!open.empty()) {
    Level& level = open.back();
    const auto children = below.find(level.at);
    if (children != below.end() && level.next < children->second.size()) {
      const Position child = children->second[level.next++];
      const NodeId begin = path.begin_of(child);
      if (begin != kNone) {
        join(rows, path, last, begin, level.op == kNone, level.op);
        last = begin;
      }
      open.push_back({child, begin == kNone ? level.op : child, 0});
      continue;
    }
    const NodeId end = level.at == kNone ? kNone : path.end_of(level.at);
    open.pop_back();
    if (end == kNone) continue;
    join(rows, path, last, end, false, open.back().op);
    last = end;
  }
}

}  // namespace

void add_host_edges(PathRows& rows, const std::vector<Position>& inside, GrowingPath& path) {
  add_locks(rows, path);
  for (const auto& [key, calls] : threads_of(rows, inside)) walk(rows, path, calls);
}

}  // namespace stepscope::analyze::path
