#include "lanes/lane.h"

#include <algorithm>
#include <tuple>

#include "base/parallel.h"
#include "lanes/lane_name.h"

namespace stepscope::lanes {
namespace {

using trace::Rank;
using trace::Trace;
using trace::Track;
using trace::TrackId;

bool has_drawn(const Rank& rank, const Track& track) {
  trace::Row row = track.begin;
  while (row < track.end && !is_drawn(rank.events.kind[row])) ++row;
  return row < track.end;
}

const Track& track_of(const Trace& trace, const Lane& lane) {
  return trace.ranks[lane.rank].tracks[lane.track];
}

/// By rank, device streams first.
void sort_lanes(const Trace& trace, std::vector<Lane>& lanes) {
  const auto order = [&](const Lane& lane) {
    const Track& track = track_of(trace, lane);
    return std::tuple(lane.rank, !lane.device, lane.device ? track.device : 0, lane.role, track.stream,
                      lane.track);
  };
  std::sort(lanes.begin(), lanes.end(), [&](const Lane& a, const Lane& b) { return order(a) < order(b); });
}

std::size_t keep_fullest(const Trace& trace, std::vector<Lane>& lanes) {
  if (lanes.size() <= kMaxLanes) return 0;
  const auto order = [&](const Lane& lane) {
    const Track& track = track_of(trace, lane);
    return std::tuple(~(track.end - track.begin), lane.rank, lane.track);
  };
  std::sort(lanes.begin(), lanes.end(), [&](const Lane& a, const Lane& b) { return order(a) < order(b); });
  const std::size_t left_out = lanes.size() - kMaxLanes;
  lanes.resize(kMaxLanes);
  return left_out;
}

void fill(const Trace& trace, const RunClock& clock, std::vector<Column<std::uint8_t>>& place, Lane& lane) {
  Layout layout = lay_out(trace.ranks[lane.rank], track_of(trace, lane), place[lane.rank]);
  lane.events = layout.events;
  lane.hidden = layout.hidden;
  for (Column<trace::Row>& events : layout.rows) {
    LaneRow& row = lane.rows.emplace_back(LaneRow{std::move(events), {}});
    row.pyramid = Pyramid(events_of(trace, clock, lane, row));
  }
}

}  // namespace

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"compute",  "communication", "copy",   "main",
                                         "autograd", "loader",        "thread", "other"};
  return kNames[static_cast<std::size_t>(role)];
}

Lanes lanes_of(const Trace& trace, const RunClock& clock, unsigned threads) {
  Lanes lanes;
  LaneKeys keys;
  for (std::uint32_t q = 0; q < trace.ranks.size(); ++q) {
    const Rank& rank = trace.ranks[q];
    const TrackRoles roles(trace, rank);
    lanes.place.emplace_back(rank.events.size(), kNotDrawn);
    lanes.of_track.emplace_back(rank.tracks.size(), kNoLane);
    lanes.is_autograd.emplace_back(rank.tracks.size());
    for (TrackId t = 0; t < rank.tracks.size(); ++t) {
      if (!has_drawn(rank, rank.tracks[t])) continue;
      Lane lane{.rank = q, .track = t, .device = rank.tracks[t].side == Track::Side::device};
      lane.role = roles.of(t);
      lanes.is_autograd[q][t] = lane.role == Role::autograd;
      lane.key = keys.of(rank, rank.tracks[t]);
      lane.name = roles.name_of(t);
      lane.title = roles.title_of(t);
      lanes.all.push_back(std::move(lane));
    }
  }
  lanes.left_out = keep_fullest(trace, lanes.all);
  sort_lanes(trace, lanes.all);
  for (LaneId id = 0; id < lanes.all.size(); ++id)
    lanes.of_track[lanes.all[id].rank][lanes.all[id].track] = id;
  parallel_for(lanes.all.size(), threads,
               [&](std::size_t i) { fill(trace, clock, lanes.place, lanes.all[i]); });
  return lanes;
}

}  // namespace stepscope::lanes
