// Edges of the critical path that begin or end on a device.
#include <algorithm>

#include "analyze/path/launches.h"

namespace stepscope::analyze::path {
namespace {

constexpr Time kMaxKernelGap = 1500000;  // ns

class DeviceEdges {
 public:
  DeviceEdges(const PathRows& rows, const std::vector<Position>& inside, GrowingPath& path)
      : rows_(rows), path_(path), launches_(rows, inside), queues_(queues_around(rows)) {}

  /// Device events and recorded waits, in time order.
  void add(const std::vector<Position>& in_order) {
    for (const Position at : in_order) {
      if (rows_.is_sync(at)) {
        add_sync(at);
        continue;
      }
      path_.add_edge(path_.begin_of(at), path_.end_of(at), EdgeType::op, at);
      add_before(at);
      last_[rows_.event(at).stream] = at;
    }
  }

 private:
  const Event& event(Position at) const { return rows_.event(at); }
  bool ended_before(Position kernel, Time time) const { return event(kernel).end() < time; }

  /// Adds the edge that leads to a device event: from its launch if the stream was idle, else from the
  /// previous event.
  void add_before(Position at) {
    const auto queue = queues_.find(at);
    const QueueAround lengths = queue == queues_.end() ? QueueAround{} : queue->second;
    const auto previous = last_.find(event(at).stream);
    const Position launch = rows_.partner(at);
    const auto wait = waits_for_.find(at);
    const bool idle =
        launch != kNone &&
        (rows_.rules().queues == nullptr || (lengths.at_launch == 1 && lengths.at_start == 0)) &&
        (previous == last_.end() || ended_before(previous->second, event(launch).start)) &&
        (wait == waits_for_.end() || ended_before(wait->second, event(launch).start));
    if (idle && path_.begin_of(launch) != kNone) {
      path_.add_edge(path_.begin_of(launch), path_.begin_of(at), EdgeType::launch_delay, kNone);
    } else if (previous != last_.end() && event(at).start - event(previous->second).end() < kMaxKernelGap &&
               (wait == waits_for_.end() || ended_before(wait->second, event(previous->second).end()))) {
      path_.add_edge(path_.end_of(previous->second), path_.begin_of(at), EdgeType::kernel_delay,
                     previous->second);
    }
  }

  void add_sync(Position at) {
    const Position call = rows_.partner(at);
    const std::string_view what = rows_.name(at);
    if (what == "Stream Wait Event") return add_stream_wait(at, call);
    const NodeId end = call == kNone ? kNone : path_.end_of(call);
    if (end == kNone) return;
    if (what == "Event Sync") {
      const Position source = launches_.recorded_kernel(at);
      if (source != kNone && path_.end_of(source) != kNone)
        path_.add_edge(path_.end_of(source), end, EdgeType::sync, kNone);
      return;
    }
    for (const auto& [stream, kernel] : last_)
      if (what == "Context Sync" || (what == "Stream Sync" && stream == event(at).stream))
        path_.add_edge(path_.end_of(kernel), end, EdgeType::sync, kNone);
  }

  void add_stream_wait(Position at, Position call) {
    const Position source = launches_.recorded_kernel(at);
    const Position next =
        call == kNone ? kNone : launches_.after(event(at).stream, event(call).start, rows_.track(call));
    if (source == kNone || next == kNone) return;
    if (path_.begin_of(next) == kNone || path_.end_of(source) == kNone) return;
    path_.add_edge(path_.end_of(source), path_.begin_of(next), EdgeType::sync, kNone);
    waits_for_[next] = source;
  }

  const PathRows& rows_;
  GrowingPath& path_;
  Launches launches_;
  const std::unordered_map<Position, QueueAround> queues_;
  std::map<std::int64_t, Position> last_;  // by stream
  std::unordered_map<Position, Position> waits_for_;
};

}  // namespace

void add_device_edges(const PathRows& rows, const std::vector<Position>& inside, GrowingPath& path) {
  std::vector<Position> in_order;
  for (const Position at : inside)
    if ((rows.is_device(at) && path.begin_of(at) != kNone) || rows.is_sync(at)) in_order.push_back(at);
  const auto time_of = [&](Position at) {
    return rows.is_sync(at) ? rows.event(at).end() : rows.event(at).start;
  };
  std::stable_sort(in_order.begin(), in_order.end(),
                   [&](Position a, Position b) { return time_of(a) < time_of(b); });
  DeviceEdges(rows, inside, path).add(in_order);
}

}  // namespace stepscope::analyze::path
