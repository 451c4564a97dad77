#include "derive/capture.h"

#include <algorithm>

#include "derive/idle/loading.h"
#include "derive/kernel_class.h"
#include "derive/thread_role.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::IntervalSet;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kLead = 5'000;  // in healthy files the clocks of host and device differ by less
/// Calls that fill no bytes return at once and start nothing: they take 0.1 to 1.0 µs in recordings. Calls
/// that fill something take 2.6 µs and more.
constexpr std::int64_t kNothingToFill = 1'000;
constexpr std::int64_t kLongQuery = 50 * kMillisecond, kLongLaunch = 1000 * kMillisecond;

struct CallClass {
  bool known, launch, fill, blocking, graph, warm_up;
};

/// The meaning of a runtime call's name, looked up once per name.
class CopyCalls {
 public:
  explicit CopyCalls(const trace::Trace& trace) : trace_(trace), by_name_(trace.strings.size()) {}
  const CallClass& of(trace::StringId id) {
    CallClass& call = by_name_[id];
    if (!call.known) {
      const std::string_view name = trace_.text(id);
      const bool first_only =
          name.find("ModuleLoad") != name.npos || name.find("LibraryLoad") != name.npos ||
          name.find("StreamPriorityRange") != name.npos || name.find("StreamCreate") != name.npos ||
          name.find("CtxCreate") != name.npos || name.find("GetAttribute") != name.npos ||
          name.find("GetDeviceProperties") != name.npos || name.ends_with("Free") || name.ends_with("Init");
      call = {true,
              is_launch_call(name),
              name.find("Memset") != name.npos,
              is_blocking_call(name),
              is_graph_launch(name),
              first_only};
    }
    return call;
  }

 private:
  const trace::Trace& trace_;
  std::vector<CallClass> by_name_;
};

/// Ops of a thread with a sequence number. Every op has one while gradients are on; it grows with each op
/// that builds a node of the graph.
struct Numbered {
  std::int64_t ops = 0, first = 0;
  bool grows = false;

  void add(std::int64_t number) {
    if (ops++ == 0) first = number;
    grows = grows || number != first;
  }
  std::int64_t of_graph() const { return grows || ops == 1 ? ops : 0; }
};

void count_kinds(const trace::Trace& trace, const Rank& rank, Capture& c) {
  const EventTable& e = rank.events;
  const trace::ArgReader dims(trace, rank, "Input Dims"), old_dims(trace, rank, "Input dims"),
      stack(trace, rank, "Call stack"), module(trace, rank, "Python module id"),
      sequence(trace, rank, "Sequence number");
  const trace::StringId data_parallel = trace.strings.find("DataParallel.forward"),
                        ddp = trace.strings.find("DistributedDataParallel.forward");
  const std::vector<bool> is_sampled = sampled_tracks(trace, rank);
  std::vector<Numbered> numbered(rank.tracks.size());
  for (Row row = 0; row < e.size(); ++row) {
    const bool host = is_host_range(e.kind[row]);  // devices repeat the host's annotations
    c.data_parallel_calls += host && e.name[row] == data_parallel;
    c.ddp_calls += host && e.name[row] == ddp;
    switch (e.kind[row]) {
      case Kind::op:
        ++c.ops;
        c.with_shapes += dims.has(row) || old_dims.has(row);
        c.with_stacks += stack.has(row);
        if (const auto number = sequence.integer(row)) numbered[e.track[row]].add(*number);
        break;
      case Kind::annotation:
        ++c.annotations;
        break;
      case Kind::python:
        c.python_calls += !is_sampled[e.track[row]];
        c.module_calls += module.has(row);
        break;
      case Kind::runtime:
        ++c.runtime_calls;
        break;
      case Kind::kernel:
        ++c.kernels;
        break;
      case Kind::memcpy:
        ++c.copies;
        break;
      case Kind::memset:
        ++c.fills;
        break;
      case Kind::memory:
        ++c.memory_records;
        break;
      case Kind::range_metrics:
        ++c.range_metrics;
        break;
      case Kind::other:
        ++c.foreign;
        break;
      default:
        break;
    }
  }
  const RecordingCost cost = recording_cost(rank);
  c.profiler = c.python_calls * cost.python + c.ops * cost.op;
  for (const Numbered& of : numbered) c.for_backward += of.of_graph();
}

