#include "record/device/calls.h"

#include <algorithm>

namespace stepscope::record {
namespace {

constexpr std::int64_t kFarthest = 4'000'000'000'000'000'000;  // ns

}  // namespace

DeviceCalls::DeviceCalls(const Recording& recording) : recording_(recording) {
  std::vector<ClockPair> pairs;
  std::vector<MadeNode> nodes;
  for (const Segment& segment : recording.segments()) {
    bool of_devices = false;
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      of_devices |= record.type >= Type::device_session;
      if (GraphNode made; record.type == Type::graph_node && copy_to(made, bytes))
        nodes.push_back({segment.thread, recording.times().ns(made.tick), made.node, made.original});
      DeviceClockPair pair;
      if (record.type != Type::device_clock || !copy_to(pair, bytes)) return;
      const std::int64_t monotonic = std::clamp<std::int64_t>(pair.monotonic_ns, 0, kFarthest / 4);
      pairs.push_back({static_cast<std::uint64_t>(std::clamp<std::int64_t>(pair.library_ns, 0, kFarthest)),
                       monotonic, recording.times().of_monotonic(monotonic)});
    });
    if (!of_devices) continue;
    segments_.insert(segment.records.data());
    look_at(segment);
  }
  library_times_ = Times(Clock::tsc, std::move(pairs));
  if (!has_calls_) return;
  links_.take(std::move(nodes));
  for (const Segment& segment : recording.segments())
    if (wrote(segment))
      for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
        ApiCall call;
        if (record.type == Type::api_call && copy_to(call, bytes)) add(call);
      });
}

/// Reads the session and whether calls were recorded, before any time is converted.
void DeviceCalls::look_at(const Segment& segment) {
  for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
    has_calls_ |= record.type == Type::api_call;
    DeviceSession session;
    if (record.type != Type::device_session || !copy_to(session, bytes)) return;
    clock_ = static_cast<DeviceClock>(session.value);
    library_version_ = session.library_version;
  });
}

std::int64_t DeviceCalls::ns(std::int64_t device_ns) const {
  if (clock_ == DeviceClock::library)
    return library_times_.ns(static_cast<std::uint64_t>(std::clamp<std::int64_t>(device_ns, 0, kFarthest)));
  return recording_.times().of_monotonic(device_ns);
}

void DeviceCalls::add(const ApiCall& call) {
  LaunchCall launch;
  launch.correlation = call.correlation;
  launch.thread = call.thread;
  launch.begin_ns = ns(call.begin);
  launch.end_ns = std::max(launch.begin_ns, ns(call.end));
  links_.add(launch);
}

}  // namespace stepscope::record
