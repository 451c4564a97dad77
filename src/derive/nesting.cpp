#include <algorithm>

#include "derive/stages.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::kNoRow;
using trace::Row;

namespace {

/// Old files round start and length down to whole microseconds separately, so a child may seem to end up to
/// 1 µs after its parent.
constexpr std::int64_t kRounding = 1000;

/// No real thread has more half-overlapping ranges open. A range whose parent is further up the stack becomes
/// a root.
constexpr std::size_t kMaxLooked = 64;

/// The innermost open range that contains `row`; ranges that only overlap `row` are skipped.
Row enclosing(const EventTable& e, const std::vector<Row>& open, Row row) {
  for (std::size_t i = open.size(), looked = 0; i-- > 0 && looked < kMaxLooked; ++looked)
    if (e.start[row] < e.end[open[i]] && e.end[row] <= e.end[open[i]] + kRounding) return open[i];
  return kNoRow;
}

void nest_track(EventTable& e, const trace::Track& track, std::vector<Row>& open) {
  open.clear();
  for (Row row = track.begin; row < track.end; ++row) {
    if (!is_host_range(e.kind[row])) continue;
    while (!open.empty() && e.end[open.back()] <= e.start[row]) open.pop_back();
    const Row parent = enclosing(e, open, row);
    e.parent[row] = parent;
    if (parent != kNoRow) e.depth[row] = static_cast<std::uint16_t>(std::min(0xFFFF, e.depth[parent] + 1));
    open.push_back(row);
  }
}

}  // namespace

void fill_nesting(trace::Rank& rank) {
  EventTable& e = rank.events;
  e.parent.assign(e.size(), kNoRow);
  e.depth.assign(e.size(), 0);
  std::vector<Row> open;
  for (const trace::Track& track : rank.tracks)
    if (track.side == trace::Track::Side::host) nest_track(e, track, open);
}

}  // namespace stepscope::derive
