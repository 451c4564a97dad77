// Backward modules: the plugin removes the backward pass from its thread's tree. The parts that match a
// module's forward operators move under a backward node; the rest is missing from every table.
#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "analyze/tb/tree.h"

namespace stepscope::analyze::tb {
namespace {

using NodeList = std::vector<NodeId>;

/// The plugin identifies nodes by their start.
template <class Value>
using ByStart = std::unordered_map<std::uint64_t, Value>;
std::uint64_t key_of(double us) { return std::bit_cast<std::uint64_t>(us); }

/// Start times of a forward operator and of the backward operator that its flow leads to, µs.
struct Flow {
  double forward, backward;
};

/// Flows in the order of their forward ends in the file. Among flows with equal ids, then among equal forward
/// starts, the last one counts.
std::vector<Flow> flows_of(const Events& events) {
  const trace::FlowTable& table = events.rank.flows;
  const trace::StringId category = events.trace.strings.find("fwdbwd");
  std::unordered_map<std::int64_t, std::size_t> by_id;
  std::unordered_map<std::int64_t, double> backward;
  std::vector<std::pair<std::int64_t, double>> forward;
  for (trace::Row i = 0; i < table.size(); ++i) {
    if (table.category[i] != category) continue;
    const double time = microseconds(table.time[i]);
    if (table.phase[i] == 'f') backward[table.id[i]] = time;
    if (table.phase[i] != 's') continue;
    const auto [at, added] = by_id.try_emplace(table.id[i], forward.size());
    if (added)
      forward.emplace_back(table.id[i], time);
    else
      forward[at->second].second = time;
  }
  std::vector<Flow> flows;
  ByStart<std::size_t> by_start;
  for (const auto& [id, start] : forward) {
    const auto end = backward.find(id);
    if (end == backward.end()) continue;
    const auto [at, added] = by_start.try_emplace(key_of(start), flows.size());
    if (added)
      flows.push_back({start, end->second});
    else
      flows[at->second].backward = end->second;
  }
  return flows;
}

}  // namespace

class BackwardModules {
 public:
  explicit BackwardModules(Forest& forest) : forest_(forest), nodes_(forest.nodes) {}

  void run() {
    const std::vector<Flow> flows = flows_of(forest_.events);
    if (flows.empty() || forest_.roots.empty()) return;
    const NodeId main_root = root_of_main_thread();
    const NodeList evaluations = find_tops();
    if (modules_.empty() || evaluations.empty()) return;
    detach_evaluations();
    match(flows, evaluations);
    NodeList built;
    for (const NodeId module : modules_) build(module, built);
    insert(main_root, built);
    drop_empty_roots();
  }

 private:
  bool evaluates(NodeId id) const {
    return nodes_[id].row != trace::kNoRow && forest_.events.is(nodes_[id].row, kEvaluateFunction);
  }
  void sort_outer_first(NodeList& list) const {
    std::stable_sort(list.begin(), list.end(),
                     [&](NodeId a, NodeId b) { return outer_first(nodes_[a], nodes_[b]); });
  }
  NodeId root_of_main_thread() const;
  NodeList find_tops();
  void detach_evaluations();
  ByStart<NodeId> parents_below(const NodeList& evaluations) const;
  void match(const std::vector<Flow>& flows, const NodeList& evaluations);
  void build(NodeId module, NodeList& built);
  void set_span(NodeId backward);
  void insert(NodeId root, NodeList built);
  void merge_into(NodeId parent, const NodeList& added, std::vector<std::pair<NodeId, NodeList>>& deeper);
  void drop_empty_roots();

