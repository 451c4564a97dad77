#include "analyze/hta_critical_path.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analyze/hta_call_graph.h"
#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::hta {

std::string_view name_of(EdgeType type) {
  constexpr std::string_view kNames[] = {"operator", "dependency", "kernel_launch_delay",
                                         "kernel_kernel_delay", "sync_dependency"};
  return kNames[static_cast<std::size_t>(type)];
}

namespace {

using Position = std::int32_t;
using NodeId = std::int32_t;
using timeline::Interval;
constexpr Time kLongestKernelGap = 1500000;  // ns
constexpr Position kNone = -1;

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_locking(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"};
  return is_one_of(name, kNames);
}

bool is_blocking(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaDeviceSynchronize",
                                         "cudaStreamSynchronize",
                                         "cudaEventQuery",
                                         "cudaEventSynchronize",
                                         "cudaMemcpy",
                                         "cudaMemcpyAsync"};
  return is_one_of(name, kNames);
}

bool is_call(std::string_view category) {
  constexpr std::string_view kNames[] = {"cpu_op", "cuda_runtime", "cuda_driver"};
  return is_one_of(category, kNames);
}

class Builder {
 public:
  Builder(const trace::Trace& trace, const Table& table, bool compat)
      : compat_(compat),
        trace_(trace),
        table_(table),
        e_(table.rank->events),
        locking_(trace.strings, is_locking),
        blocking_(trace.strings, compat ? is_blocking : derive::is_blocking_call),
        call_(trace.strings, is_call) {
    for (std::size_t i = 0; i < table.events.size(); ++i)
      by_index_.try_emplace(table.events[i].index, static_cast<Position>(i));
  }

  PathGraph build(std::string_view annotation, std::int64_t instance) {
    const std::optional<Interval> window = window_of(annotation, instance);
    if (!window) return {};
    clip(*window);
    make_nodes();
    add_locks();
    add_threads();
    list_launches();
    add_device();
    find_path();
    return std::move(graph_);
  }

 private:
  const Event& event(Position at) const { return table_.events[static_cast<std::size_t>(at)]; }
  std::string_view name(Position at) const { return trace_.name(*table_.rank, event(at).row); }
  trace::StringId name_id(Position at) const { return e_.name[event(at).row]; }
  std::string_view category(Position at) const { return trace_.text(e_.category[event(at).row]); }
  const trace::Track& track(Position at) const { return table_.rank->tracks[e_.track[event(at).row]]; }
  Position partner(Position at) const {
    const auto found = event(at).partner > 0 ? by_index_.find(event(at).partner) : by_index_.end();
    return found == by_index_.end() ? kNone : found->second;
  }
  bool is_sync(Position at) const { return category(at) == "cuda_sync"; }

  bool is_host_call(Position at) {
    const trace::Kind kind = e_.kind[event(at).row];
    return compat_ ? call_(e_.category[event(at).row])
                   : kind == trace::Kind::op || kind == trace::Kind::runtime;
  }

  std::optional<Interval> window_of(std::string_view annotation, std::int64_t instance) const {
    if (annotation.empty())
      return Interval{std::numeric_limits<Time>::min() / 2, std::numeric_limits<Time>::max() / 2};
    for (std::size_t i = 0; i < table_.events.size(); ++i)
      if (name(static_cast<Position>(i)).find(annotation) != std::string_view::npos && instance-- == 0)
        return Interval{table_.events[i].start, table_.events[i].end()};
    return std::nullopt;
  }

  void clip(Interval window) {
    for (std::size_t i = 0; i < table_.events.size(); ++i) {
      const auto at = static_cast<Position>(i);
      const Position launch = event(at).stream == -1 ? at : partner(at);
      const bool inside = launch != kNone && event(launch).length > 0 &&
                          event(launch).start >= window.begin && event(launch).start <= window.end;
      if (inside || name(at) == "Stream Wait Event") clipped_.push_back(at);
    }
  }

  void make_nodes() {
    for (const Position at : clipped_) {
      const bool device = event(at).stream != -1 && event(at).partner >= 0;
      if (!device && !is_host_call(at)) continue;
      graph_.nodes.push_back({event(at).start, at, false});
      graph_.nodes.push_back({event(at).end(), at, true});
    }
    std::stable_sort(graph_.nodes.begin(), graph_.nodes.end(), [&](const PathNode& a, const PathNode& b) {
      return std::tuple(a.time, event(a.event).index) < std::tuple(b.time, event(b.event).index);
    });
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      ids_[graph_.nodes[i].event][graph_.nodes[i].end ? 1 : 0] = static_cast<NodeId>(i);
  }
  NodeId begin_of(Position at) const {
    const auto found = ids_.find(at);
    return found == ids_.end() ? kNone : found->second[0];
  }
  NodeId end_of(Position at) const {
    const auto found = ids_.find(at);
    return found == ids_.end() ? kNone : found->second[1];
  }
  const PathNode& node(NodeId id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }

