#include "derive/ranks/bubble.h"

#include <utility>

#include "derive/ranks/collective.h"

namespace stepscope::derive {

using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;
using timeline::Time;

std::vector<Bubble> bubbles(const trace::Trace& trace, const trace::Rank& rank, const DeviceBusy& device,
                            const std::vector<Interval>& steps) {
  const trace::EventTable& e = rank.events;
  const CollectiveArgs args(trace, rank);
  Column<Interval> collectives;
  bool messages = false;
  for (const trace::Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::communication || rank.tracks[e.track[row]].device != device.device)
      continue;
    if (args.of(row).exchange == Exchange::point_to_point)
      messages = true;
    else
      collectives.push_back({e.start[row], e.end[row]});
  }
  if (!messages) return {};
  const MeasuredSet all(device.all);
  const MeasuredSet own(unite(unite(device.compute, device.copy), IntervalSet::of(std::move(collectives))));
  std::vector<Bubble> out;
  for (const Interval& step : steps) {
    const Time busy = all.length_in(step);
    out.push_back({busy - own.length_in(step), step.length() - busy});
  }
  return out;
}

}  // namespace stepscope::derive
