// Host and device time along the nesting of host ranges, merged by path and kind of thread.
#include <fmt/format.h>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/call_paths.h"
#include "derive/thread_role.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "report/units.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::CallPaths;
using derive::HostPaths;
using derive::kNoPath;
using derive::PathId;
using report::kNoInt;
using report::Unit;
using trace::Kind;
using trace::Rank;
using trace::Row;

struct Tree {
  CallPaths paths;
  HostPaths host;
  std::vector<std::int64_t> device_self, device_total;
  std::int64_t unattributed = 0;  ///< device time launched from no recorded range
};

Tree tree_of(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  const trace::EventTable& e = rank.events;
  Tree tree;
  trace::AskedOnce path_name(trace.strings, [&](std::string_view name) {  // one node for all steps
    return tree.paths.names.intern(name.starts_with("ProfilerStep#") ? "ProfilerStep#*" : name);
  });
  const std::vector<derive::ThreadRole> roles = derive::thread_roles(trace, rank);
  std::vector<PathId> root_of(rank.tracks.size(), kNoPath);
  for (trace::TrackId t = 0; t < roles.size(); ++t)
    if (roles[t] != derive::ThreadRole::none)
      root_of[t] = tree.paths.child(kNoPath, tree.paths.names.intern(name_of(roles[t])));
  tree.host = host_paths(rank, tree.paths, [&](Row row, PathId above) {
    const PathId parent = above != kNoPath ? above : root_of[e.track[row]];
    if (parent == kNoPath || !choice.includes(rank, row)) return kNoPath;
    return tree.paths.child(parent, path_name(e.name[row]));
  });
  for (const PathId root : root_of)
    if (root != kNoPath) ++tree.host.calls[root];
  for (PathId path = 0; path < tree.paths.size(); ++path)
    if (tree.paths.depth(path) == 1)
      report::add_to(tree.host.total[tree.paths.parent(path)], tree.host.total[path]);
  tree.device_self.assign(tree.paths.size(), 0);
  for (const Row row : rank.device_rows()) {
    if (!is_device_work(e.kind[row]) || !choice.includes(rank, row)) continue;
    const Row from = derive::launched_from(e, row);
    const PathId path = from == trace::kNoRow ? kNoPath : tree.host.path[from];
    report::add_to(path == kNoPath ? tree.unattributed : tree.device_self[path], e.duration(row));
  }
  tree.device_total = tree.device_self;
  tree.paths.add_up(tree.device_total);
  return tree;
}

/// One node. Times in ns; device times are report::kNoInt if no device event is recorded.
struct TreeNode {
  std::int64_t rank;
  std::string name;
  std::int64_t depth, calls, host_total, host_self, device_total, device_self;
};

/// Which nodes of the tree are shown.
struct Limits {
  std::int64_t depth;  ///< 0: all
  double share;        ///< min share of the rank's host or device time
};

Limits limits_of(const report::Params& params) {
  return {params.integer("depth"), params.share("min-share", 0.001)};
}

/// Sort keys: the main thread first, then backward threads, then others; nodes below them by host time.
std::vector<std::int64_t> order_of(const Tree& tree) {
  std::vector<std::int64_t> order = tree.host.total;
  for (PathId path = 0; path < tree.paths.size(); ++path) {
    if (tree.paths.depth(path) != 0) continue;
    for (std::size_t role = 0; role < derive::kThreadRoles; ++role)
      if (tree.paths.name(path) == name_of(static_cast<derive::ThreadRole>(role)))
        order[path] = -static_cast<std::int64_t>(role);
  }
  return order;
}

/// Returns the number of nodes hidden by the limits.
std::int64_t add_rank(std::vector<TreeNode>& nodes, const Rank& rank, const Tree& tree, const Limits& limits,
                      bool has_device) {
  const CallPaths& paths = tree.paths;
  double host = 0, device = 0;
  for (PathId path = 0; path < paths.size(); ++path) {
    if (paths.depth(path) != 0) continue;
    host += static_cast<double>(tree.host.total[path]);
    device += static_cast<double>(tree.device_total[path]);
  }
  std::int64_t hidden = 0;
  for (const PathId path : paths.preorder(order_of(tree))) {
    const auto host_time = static_cast<double>(tree.host.total[path]),
               device_time = static_cast<double>(tree.device_total[path]);
    const bool deep = limits.depth > 0 && paths.depth(path) >= limits.depth;
    const bool small =
        host_time < limits.share * host && (device_time == 0 || device_time < limits.share * device);
    if (deep || small) {
      ++hidden;
      continue;
    }
    nodes.push_back({rank.rank, std::string(paths.name(path)), paths.depth(path), tree.host.calls[path],
                     tree.host.total[path], tree.host.self[path],
                     has_device ? tree.device_total[path] : kNoInt,
                     has_device ? tree.device_self[path] : kNoInt});
  }
  return hidden;
}

bool has_device_work(const Rank& rank) {
  for (const Kind kind : rank.events.kind)
    if (is_device_work(kind)) return true;
  return false;
}

const report::Sheet<TreeNode> kTreeSheet{"Call tree",
                                         report::Shape::tree,
                                         {report::rank_field<TreeNode>(&TreeNode::rank),
                                          {"name", &TreeNode::name},
                                          {"depth", &TreeNode::depth, Unit::none, report::Role::depth},
                                          {"calls", &TreeNode::calls, Unit::count},
                                          {"host_total", &TreeNode::host_total, Unit::ns},
                                          {"host_self", &TreeNode::host_self, Unit::ns},
                                          {"device_total", &TreeNode::device_total, Unit::ns},
                                          {"device_self", &TreeNode::device_self, Unit::ns}}};

}  // namespace

constexpr report::ParamSpec kCallTreeParams[] = {
    {"depth", report::ParamSpec::Type::integer, "0", "", "levels to show; 0 shows all"},
    {"min-share", report::ParamSpec::Type::percentage, "0.1", "",
     "hide rows under this percentage of both host and device time"}};

constinit const About call_tree_about = {kCallTreeParams};

report::Report call_tree(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const StepChoice choice(params);
  const Limits limits = limits_of(params);
  std::vector<TreeNode> nodes;
  std::vector<std::string> notes;
  std::int64_t hidden = 0, unattributed = 0;
  for (const Rank& rank : trace.ranks) {
    const Tree tree = tree_of(trace, rank, choice);
    hidden += add_rank(nodes, rank, tree, limits, has_device_work(rank));
    report::add_to(unattributed, tree.unattributed);
  }
  if (nodes.empty()) notes.emplace_back("No host range is recorded. Record with ProfilerActivity.CPU.");
  if (hidden > 0)
    notes.push_back(
        (trace.several() ? "Smaller and deeper rows" : fmt::format("{} smaller or deeper rows", hidden)) +
        " are not shown; --min-share and --depth set the limits.");
  if (unattributed > 0)
    notes.push_back((trace.several() ? "Some" : report::format_value(unattributed, Unit::ns)) +
                    " of the device time was not launched from a recorded host range.");
  return {"call_tree", {tabulate(kTreeSheet, nodes, trace.several())}, std::move(notes)};
}

}  // namespace stepscope::analyze