  void add_edge(NodeId from, NodeId to, EdgeType type, Position whose, bool no_weight = false) {
    const bool free = no_weight || type == EdgeType::dependency || type == EdgeType::sync;
    const PathEdge edge{from, to, free ? 0 : std::max<Time>(0, node(to).time - node(from).time), type, whose};
    const auto [at, fresh] = places_.try_emplace({from, to}, graph_.edges.size());
    if (fresh)
      graph_.edges.push_back(edge);
    else
      graph_.edges[at->second] = edge;
  }

  /// The runtime's lock lets one call of any thread in at a time.
  void add_locks() {
    std::vector<NodeId> open;
    NodeId before = kNone;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto at = static_cast<NodeId>(i);
      if (!locking_(name_id(node(at).event))) continue;
      if (!node(at).end) {
        open.push_back(at);
      } else {
        for (; !open.empty(); open.pop_back()) {
          const bool own = node(open.back()).event == node(at).event;
          add_edge(open.back(), at, own ? EdgeType::op : EdgeType::dependency, own ? node(at).event : kNone);
        }
        if (before != kNone && node(before).end) add_edge(before, at, EdgeType::dependency, kNone);
      }
      before = at;
    }
  }

  using ThreadKey = std::pair<std::string_view, std::string_view>;

  /// Calls by thread; a backward thread's with those of the only forward one.
  std::map<ThreadKey, std::vector<Position>> threads() {
    std::map<ThreadKey, std::vector<Position>> of;
    for (const Position at : clipped_)
      if (event(at).stream == -1 && !is_sync(at)) of[{track(at).pid, track(at).tid}].push_back(at);
    std::vector<ThreadKey> forward, backward;
    for (const auto& [key, calls] : of) {
      const auto has = [&](std::string_view word) {
        return std::any_of(calls.begin(), calls.end(), [&](Position at) {
          return (category(at) == "cpu_op" || category(at) == "user_annotation") &&
                 name(at).find(word) != std::string_view::npos;
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

  void add_threads() {
    for (auto& [key, calls] : threads()) walk(calls);
  }

  /// In the order of begins and ends of the tree of calls, each to the one before.
  void walk(const std::vector<Position>& calls) {
    const std::vector<Nested> nested = nested_in(table_, calls);
    std::unordered_map<Position, std::vector<Position>> below;
    for (const Nested& of : nested) below[of.parent].push_back(of.event);
    struct Level {
      Position at, op;  ///< the call, and the innermost one with nodes up to it
      std::size_t next;
    };
    std::vector<Level> open = {{kNone, kNone, 0}};
    NodeId last = kNone;
    while (!open.empty()) {
      Level& level = open.back();
      const auto children = below.find(level.at);
      if (children != below.end() && level.next < children->second.size()) {
        const Position child = children->second[level.next++];
        const NodeId begin = begin_of(child);
        if (begin != kNone) {
          join(last, begin, level.op == kNone, level.op);
          last = begin;
        }
        open.push_back({child, begin == kNone ? level.op : child, 0});
        continue;
      }
      const NodeId end = level.at == kNone ? kNone : end_of(level.at);
      open.pop_back();
      if (end == kNone) continue;
      join(last, end, false, open.back().op);
      last = end;
    }
  }

  bool locks_overlap(const PathNode& a, const PathNode& b) {
    if (!locking_(name_id(a.event)) || !locking_(name_id(b.event))) return false;
    const Event &x = event(a.event), &y = event(b.event);
    return x.start < y.end() && y.start < x.end();
  }

  /// `parent`: the call around the place between the two.
  void join(NodeId from, NodeId to, bool between_tops, Position parent) {
    if (from == kNone || locks_overlap(node(from), node(to))) return;
    const PathNode &a = node(from), &b = node(to);
    if (between_tops) return add_edge(from, to, EdgeType::dependency, kNone);
    const Position whose = !a.end ? a.event : b.end ? b.event : parent;
    add_edge(from, to, EdgeType::op, whose, b.end && blocking_(name_id(b.event)));
  }

  struct Queue {
    std::int64_t at_launch = -1, at_start = -1;
  };

  /// How many wait on the stream right after each launch, and right after each start.
  std::unordered_map<Position, Queue> queues() const {
    struct Change {
      Time time;
      int step;
      Position kernel;
    };
    std::map<std::int64_t, std::vector<Change>> by_stream;
    for (std::size_t i = 0; i < table_.events.size(); ++i) {
      const auto at = static_cast<Position>(i);
      const Position call = event(at).stream == -1 ? kNone : partner(at);
      if (call == kNone || (compat_ && !is_queued_launch(name(call)))) continue;
      by_stream[event(at).stream].push_back({event(call).start, 1, at});
      by_stream[event(at).stream].push_back({event(at).start, -1, at});
    }
    std::unordered_map<Position, Queue> found;
    for (auto& [stream, changes] : by_stream) {
      std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return a.time != b.time ? a.time < b.time : a.step > b.step;
      });
      std::int64_t length = 0;
      for (const Change& change : changes) {
        length += change.step;
        (change.step > 0 ? found[change.kernel].at_launch : found[change.kernel].at_start) = length;
      }
    }
    return found;
  }

  using Launches = std::vector<std::pair<Time, Position>>;  // when launched, and what

  void list_launches() {
    for (const Position at : clipped_) {
      const Position call = partner(at);
      if (event(at).stream == -1 || is_sync(at) || call == kNone) continue;
      const std::pair launch(event(call).start, at);
      launches_[event(at).stream].push_back(launch);
      of_thread_[{event(at).stream, track(call).pid, track(call).tid}].push_back(launch);
    }
    for (auto& [stream, launches] : launches_) std::sort(launches.begin(), launches.end());
    for (auto& [key, launches] : of_thread_) std::sort(launches.begin(), launches.end());
  }

  /// The last kernel launched on `stream` before `time`.
  Position before(std::int64_t stream, Time time) const {
    const auto found = launches_.find(stream);
    if (found == launches_.end()) return kNone;
    const Launches& all = found->second;
    const auto after = std::lower_bound(all.begin(), all.end(), std::pair(time, kNone));
    return after == all.begin() ? kNone : std::prev(after)->second;
  }
  /// The first kernel that `thread` launched on `stream` after `time`.
  Position after(std::int64_t stream, Time time, const trace::Track& thread) const {
    const auto found = of_thread_.find({stream, thread.pid, thread.tid});
    if (found == of_thread_.end()) return kNone;
    const Launches& all = found->second;
    const auto next =
        std::upper_bound(all.begin(), all.end(), std::pair(time, std::numeric_limits<Position>::max()));
    return next == all.end() ? kNone : next->second;
  }

  /// The kernel whose end a recorded event stands for.
  Position recorded_kernel(Position sync) {
    const trace::ArgReader stream(trace_, *table_.rank, "wait_on_stream");
    const trace::ArgReader record(trace_, *table_.rank, "wait_on_cuda_event_record_corr_id");
    const trace::Row row = event(sync).row;
    if (calls_.empty())
      for (std::size_t i = 0; i < table_.events.size(); ++i)
        if (table_.events[i].stream == -1 && table_.events[i].correlation >= 0)
          calls_.try_emplace(table_.events[i].correlation, static_cast<Position>(i));
    const auto call = calls_.find(record.integer_or(row, -1));
    return call == calls_.end() ? kNone : before(stream.integer_or(row, -1), event(call->second).start);
  }

  void add_sync(Position at, const std::map<std::int64_t, Position>& last) {
    const Position call = partner(at);
    const std::string_view what = name(at);
    if (what == "Stream Wait Event") {
      const Position source = recorded_kernel(at);
      const Position next = call == kNone ? kNone : after(event(at).stream, event(call).start, track(call));
      if (source == kNone || next == kNone || begin_of(next) == kNone || end_of(source) == kNone) return;
      add_edge(end_of(source), begin_of(next), EdgeType::sync, kNone);
      waits_for_[next] = source;
      return;
    }
    const NodeId end = call == kNone ? kNone : end_of(call);
    if (end == kNone) return;
    if (what == "Event Sync") {
      const Position source = recorded_kernel(at);
      if (source != kNone && end_of(source) != kNone) add_edge(end_of(source), end, EdgeType::sync, kNone);
      return;
    }
    for (const auto& [stream, kernel] : last)
      if (what == "Context Sync" || (what == "Stream Sync" && stream == event(at).stream))
        add_edge(end_of(kernel), end, EdgeType::sync, kNone);
  }

  void add_device() {
    std::vector<Position> rows;
    for (const Position at : clipped_)
      if ((event(at).stream != -1 && begin_of(at) != kNone) || is_sync(at)) rows.push_back(at);
    std::stable_sort(rows.begin(), rows.end(), [&](Position a, Position b) {
      return (is_sync(a) ? event(a).end() : event(a).start) < (is_sync(b) ? event(b).end() : event(b).start);
    });
    const auto queue = queues();
    std::map<std::int64_t, Position> last;
    for (const Position at : rows) {
      if (is_sync(at)) {
        add_sync(at, last);
        continue;
      }
      add_edge(begin_of(at), end_of(at), EdgeType::op, at);
      const auto found = queue.find(at);
      const Queue lengths = found == queue.end() ? Queue{} : found->second;
      const auto previous = last.find(event(at).stream);
      const Position launch = partner(at);
      const auto wait = waits_for_.find(at);
      const auto ended_before = [&](Position kernel, Time time) { return event(kernel).end() < time; };
      const bool idle = launch != kNone && (!compat_ || (lengths.at_launch == 1 && lengths.at_start == 0)) &&
                        (previous == last.end() || ended_before(previous->second, event(launch).start)) &&
                        (wait == waits_for_.end() || ended_before(wait->second, event(launch).start));
      if (idle && begin_of(launch) != kNone) {
        add_edge(begin_of(launch), begin_of(at), EdgeType::launch_delay, kNone);
      } else if (previous != last.end() &&
                 event(at).start - event(previous->second).end() < kLongestKernelGap &&
                 (wait == waits_for_.end() || ended_before(wait->second, event(previous->second).end()))) {
        add_edge(end_of(previous->second), begin_of(at), EdgeType::kernel_delay, previous->second);
      }
      last[event(at).stream] = at;
    }
  }

  /// Longest path; of equal ones the one whose edges came up first.
  void find_path() {
    const std::size_t count = graph_.nodes.size();
    std::vector<std::vector<std::int32_t>> out(count), in(count);
    std::vector<int> waiting(count);
    for (std::size_t i = 0; i < graph_.edges.size(); ++i) {
      const PathEdge& edge = graph_.edges[i];
      out[static_cast<std::size_t>(edge.from)].push_back(static_cast<std::int32_t>(i));
      in[static_cast<std::size_t>(edge.to)].push_back(static_cast<std::int32_t>(i));
      ++waiting[static_cast<std::size_t>(edge.to)];
    }
    std::vector<NodeId> ready;
    for (std::size_t i = 0; i < count; ++i)
      if (waiting[i] == 0 && !out[i].empty()) ready.push_back(static_cast<NodeId>(i));
    std::vector<Time> longest(count);
    std::vector<std::int32_t> by(count, kNone);
    NodeId end = kNone;
    for (std::size_t next = 0; next < ready.size(); ++next) {
      const auto at = static_cast<std::size_t>(ready[next]);
      for (const std::int32_t edge : in[at]) {
        const PathEdge& from = graph_.edges[static_cast<std::size_t>(edge)];
        const Time length = longest[static_cast<std::size_t>(from.from)] + from.weight;
        if (by[at] == kNone || length > longest[at]) {
          longest[at] = length;
          by[at] = edge;
        }
      }
      if (end == kNone || longest[at] > longest[static_cast<std::size_t>(end)]) end = ready[next];
      for (const std::int32_t edge : out[at])
        if (--waiting[static_cast<std::size_t>(graph_.edges[static_cast<std::size_t>(edge)].to)] == 0)
          ready.push_back(graph_.edges[static_cast<std::size_t>(edge)].to);
    }
    for (NodeId at = end; at != kNone;) {
      graph_.path.push_back(at);
      const std::int32_t edge = by[static_cast<std::size_t>(at)];
      if (edge != kNone) graph_.path_edges.push_back(edge);
      at = edge == kNone ? kNone : graph_.edges[static_cast<std::size_t>(edge)].from;
    }
    std::reverse(graph_.path.begin(), graph_.path.end());
    std::reverse(graph_.path_edges.begin(), graph_.path_edges.end());
  }

  const bool compat_;
  const trace::Trace& trace_;
  const Table& table_;
  const trace::EventTable& e_;
  trace::AskedOnce<bool (*)(std::string_view)> locking_, blocking_, call_;
  std::unordered_map<std::int64_t, Position> by_index_, calls_;
  std::vector<Position> clipped_;
  std::unordered_map<Position, std::array<NodeId, 2>> ids_;
  std::map<std::pair<NodeId, NodeId>, std::size_t> places_;
  std::map<std::int64_t, Launches> launches_;  // by stream
  std::map<std::tuple<std::int64_t, std::string_view, std::string_view>, Launches> of_thread_;
  std::unordered_map<Position, Position> waits_for_;
  PathGraph graph_;
};

}  // namespace

PathGraph critical_path(const trace::Trace& trace, const Table& table, std::string_view annotation,
                        std::int64_t instance, bool compat) {
  return Builder(trace, table, compat).build(annotation, instance);
}

}  // namespace stepscope::analyze::hta
