// How far the host was ahead of the device, what the launch calls cost, and where the device waited for
// launches.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/host/loops.h"
#include "analyze/idle/host_bound.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// One stream of a device. Times in ns. Without recorded launches, delays, `depth` and `blocked` are unknown.
struct StreamDelays {
  std::int64_t rank = -1, device = 0, stream = 0;
  std::int64_t events = 0, launches = 0;
  std::int64_t median = report::kNoInt, p90 = report::kNoInt,
               longest = report::kNoInt;  ///< delay of an event after its launch
  double queue_empty = report::kNoReal;   ///< events that started at once / events with a launch
  std::int64_t depth = report::kNoInt;    ///< max launches queued
  std::int64_t blocked = report::kNoInt;  ///< time in launch calls that waited for the device
};

/// Launch calls of one name. Times in ns.
struct LaunchCalls {
  std::int64_t rank;
  std::string name;
  std::int64_t count, total, median, longest;
  std::int64_t events;  ///< device events that the calls launched
};

/// Launches of one graph. Times in ns.
struct GraphLaunches {
  std::int64_t rank;
  std::string name;
  std::int64_t graph;  ///< graph id; report::kNoInt if not recorded
  std::int64_t count, events, call_time, device_time;
};

/// Runtime calls of one name that neither start device work, nor wait for it, nor allocate. Times in ns.
struct RuntimeCalls {
  std::int64_t rank;
  std::string name;
  std::int64_t count, total;
};

struct Launches {
  std::vector<StreamDelays> streams;
  std::vector<LaunchCalls> calls;
  std::vector<HostBoundStretch> stretches;
  std::vector<GraphLaunches> graphs;
  std::vector<OpLoop> loops;
  std::vector<RuntimeCalls> other_calls;
  std::vector<std::string> notes;
};
Launches launches_of(const Derived& derived);

}  // namespace stepscope::analyze
