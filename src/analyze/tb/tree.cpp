#include "analyze/tb/tree.h"

#include <algorithm>
#include <unordered_map>

namespace stepscope::analyze::tb {
namespace {

bool is_host(Type type) {
  return type == Type::op || type == Type::python || type == Type::module || type == Type::step ||
         type == Type::annotation;
}

Node host_node(const Events& events, Row row) {
  Node node;
  node.row = row;
  node.type = events.type[row];
  node.start = events.start_us(row);
  node.end = events.end_us(row);
  node.host = events.ns(node.end) - events.ns(node.start);
  node.node_class = node.type == Type::step          ? Class::step
                    : node.type == Type::module      ? Class::module
                    : events.is(row, kDataLoading)   ? Class::data_loader
                    : events.is(row, kOptimizerStep) ? Class::optimizer
                                                     : Class::op;
  node.eligible = events.is(row, kTensorCoreOp);
  return node;
}

/// Annotations become nodes only if they load data, step an optimizer or issue a collective.
bool makes_node(const Events& events, Row row) {
  return is_host(events.type[row]) && (events.type[row] != Type::annotation ||
                                       events.is(row, kDataLoading | kOptimizerStep | kCollective));
}

}  // namespace

Forest::Forest(const Events& e) : events(e), links(e) {
  add_host_nodes();
  regroup_backward(*this);
}

void Forest::add_host_nodes() {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  const Ids ids(events);
  std::vector<std::uint32_t> position(events.thread.size() + 1, kNone);  // by thread number
  std::vector<std::vector<Node>> threads;
  std::vector<std::vector<Row>> outside(events.thread.size() +
                                        1);  // by thread number: calls of External id 0
  for (const Row row : events.order) {
    const Type type = events.type[row];
    const std::uint32_t thread = events.thread_of(row);
    if (type == Type::runtime && ids.external(row) == 0) outside[thread].push_back(row);
    if (!is_host(type)) continue;
    if (events.is(row, kNccl)) collective_libraries |= kNccl;
    if (events.is(row, kGloo)) collective_libraries |= kGloo;
    data_parallel |= events.name(row) == "DataParallel.forward";
    distributed_data_parallel |= events.name(row) == "DistributedDataParallel.forward";
    if (!makes_node(events, row)) continue;
    if (position[thread] == kNone) {
      position[thread] = static_cast<std::uint32_t>(threads.size());
      threads.emplace_back();
    }
    threads[position[thread]].push_back(host_node(events, row));
  }
  take_calls(threads);
  for (std::vector<Node>& host : threads) {
    const std::uint32_t thread = events.thread_of(host.front().row);
    roots.push_back(build(std::move(host), outside[thread]));
  }
}

/// Nodes take calls in the order of threads, then starts. A module has no id and takes the calls without one.
void Forest::take_calls(std::vector<std::vector<Node>>& threads) {
  const Ids ids(events);
  for (std::vector<Node>& host : threads)
    for (Node& node : host)
      node.calls = links.take(node.type == Type::module ? kNoId : ids.external(node.row));
}

void Forest::add_child(NodeId parent, NodeId child) {
  Node& p = nodes[parent];
  if (p.last_child == kNoNode)
    p.first_child = child;
  else
    nodes[p.last_child].next = child;
  p.last_child = child;
}

NodeId Forest::build(std::vector<Node> host, const std::vector<Row>& outside_calls) {
  const auto root = static_cast<NodeId>(nodes.size());
  if (!std::is_sorted(host.begin(), host.end(), outer_first))
    std::stable_sort(host.begin(), host.end(), outer_first);
  takes_stale.push_back(
      std::any_of(host.begin(), host.end(), [](const Node& n) { return n.type == Type::step; }));
  Node top;
  top.node_class = Class::root;
  top.calls = links.append(outside_calls);
  nodes.push_back(top);
  nodes.insert(nodes.end(), host.begin(), host.end());
  std::vector<NodeId> open;
  for (NodeId id = root + 1; id < nodes.size(); ++id) {
    while (!open.empty() && nodes[id].start >= nodes[open.back()].end) open.pop_back();
    if (!open.empty() && nodes[id].end > nodes[open.back()].end) {
      ++dropped;
      continue;
    }
    add_child(open.empty() ? root : open.back(), id);
    open.push_back(id);
  }
  merge_repeated(root);
  set_root_times(root);
  fill_times(root);
  return root;
}

/// If an operator has one child, an operator of the same name, the two become one: it gets the child's
/// children and calls. Its own calls are lost.
void Forest::merge_repeated(NodeId begin) {
  for (NodeId id = begin; id < nodes.size(); ++id) {
    Node& node = nodes[id];
    if (node.type != Type::op) continue;
    while (node.first_child != kNoNode && node.first_child == node.last_child) {
      Node& child = nodes[node.first_child];
      if (child.type != Type::op || name_of(child) != name_of(node)) break;
      node.first_child = child.first_child;
      node.last_child = child.last_child;
      node.calls = child.calls;
      child = Node{};
    }
  }
}

void Forest::set_root_times(NodeId root) {
  Node& node = nodes[root];
  if (node.first_child == kNoNode) return;
  node.start = nodes[node.first_child].start;
  node.end = nodes[node.last_child].end;
}

/// Children come after their parents, so the reverse order reaches children first.
void Forest::fill_times(NodeId begin) {
  for (NodeId id = static_cast<NodeId>(nodes.size()); id-- > begin;) {
    Node& node = nodes[id];
    node.host_self = node.host;
    for (NodeId c = node.first_child; c != kNoNode; c = nodes[c].next) {
      const Node& child = nodes[c];
      add_to(node.host_self, -child.host);
      add_to(node.device, child.device);
      add_to(node.tensor, child.tensor);
      if (node.node_class == Class::module && is_operator(child)) add_to(node.device_self, child.device);
      node.eligible |= node.type == Type::op && child.eligible;
    }
    fill_own_device_times(node);
  }
}

void Forest::fill_own_device_times(Node& node) const {
  for (std::uint32_t i = node.calls.begin; i < node.calls.end; ++i) {
    const Row call = links.calls[i];
    std::int64_t tensor = 0;
    add_to(node.host_self, -events.span(call).length());
    for (const Row device : links.launched(call)) {
      const std::int64_t time = events.span(device).length();
      add_to(node.device, time);
      add_to(node.device_self, time);
      if (events.type[device] == Type::kernel && events.is(device, kTensorCoreKernel)) add_to(tensor, time);
    }
    add_to(node.tensor, tensor);
    add_to(node.tensor_self, tensor);
    node.eligible |= node.type == Type::op && tensor > 0;
  }
}

std::vector<NodeId> Forest::preorder() const {
  std::vector<NodeId> list, open;
  for (const NodeId root : roots) {
    open.push_back(root);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      list.push_back(id);
      push_children(id, open);
    }
  }
  return list;
}

}  // namespace stepscope::analyze::tb
