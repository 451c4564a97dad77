#include "analyze/hta/call_graph.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"

namespace stepscope::analyze::hta {
namespace {

using Position = std::int32_t;
using ThreadKey = std::pair<std::string_view, std::string_view>;  // pid, tid

/// Events without a stream, by host thread.
std::map<ThreadKey, std::vector<Position>> threads_of(const Table& table) {
  std::map<ThreadKey, std::vector<Position>> threads;
  const auto& e = table.rank->events;
  for (std::size_t i = 0; i < table.events.size(); ++i) {
    const Event& event = table.events[i];
    if (event.stream != -1) continue;
    const trace::Track& track = table.rank->tracks[e.track[event.row]];
    if (track.pid == "0" || track.tid == "0") continue;
    threads[{track.pid, track.tid}].push_back(static_cast<Position>(i));
  }
  return threads;
}

void nest(const Table& table, const std::vector<Position>& thread, std::vector<Node>& nodes) {
  for (const path::Nested& nested : path::nested_in(table, thread)) {
    nodes[static_cast<std::size_t>(nested.event)].parent = nested.parent;
    nodes[static_cast<std::size_t>(nested.event)].height = 1;
  }
}

using NameTest = bool (*)(std::string_view);

bool any_named(const trace::Trace& trace, const Table& table, const std::vector<Position>& thread,
               NameTest test) {
  return std::any_of(thread.begin(), thread.end(),
                     [&](Position at) { return test(trace.name(*table.rank, table.at(at).row)); });
}

bool is_step(std::string_view name) { return name.starts_with("ProfilerStep#"); }
bool is_backward(std::string_view name) { return name.starts_with("## backward ##"); }
bool is_autograd(std::string_view name) { return has(name, "autograd::"); }

/// Needs exactly one thread with profiler steps, and exactly one other thread with autograd operators. Top
/// calls of the other thread become children of the range "## backward ##" that contains them. Without such
/// ranges, they become children of the profiler step that contains them.
void join_backward(const trace::Trace& trace, const Table& table,
                   const std::map<ThreadKey, std::vector<Position>>& threads, std::vector<Node>& nodes) {
  const std::vector<Position>*main = nullptr, *backward = nullptr;
  int mains = 0, backwards = 0;
  for (const auto& [key, thread] : threads) {
    if (any_named(trace, table, thread, is_step)) {
      main = &thread;
      ++mains;
    } else if (any_named(trace, table, thread, is_autograd)) {
      backward = &thread;
      ++backwards;
    }
  }
  if (mains != 1 || backwards != 1) return;
  std::vector<Position> ranges;
  for (const NameTest test : {is_backward, is_step})
    if (ranges.empty())
      std::copy_if(main->begin(), main->end(), std::back_inserter(ranges),
                   [&](Position at) { return test(trace.name(*table.rank, table.at(at).row)); });
  std::stable_sort(ranges.begin(), ranges.end(),
                   [&](Position a, Position b) { return table.at(a).start < table.at(b).start; });
  for (const Position at : *backward) {
    const Event& event = table.at(at);
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), event.start,
                                        [&](Time t, Position range) { return t < table.at(range).start; });
    if (nodes[static_cast<std::size_t>(at)].parent >= 0 || after == ranges.begin()) continue;
    if (event.end() <= table.at(*std::prev(after)).end())
      nodes[static_cast<std::size_t>(at)].parent = *std::prev(after);
  }
}

void hang_device_events(const Table& table, std::vector<Node>& nodes) {
  std::unordered_map<std::int64_t, Position> by_index;
  for (std::size_t i = 0; i < table.events.size(); ++i)
    if (table.events[i].stream == -1 && table.events[i].partner > 0)
      by_index[table.events[i].index] = static_cast<Position>(i);
  for (std::size_t i = 0; i < table.events.size(); ++i) {
    const Event& event = table.events[i];
    if (event.stream <= 0 || event.partner <= 0) continue;
    const auto call = by_index.find(event.partner);
    if (call == by_index.end()) continue;
    nodes[i].parent = call->second;
    nodes[i].height = 0;
  }
}

/// Positions, parents first. `nodes` has no cycle: a parent starts earlier, or is a call.
std::vector<Position> downwards(const std::vector<Node>& nodes) {
  std::vector<Position> order(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Position>(i);
  std::vector<std::int32_t> level(nodes.size(), -1);
  std::vector<Position> path;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    path.clear();
    for (auto at = static_cast<Position>(i); at >= 0 && level[static_cast<std::size_t>(at)] < 0;
         at = nodes[static_cast<std::size_t>(at)].parent)
      path.push_back(at);
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      const Position parent = nodes[static_cast<std::size_t>(*at)].parent;
      level[static_cast<std::size_t>(*at)] = parent < 0 ? 0 : level[static_cast<std::size_t>(parent)] + 1;
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](Position a, Position b) {
    return level[static_cast<std::size_t>(a)] < level[static_cast<std::size_t>(b)];
  });
  return order;
}

void measure(const Table& table, std::vector<Node>& nodes) {
  const std::vector<Position> order = downwards(nodes);
  for (const Position at : order) {
    Node& node = nodes[static_cast<std::size_t>(at)];
    const Event& event = table.at(at);
    if (node.height < 0) continue;
    node.depth = node.parent < 0 ? 0 : nodes[static_cast<std::size_t>(node.parent)].depth + 1;
    if (node.height > 0) continue;
    node.kernels = 1;
    node.kernel_time = event.length;
    node.first_kernel = event.start;
    node.last_kernel = event.end();
  }
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const Node& node = nodes[static_cast<std::size_t>(*at)];
    if (node.parent < 0 || node.height < 0) continue;
    Node& parent = nodes[static_cast<std::size_t>(node.parent)];
    parent.height = std::max(parent.height, node.height + 1);
    if (node.kernels == 0) continue;
    parent.first_kernel =
        parent.kernels == 0 ? node.first_kernel : std::min(parent.first_kernel, node.first_kernel);
    parent.last_kernel =
        parent.kernels == 0 ? node.last_kernel : std::max(parent.last_kernel, node.last_kernel);
    parent.kernels += node.kernels;
    parent.kernel_time += node.kernel_time;
  }
}

}  // namespace

std::vector<Node> call_graph(const trace::Trace& trace, const Table& table) {
  std::vector<Node> nodes(table.events.size());
  auto threads = threads_of(table);
  for (auto& [key, thread] : threads) nest(table, thread, nodes);
  join_backward(trace, table, threads, nodes);
  hang_device_events(table, nodes);
  measure(table, nodes);
  return nodes;
}

}  // namespace stepscope::analyze::hta
