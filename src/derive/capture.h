// What a recording holds and what it lacks, counted: the facts that decide which conclusions it can carry.
#pragma once

#include "derive/idle/device_busy.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// What recording an event costs, ns, an estimate.
struct RecordingCost {
  std::int64_t op = 1200, python = 700;
  std::int64_t of(trace::Kind kind) const {
    return kind == trace::Kind::op ? op : kind == trace::Kind::python ? python : 0;
  }
};
/// Of the program that recorded the rank: stepscope's own recordings cost 0.3 µs an operator and 0.2 µs a
/// Python call (bench/collect), others are taken to cost what torch.profiler's do.
RecordingCost recording_cost(const trace::Rank& rank);

/// Counts are of the whole rank; times in ns, of the window unless said otherwise.
struct Capture {
  // Counts by what was recorded.
  std::int64_t ops = 0, annotations = 0, python_calls = 0, module_calls = 0, runtime_calls = 0;
  std::int64_t kernels = 0, copies = 0, fills = 0, memory_records = 0, foreign = 0;
  std::int64_t data_parallel_calls = 0, ddp_calls = 0;
  std::int64_t for_backward = 0;  ///< ops with a sequence number: gradients were on
  std::int64_t with_shapes = 0, with_stacks = 0, range_metrics = 0;
  // Links.
  std::int64_t launches = 0;  ///< launch-type calls
  std::int64_t launches_without_device =
      0;  ///< … no device event has their correlation, fills of nothing aside
  std::int64_t device_without_launch = 0;  ///< device events whose call is not in the file
  std::int64_t unlinked_in_window = 0;     ///< of those, in the window
  std::int64_t device_before_launch = 0;   ///< device events that start > 5 µs before their launch
  std::int64_t largest_lead = 0;           ///< of those, ns
  std::int64_t graph_launches = 0;
  // Times.
  std::int64_t host_span = 0;   ///< first host range's start to the last one's end
  std::int64_t device_lag = 0;  ///< last device end after the last step's host end
  std::int64_t warm_up =
      0;  ///< in calls that only a first iteration makes: loading, context and stream creation
  std::int64_t profiler = 0;           ///< estimated cost of recording, by RecordingCost
  std::int64_t blind_wait = 0;         ///< blocking calls ≥ 1 ms in which the device is busy under 5 %
  std::int64_t unseen = 0;             ///< no host thread has an event and the device is idle
  std::int64_t host_data_loading = 0;  ///< in data-loader ranges, of any thread
};

Capture capture_of(const trace::Trace& trace, const trace::Rank& rank, const std::vector<DeviceBusy>& devices,
                   timeline::Interval window);

}  // namespace stepscope::derive
