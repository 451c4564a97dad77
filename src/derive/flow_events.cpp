#include "derive/flow_events.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/key_hash.h"

namespace stepscope::derive {
namespace {

using trace::Kind;
using trace::Row;

using Places = std::vector<Row>;  ///< indices of flow events

/// The events in the order of their times; at the same time starts come first and ends last.
Places in_order(const trace::FlowTable& flows) {
  const auto turn = [&](Row flow) { return flows.phase[flow] == 's' ? 0 : flows.phase[flow] == 't' ? 1 : 2; };
  Places order(flows.size());
  std::iota(order.begin(), order.end(), Row{0});
  std::stable_sort(order.begin(), order.end(), [&](Row a, Row b) {
    return std::pair(flows.time[a], turn(a)) < std::pair(flows.time[b], turn(b));
  });
  return order;
}

bool is_slice(Kind kind) { return kind != Kind::counter && kind != Kind::instant && kind != Kind::memory; }

/// By row of the FlowTable: the innermost slice of its track at its time, or kNoRow.
Places slices_of(const trace::Rank& rank, const Places& order) {
  struct Open {
    Row next;     ///< the first row of the track that has not begun
    Places rows;  /// those that have, the last to begin behind
  };
  const trace::EventTable& e = rank.events;
  std::vector<Open> tracks;
  for (const trace::Track& track : rank.tracks) tracks.push_back({track.begin, {}});
  Places slices(order.size());
  for (const Row flow : order) {
    const trace::TrackId track = rank.flows.track[flow];
    const std::int64_t time = rank.flows.time[flow];
    auto& [next, rows] = tracks[track];
    for (; next < rank.tracks[track].end && e.start[next] <= time; ++next) {
      while (!rows.empty() && e.end[rows.back()] < e.start[next]) rows.pop_back();
      if (is_slice(e.kind[next])) rows.push_back(next);
    }
    while (!rows.empty() && e.end[rows.back()] < time) rows.pop_back();
    slices[flow] = rows.empty() ? trace::kNoRow : rows.back();
  }
  return slices;
}

struct Key {
  trace::StringId category;
  std::int64_t id;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return hash_of_all(process_hash_seed(), key.category, key.id);
  }
};

}  // namespace

Arrows arrows_of(const trace::Rank& rank) {
  const trace::FlowTable& flows = rank.flows;
  const Places order = in_order(flows);
  Arrows found{slices_of(rank, order), {}};
  std::unordered_map<Key, Row, KeyHash> begun;  // by id: where the next arrow begins
  for (const Row flow : order) {
    const Row slice = found.slices[flow];
    const char phase = flows.phase[flow];
    Row& begin = begun.try_emplace({flows.category[flow], flows.id[flow]}, trace::kNoRow).first->second;
    if (phase != 's' && slice != trace::kNoRow && begin != trace::kNoRow)
      found.arrows.push_back({begin, flow, found.slices[begin], slice});
    if (phase == 's') begin = slice == trace::kNoRow ? trace::kNoRow : flow;
    if (phase == 't' && slice != trace::kNoRow) begin = flow;
  }
  return found;
}

FlowEvents flow_events(const trace::Rank& rank) {
  const Arrows found = arrows_of(rank);
  FlowEvents events{std::vector<Row>(rank.flows.size(), trace::kNoRow),
                    std::vector<Row>(rank.flows.size(), trace::kNoRow)};
  for (Row flow = 0; flow < rank.flows.size(); ++flow)
    (rank.flows.phase[flow] == 'f' ? events.to : events.from)[flow] = found.slices[flow];
  for (const Arrow& arrow : found.arrows) {
    if (events.to[arrow.begin] == trace::kNoRow) events.to[arrow.begin] = arrow.to;
    if (rank.flows.phase[arrow.end] == 'f') events.from[arrow.end] = arrow.from;
  }
  return events;
}

}  // namespace stepscope::derive