void count_links(CopyCalls& calls, const Rank& rank, timeline::Interval window, Capture& c) {
  const EventTable& e = rank.events;
  std::vector<bool> has_device(e.size());
  for (const Row row : rank.device_rows()) {
    if (!is_device_work(e.kind[row])) continue;
    const Row launch = e.launch[row];
    if (launch == kNoRow) {
      ++c.device_without_launch;
      c.unlinked_in_window += e.start[row] < window.end && e.end[row] > window.begin;
      continue;
    }
    has_device[launch] = true;
    const std::int64_t lead = e.start[launch] - e.start[row];
    if (lead > kLead) {
      ++c.device_before_launch;
      c.largest_lead = std::max(c.largest_lead, lead);
    }
  }
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != Kind::runtime) continue;
    const CallClass& call = calls.of(e.name[row]);
    c.graph_launches += call.graph;
    if (!call.launch) continue;
    ++c.launches;
    c.launches_without_device += !has_device[row] && !(call.fill && e.duration(row) <= kNothingToFill);
  }
}

/// Adds up host calls that blocked while the device was idle, and calls that only a first iteration makes.
void measure_calls(CopyCalls& calls, const Rank& rank, const timeline::MeasuredSet& busy, Interval window,
                   Capture& c) {
  const EventTable& e = rank.events;
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != Kind::runtime) continue;
    const Interval span{e.start[row], e.end[row]};
    const std::int64_t inside = timeline::overlap(span, window);
    if (inside == 0) continue;
    const CallClass& call = calls.of(e.name[row]);
    if (call.blocking && span.length() >= kMillisecond && busy.length_in(span) * 20 < span.length())
      c.blind_wait += inside;
    if ((call.warm_up && span.length() > kLongQuery) || (call.launch && span.length() > kLongLaunch))
      c.warm_up += inside;
  }
}

/// The times in which a host range other than a step mark was open.
IntervalSet host_activity(const trace::Trace& trace, const Rank& rank) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_mark(trace.strings, is_step_mark);
  Column<Interval> roots;
  for (const Row row : rank.host_rows()) {
    if (!is_host_range(e.kind[row]) || is_mark(e.name[row])) continue;
    if (e.parent[row] == kNoRow || is_mark(e.name[e.parent[row]]))
      roots.push_back({e.start[row], e.end[row]});
  }
  return IntervalSet::of(std::move(roots));
}

}  // namespace

RecordingCost recording_cost(const trace::Rank& rank) {
  const bool own = std::any_of(rank.metadata.begin(), rank.metadata.end(),
                               [](const auto& known) { return known.first == "stepscope.recording"; });
  return own ? RecordingCost{300, 200} : RecordingCost{};
}

Capture capture_of(const trace::Trace& trace, const Rank& rank, const std::vector<DeviceBusy>& devices,
                   Interval window) {
  Capture c;
  CopyCalls calls(trace);
  const timeline::MeasuredSet measured(busy_time(devices));
  const IntervalSet& busy = measured.set();
  count_kinds(trace, rank, c);
  count_links(calls, rank, window, c);
  measure_calls(calls, rank, measured, window, c);
  c.host_data_loading = loading_time(trace, rank).length_in(window);
  const IntervalSet host = host_activity(trace, rank);
  if (!host.empty()) c.host_span = host.parts().back().end - host.parts().front().begin;
  c.unseen = window.length() - unite(host, busy).length_in(window);
  const bool launched = !rank.steps.empty() && rank.steps.back().device_end != trace::kNoTime;
  if (launched && rank.steps.back().row != kNoRow && !busy.empty())
    c.device_lag = std::max<std::int64_t>(
        0, std::min(busy.parts().back().end, rank.steps.back().device_end) - rank.steps.back().end);
  return c;
}

}  // namespace stepscope::derive
