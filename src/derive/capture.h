// Counts of what a recording holds and lacks. They decide which conclusions it supports.
#pragma once

#include "derive/idle/device_busy.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Estimated cost of recording one event, ns.
struct RecordingCost {
  std::int64_t op = 1200, python = 700;
  std::int64_t of(trace::Kind kind) const {
    return kind == trace::Kind::op ? op : kind == trace::Kind::python ? python : 0;
  }
};
/// Cost for the program that recorded the rank: stepscope's own recordings cost 0.3 µs per operator and
/// 0.2 µs per Python call (bench/collect). All others are assumed to cost as much as torch.profiler's.
RecordingCost recording_cost(const trace::Rank& rank);

/// Counts cover the whole rank. Times are in ns and cover the window unless the comment says otherwise.
struct Capture {
  // Counts by kind of event. Samples of Python stacks are no calls.
  std::int64_t ops = 0, annotations = 0, python_calls = 0, module_calls = 0, runtime_calls = 0;
  std::int64_t kernels = 0, copies = 0, fills = 0, memory_records = 0, foreign = 0;
  std::int64_t data_parallel_calls = 0, ddp_calls = 0;
  std::int64_t for_backward = 0;  ///< ops with a sequence number, on threads that built a graph
  std::int64_t with_shapes = 0, with_stacks = 0, range_metrics = 0;
  // Links.
  std::int64_t launches = 0;  ///< launch-type calls
  std::int64_t launches_without_device =
      0;  ///< launches that no device event links to; fills of no bytes do not count
  std::int64_t device_without_launch = 0;  ///< device events whose call is not in the file
  std::int64_t unlinked_in_window = 0;     ///< device events in the window whose call is not in the file
  std::int64_t device_before_launch = 0;   ///< device events that start > 5 µs before their launch
  std::int64_t largest_lead = 0;           ///< ns: the largest lead of a device event over its launch
  std::int64_t graph_launches = 0;
  // Times.
  std::int64_t host_span = 0;   ///< whole rank: first host range's start to last host range's end
  std::int64_t device_lag = 0;  ///< from the last step's host end to its last device end
  std::int64_t warm_up =
      0;  ///< in calls that only a first iteration makes: loading, context and stream creation
  std::int64_t profiler = 0;           ///< whole rank: estimated cost of recording, by RecordingCost
  std::int64_t blind_wait = 0;         ///< in blocking calls ≥ 1 ms during which the device is busy under 5 %
  std::int64_t unseen = 0;             ///< no host thread has an event and the device is idle
  std::int64_t host_data_loading = 0;  ///< in data-loader ranges of any thread
};

Capture capture_of(const trace::Trace& trace, const trace::Rank& rank, const std::vector<DeviceBusy>& devices,
                   timeline::Interval window);

}  // namespace stepscope::derive
