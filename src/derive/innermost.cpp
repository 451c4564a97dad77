#include "derive/innermost.h"

#include <algorithm>

#include "timeline/interval.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::kNoRow;
using trace::Row;

namespace {

/// Bounds one walk, so that a hostile file cannot make many walks quadratic.
constexpr int kMaxSteps = 16'384;

}  // namespace

Row open_at(const EventTable& events, Row from, std::int64_t time) {
  Row at = from;
  for (int steps = 0; at != kNoRow && steps < kMaxSteps; ++steps, at = events.parent[at])
    if (time < events.end[at]) return at;
  return kNoRow;
}

Row innermost_at(const trace::Rank& rank, const trace::Track& track, std::int64_t time) {
  const EventTable& e = rank.events;
  const auto first = e.start.begin() + track.begin, last = e.start.begin() + track.end;
  Row row = track.begin + static_cast<Row>(std::upper_bound(first, last, time) - first);
  for (int steps = 0; row > track.begin && steps < kMaxSteps; ++steps)
    if (is_host_range(e.kind[--row])) return open_at(e, row, time);
  return kNoRow;
}

Row covers_half(const EventTable& events, Row row, std::int64_t begin, std::int64_t end) {
  Row at = row;
  for (int steps = 0; at != kNoRow && steps < kMaxSteps; ++steps, at = events.parent[at])
    if (timeline::overlap({events.start[at], events.end[at]}, {begin, end}) * 2 >= end - begin) return at;
  return kNoRow;
}

}  // namespace stepscope::derive
