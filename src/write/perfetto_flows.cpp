#include "write/perfetto_flows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "derive/flow_events.h"

namespace stepscope::write {

Flows flows_of(const trace::Rank& rank, std::uint64_t first,
               const std::function<std::int64_t(std::int64_t)>& time) {
  const derive::Arrows found = derive::arrows_of(rank);
  const auto place = [&](trace::Row row) { return std::pair(time(rank.events.start[row]), row); };
  Flows flows;
  flows.loose = std::count(found.slices.begin(), found.slices.end(), trace::kNoRow);
  for (const derive::Arrow& arrow : found.arrows) {
    const bool forward = place(arrow.from) <= place(arrow.to);
    flows.ends.push_back({arrow.from, first, !forward});
    flows.ends.push_back({arrow.to, first++, forward});
  }
  std::sort(flows.ends.begin(), flows.ends.end(), [](const FlowEnd& a, const FlowEnd& b) {
    return std::tie(a.row, a.last, a.id) < std::tie(b.row, b.last, b.id);
  });
  return flows;
}

}  // namespace stepscope::write
