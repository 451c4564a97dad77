#include "write/flow_events.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <tuple>

namespace stepscope::write {

using trace::Kind;
using trace::Row;

Row slice_at(const trace::Rank& rank, const trace::Track& track, std::int64_t time) {
  constexpr Row kMaxTried = 1024;  // earlier rows to check
  const trace::EventTable& e = rank.events;
  const auto begin = e.start.begin() + track.begin, end = e.start.begin() + track.end;
  Row row = static_cast<Row>(std::upper_bound(begin, end, time) - e.start.begin());
  for (Row tried = 0; row > track.begin && tried < kMaxTried; ++tried) {
    --row;
    const bool slice =
        e.kind[row] != Kind::counter && e.kind[row] != Kind::instant && e.kind[row] != Kind::memory;
    if (slice && e.end[row] >= time) return row;
  }
  return trace::kNoRow;
}

FlowEvents flow_events(const trace::Rank& rank) {
  const trace::FlowTable& flows = rank.flows;
  const auto place = [](char phase) { return phase == 's' ? 0 : phase == 't' ? 1 : 2; };
  std::vector<Row> ends(flows.size());
  std::iota(ends.begin(), ends.end(), Row{0});
  std::sort(ends.begin(), ends.end(), [&](Row a, Row b) {
    return std::tuple(flows.category[a], flows.id[a], flows.time[a], place(flows.phase[a]), a) <
           std::tuple(flows.category[b], flows.id[b], flows.time[b], place(flows.phase[b]), b);
  });
  FlowEvents events{std::vector<Row>(flows.size(), trace::kNoRow),
                    std::vector<Row>(flows.size(), trace::kNoRow)};
  std::optional<Row> open;  // the end at which the next arrow begins
  for (const Row end : ends) {
    if (open && (flows.category[*open] != flows.category[end] || flows.id[*open] != flows.id[end]))
      open.reset();
    const Row event = slice_at(rank, rank.tracks[flows.track[end]], flows.time[end]);
    const bool arrives = flows.phase[end] != 's';
    if (arrives && open && events.to[*open] == trace::kNoRow) events.to[*open] = event;
    if (flows.phase[end] == 'f') {
      events.from[end] = open ? events.from[*open] : trace::kNoRow;
      events.to[end] = event;
    } else {
      events.from[end] = event;
      open = end;
    }
  }
  return events;
}

}  // namespace stepscope::write
