// The plugin's call trees, one per thread: which host events become nodes, which nodes are dropped or merged,
// and what each node's own and total times are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/tb/events.h"
#include "analyze/tb/links.h"

namespace stepscope::analyze::tb {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xFFFFFFFF;

/// Node classes. Only `op` is ever listed as an operator.
enum class Class : std::uint8_t { root, op, data_loader, optimizer, step, module, backward };

struct Node {
  Row row = trace::kNoRow;  ///< kNoRow for roots and backward nodes
  Class node_class = Class::op;
  Type type = Type::none;
  bool eligible = false;      ///< could use tensor cores, judged by its name, a descendant or a kernel
  double start = 0, end = 0;  ///< µs
  NodeId first_child = kNoNode, last_child = kNoNode, next = kNoNode;
  CallRange calls;  ///< runtime calls of the node itself
  // Nanoseconds. Device times are sums of durations: overlapping events count twice.
  std::int64_t host = 0, host_self = 0, device = 0, device_self = 0, tensor = 0, tensor_self = 0;
};

/// By start; at equal starts the node that ends last comes first.
inline bool outer_first(const Node& a, const Node& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

class Forest {
 public:
  explicit Forest(const Events& events);

  const Events& events;
  Links links;
  std::vector<Node> nodes;
  std::vector<NodeId> roots;      ///< one per thread, by the thread's first node
  std::vector<bool> takes_stale;  ///< by root: whether it takes the stale kernels
  std::int64_t dropped = 0;       ///< nodes that begin inside another node and end after it
  int collective_libraries = 0;   ///< bits kNccl, kGloo
  bool data_parallel = false, distributed_data_parallel = false;

  bool is_operator(const Node& node) const {
    return node.node_class == Class::op && node.type == Type::op && !events.is(node.row, kNotListed);
  }
  trace::StringId name_of(const Node& node) const { return events.rank.events.name[node.row]; }
  /// Kernels that the node's own calls launched.
  template <class Each>
  void each_own_kernel(const Node& node, Each each) const {
    for (std::uint32_t i = node.calls.begin; i < node.calls.end; ++i)
      for (const Row row : links.launched(links.calls[i]))
        if (events.type[row] == Type::kernel) each(row);
  }
  /// Pushes the children of a node onto a stack, the first on top; `entry` converts a child to a stack entry.
  template <class Entry, class Make>
  void push_children(NodeId id, std::vector<Entry>& open, Make entry) const {
    const std::size_t from = open.size();
    for (NodeId c = nodes[id].first_child; c != kNoNode; c = nodes[c].next) open.push_back(entry(c));
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(from), open.end());
  }
  void push_children(NodeId id, std::vector<NodeId>& open) const {
    push_children(id, open, [](NodeId child) { return child; });
  }
  /// Nodes reachable from the roots, parents first, thread by thread.
  std::vector<NodeId> preorder() const;

 private:
  void add_child(NodeId parent, NodeId child);
  void add_host_nodes();
  void take_calls(std::vector<std::vector<Node>>& threads);
  NodeId build(std::vector<Node> host, const std::vector<Row>& outside_calls);
  void merge_repeated(NodeId begin);
  void set_root_times(NodeId root);
  void fill_times(NodeId begin);
  void fill_own_device_times(Node& node) const;

  // Backward modules, in backward.cpp.
  friend class BackwardModules;
};

/// Moves the backward pass under "<module>.backward" nodes, if modules and fwdbwd flows are recorded.
void regroup_backward(Forest& forest);

}  // namespace stepscope::analyze::tb
