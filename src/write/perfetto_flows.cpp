#include "write/perfetto_flows.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/key_hash.h"

namespace stepscope::write {
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

/// For each event of `order`, the innermost slice of its track at its time, or kNoRow.
Places slices_of(const trace::Rank& rank, const Places& order) {
  struct Open {
    Row next;     ///< the first row of the track that has not begun
    Places rows;  /// those that have, the last to begin behind
  };
  const trace::EventTable& e = rank.events;
  std::vector<Open> tracks;
  for (const trace::Track& track : rank.tracks) tracks.push_back({track.begin, {}});
  Places slices;
  slices.reserve(order.size());
  for (const Row flow : order) {
    const trace::TrackId track = rank.flows.track[flow];
    const std::int64_t time = rank.flows.time[flow];
    auto& [next, rows] = tracks[track];
    for (; next < rank.tracks[track].end && e.start[next] <= time; ++next) {
      while (!rows.empty() && e.end[rows.back()] < e.start[next]) rows.pop_back();
      if (is_slice(e.kind[next])) rows.push_back(next);
    }
    while (!rows.empty() && e.end[rows.back()] < time) rows.pop_back();
    slices.push_back(rows.empty() ? trace::kNoRow : rows.back());
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

Flows flows_of(const trace::Rank& rank, std::uint64_t first,
               const std::function<std::int64_t(std::int64_t)>& time) {
  const trace::FlowTable& table = rank.flows;
  const Places order = in_order(table), slices = slices_of(rank, order);
  const auto place = [&](Row row) { return std::pair(time(rank.events.start[row]), row); };
  std::unordered_map<Key, Row, KeyHash> begun;  // by id: the slice that the next arrow comes from
  Flows flows;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Row flow = order[i], row = slices[i];
    const char phase = table.phase[flow];
    const auto [from, added] = begun.try_emplace({table.category[flow], table.id[flow]}, trace::kNoRow);
    flows.loose += row == trace::kNoRow;
    if (phase != 's' && row != trace::kNoRow && from->second != trace::kNoRow) {
      const bool forward = place(from->second) <= place(row);
      flows.ends.push_back({from->second, first, !forward});
      flows.ends.push_back({row, first++, forward});
    }
    if (phase == 's' || (phase == 't' && row != trace::kNoRow)) from->second = row;
  }
  std::sort(flows.ends.begin(), flows.ends.end(), [](const FlowEnd& a, const FlowEnd& b) {
    return std::tie(a.row, a.last, a.id) < std::tie(b.row, b.last, b.id);
  });
  return flows;
}

}  // namespace stepscope::write