  Forest& forest_;
  std::vector<Node>& nodes_;
  NodeList parents_;           // roots and the steps below them
  NodeList modules_;           // modules directly below parents_
  ByStart<NodeList> matched_;  // start of a forward operator → its backward nodes
};

/// Root of the last thread with step marks, else of the longest thread other than the backward thread.
NodeId BackwardModules::root_of_main_thread() const {
  for (std::size_t i = forest_.roots.size(); i-- > 0;)
    if (forest_.takes_stale[i]) return forest_.roots[i];
  NodeId backward = kNoNode, longest = kNoNode;
  for (const NodeId root : forest_.roots)
    for (NodeId c = nodes_[root].first_child; c != kNoNode && backward == kNoNode; c = nodes_[c].next)
      if (evaluates(c)) backward = root;
  for (const NodeId root : forest_.roots) {
    if (root == backward && forest_.roots.size() > 1) continue;
    const auto length = [&](NodeId id) { return nodes_[id].end - nodes_[id].start; };
    if (longest == kNoNode || length(root) > length(longest)) longest = root;
  }
  return longest;
}

/// Fills parents_ and modules_; returns the evaluate_function nodes at the top, thread by thread.
NodeList BackwardModules::find_tops() {
  NodeList evaluations, open(forest_.roots.rbegin(), forest_.roots.rend());
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (nodes_[id].node_class == Class::module)
      modules_.push_back(id);
    else if (evaluates(id))
      evaluations.push_back(id);
    if (nodes_[id].node_class != Class::root && nodes_[id].node_class != Class::step) continue;
    parents_.push_back(id);
    forest_.push_children(id, open);
  }
  return evaluations;
}

void BackwardModules::detach_evaluations() {
  for (const NodeId parent : parents_) {
    NodeId child = std::exchange(nodes_[parent].first_child, kNoNode);
    nodes_[parent].last_child = kNoNode;
    while (child != kNoNode) {
      const NodeId next = std::exchange(nodes_[child].next, kNoNode);
      if (nodes_[child].node_class == Class::module || !evaluates(child)) forest_.add_child(parent, child);
      child = next;
    }
  }
}

/// By start of a node: its parent. Among nodes with equal starts the first counts, parents before children.
ByStart<NodeId> BackwardModules::parents_below(const NodeList& evaluations) const {
  ByStart<NodeId> parents;
  for (const NodeId evaluation : evaluations) {
    std::vector<std::pair<NodeId, NodeId>> open = {{evaluation, kNoNode}};  // a node and its parent
    while (!open.empty()) {
      const auto [id, parent] = open.back();
      open.pop_back();
      if (parent != kNoNode) parents.try_emplace(key_of(nodes_[id].start), parent);
      forest_.push_children(id, open, [from = id](NodeId child) { return std::pair(child, from); });
    }
  }
  return parents;
}

/// Assigns to each forward operator the group of the evaluate_function node above its flow's backward
/// operator. Gradient accumulations belong to the previous group. Each group is assigned once.
void BackwardModules::match(const std::vector<Flow>& flows, const NodeList& evaluations) {
  std::unordered_map<NodeId, NodeList> groups;
  NodeId leader = kNoNode;
  for (const NodeId id : evaluations) {
    if (leader == kNoNode || !forest_.events.is(nodes_[id].row, kAccumulateGrad)) leader = id;
    groups[leader].push_back(id);
  }
  ByStart<NodeId> above = parents_below(evaluations);
  for (const Flow& flow : flows) {
    NodeList climbed;
    auto at = above.find(key_of(flow.backward));
    while (at != above.end() && !evaluates(at->second)) {
      climbed.push_back(at->second);
      at = above.find(key_of(nodes_[at->second].start));
    }
    if (at == above.end()) continue;
    const NodeId found = at->second;
    above[key_of(flow.backward)] = found;
    for (const NodeId id : climbed)
      above[key_of(nodes_[id].start)] = found;  // so that the next flow need not climb again
    const auto group = groups.find(found);
    matched_[key_of(flow.forward)] = group == groups.end() ? NodeList{} : std::move(group->second);
    if (group != groups.end()) groups.erase(group);
  }
}

