#include "derive/idle/device_busy.h"

#include <map>

namespace stepscope::derive {

using timeline::Interval;
using timeline::IntervalSet;
using trace::Work;

std::vector<DeviceBusy> busy_devices(const trace::Rank& rank) {
  struct Parts {
    Column<Interval> compute, communication, copy;
  };
  std::map<std::int64_t, Parts> devices;
  const trace::EventTable& e = rank.events;
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::device) continue;
    for (trace::Row row = track.begin; row < track.end; ++row) {
      if (!is_device_work(e.kind[row])) continue;
      Parts& parts = devices[track.device];
      auto& list = e.work[row] == Work::compute         ? parts.compute
                   : e.work[row] == Work::communication ? parts.communication
                                                        : parts.copy;
      list.push_back({e.start[row], e.end[row]});
    }
  }
  std::vector<DeviceBusy> busy;
  for (auto& [device, parts] : devices) {
    DeviceBusy b;
    b.device = device;
    b.compute = IntervalSet::of(std::move(parts.compute));
    b.communication = IntervalSet::of(std::move(parts.communication));
    b.copy = IntervalSet::of(std::move(parts.copy));
    b.kernels = unite(b.compute, b.communication);
    b.all = unite(b.kernels, b.copy);
    busy.push_back(std::move(b));
  }
  return busy;
}

IntervalSet busy_time(const std::vector<DeviceBusy>& devices) {
  Column<Interval> all;
  for (const DeviceBusy& device : devices)
    all.insert(all.end(), device.all.parts().begin(), device.all.parts().end());
  return IntervalSet::of(std::move(all));
}

}  // namespace stepscope::derive
