#include "derive/call_paths.h"

#include <algorithm>

#include "base/key_hash.h"

namespace stepscope::derive {

using trace::Kind;
using trace::kNoRow;
using trace::Row;
using trace::StringId;

std::size_t CallPaths::slot_of(PathId parent, StringId name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of_all(seed_, parent, name) & mask;
  while (slots_[slot] != kNoPath &&
         (nodes_[slots_[slot]].parent != parent || nodes_[slots_[slot]].name != name))
    slot = (slot + 1) & mask;
  return slot;
}

void CallPaths::grow() {
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), kNoPath);
  for (PathId path = 0; path < nodes_.size(); ++path)
    slots_[slot_of(nodes_[path].parent, nodes_[path].name)] = path;
}

PathId CallPaths::child(PathId parent, StringId name) {
  const std::uint32_t depth = parent == kNoPath ? 0 : nodes_[parent].depth + 1;
  if (depth > kDeepest) return parent;
  if (nodes_.size() * 2 >= slots_.size()) grow();
  const std::size_t slot = slot_of(parent, name);
  if (slots_[slot] == kNoPath) {
    slots_[slot] = static_cast<PathId>(nodes_.size());
    nodes_.push_back({parent, name, depth});
  }
  return slots_[slot];
}

std::vector<PathId> CallPaths::preorder(const std::vector<std::int64_t>& weight) const {
  // Siblings end up next to each other; a stack then turns levels into pre-order.
  std::vector<PathId> order(size());
  for (PathId path = 0; path < size(); ++path) order[path] = path;
  std::sort(order.begin(), order.end(), [&](PathId a, PathId b) {
    if (nodes_[a].parent != nodes_[b].parent) return nodes_[a].parent < nodes_[b].parent;
    if (weight[a] != weight[b]) return weight[a] > weight[b];
    return name(a) < name(b);
  });
  std::vector<std::size_t> first(size() + 1, 0), count(size() + 1, 0);  // children of each node, roots last
  const auto index = [&](PathId parent) { return parent == kNoPath ? size() : parent; };
  for (std::size_t i = 0; i < order.size(); ++i)
    if (count[index(nodes_[order[i]].parent)]++ == 0) first[index(nodes_[order[i]].parent)] = i;
  std::vector<PathId> out, open;
  const auto push_children = [&](std::size_t of) {
    for (std::size_t i = count[of]; i-- > 0;) open.push_back(order[first[of] + i]);
  };
  push_children(size());
  while (!open.empty()) {
    out.push_back(open.back());
    open.pop_back();
    push_children(out.back());
  }
  return out;
}

bool CallPaths::is_recursive(PathId path) const {
  for (PathId at = parent(path); at != kNoPath; at = parent(at))
    if (nodes_[at].name == nodes_[path].name) return true;
  return false;
}

void CallPaths::add_up(std::vector<std::int64_t>& values) const {
  for (std::size_t path = nodes_.size(); path-- > 0;)
    if (nodes_[path].parent != kNoPath) values[nodes_[path].parent] += values[path];
}

Row launched_from(const trace::EventTable& events, Row event) {
  const Row launch = events.launch[event];
  constexpr int kMaxNested = 64;
  Row at = launch;
  for (int level = 0; at != kNoRow && events.kind[at] == Kind::runtime && level < kMaxNested; ++level)
    at = events.parent[at];
  if (at != kNoRow && events.kind[at] != Kind::runtime) return at;
  return launch != kNoRow && events.op[launch] != kNoRow ? events.op[launch] : events.op[event];
}

}  // namespace stepscope::derive