/// Builds one backward node per module in the tree at `module`. It holds the groups of the operators whose
/// nearest module it is.
void BackwardModules::build(NodeId module, NodeList& built) {
  struct Open {
    NodeId node, backward;
  };
  const auto first = static_cast<NodeId>(nodes_.size());
  std::vector<Open> open = {{module, kNoNode}};
  while (!open.empty()) {
    auto [id, backward] = open.back();
    open.pop_back();
    if (nodes_[id].node_class == Class::module) {
      Node node;
      node.node_class = Class::backward;
      nodes_.push_back(node);
      const auto added = static_cast<NodeId>(nodes_.size() - 1);
      if (backward != kNoNode) forest_.add_child(backward, added);
      backward = added;
    }
    forest_.push_children(id, open, [&](NodeId child) { return Open{child, backward}; });
    for (NodeId c = nodes_[id].first_child; c != kNoNode; c = nodes_[c].next) {
      if (!forest_.is_operator(nodes_[c])) continue;
      const auto group = matched_.find(key_of(nodes_[c].start));
      if (group == matched_.end()) continue;
      for (const NodeId member : std::exchange(group->second, {})) forest_.add_child(backward, member);
    }
  }
  for (auto id = static_cast<NodeId>(nodes_.size()); id-- > first;) set_span(id);
  if (nodes_[first].first_child != kNoNode) built.push_back(first);
}

/// Sorts the children of a backward node and sets its span: first child's start to last child's end.
void BackwardModules::set_span(NodeId backward) {
  Node& node = nodes_[backward];
  NodeList children;
  for (NodeId c = node.first_child; c != kNoNode; c = nodes_[c].next)
    if (nodes_[c].node_class != Class::backward || nodes_[c].first_child != kNoNode) children.push_back(c);
  sort_outer_first(children);
  node.first_child = node.last_child = kNoNode;
  for (const NodeId child : children) {
    nodes_[child].next = kNoNode;
    forest_.add_child(backward, child);
  }
  if (children.empty()) return;
  node.start = nodes_[children.front()].start;
  node.end = nodes_[children.back()].end;
}

/// Inserts nodes into the main thread's tree by time; nodes that exceed that tree's span are lost.
void BackwardModules::insert(NodeId root, NodeList built) {
  std::erase_if(built, [&](NodeId id) {
    return nodes_[id].start < nodes_[root].start || nodes_[id].end > nodes_[root].end;
  });
  sort_outer_first(built);
  std::vector<std::pair<NodeId, NodeList>> open = {{root, std::move(built)}};
  while (!open.empty()) {
    const auto [parent, added] = std::move(open.back());
    open.pop_back();
    merge_into(parent, added, open);
  }
}

/// Adds nodes below `parent`. A node inside a step goes to the step's list in `deeper`. Children and `added`
/// are sorted by start.
void BackwardModules::merge_into(NodeId parent, const NodeList& added,
                                 std::vector<std::pair<NodeId, NodeList>>& deeper) {
  NodeId child = std::exchange(nodes_[parent].first_child, kNoNode), before = kNoNode;
  nodes_[parent].last_child = kNoNode;
  const auto keep_next = [&] {
    before = child;
    child = std::exchange(nodes_[child].next, kNoNode);
    forest_.add_child(parent, before);
  };
  for (const NodeId id : added) {
    while (child != kNoNode && nodes_[child].start <= nodes_[id].start) keep_next();
    if (before != kNoNode && nodes_[before].node_class == Class::step &&
        nodes_[id].end <= nodes_[before].end) {
      if (deeper.empty() || deeper.back().first != before) deeper.emplace_back(before, NodeList{});
      deeper.back().second.push_back(id);
    } else {
      forest_.add_child(parent, id);
    }
  }
  while (child != kNoNode) keep_next();
}

void BackwardModules::drop_empty_roots() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < forest_.roots.size(); ++i) {
    if (nodes_[forest_.roots[i]].first_child == kNoNode) continue;
    forest_.roots[kept] = forest_.roots[i];
    forest_.takes_stale[kept++] = forest_.takes_stale[i];
  }
  forest_.roots.resize(kept);
  forest_.takes_stale.resize(kept);
}

void regroup_backward(Forest& forest) { BackwardModules(forest).run(); }

}  // namespace stepscope::analyze::tb
