#include "lanes/ask/search.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"
#include "lanes/ask/query.h"
#include "lanes/json.h"
#include "report/statistics.h"

namespace stepscope::lanes {
namespace {

constexpr std::size_t kMaxListed = 200;
constexpr std::size_t kParts = 512;  // of the run, for the density of hits

/// An event by its place: events are in this order.
struct Hit {
  std::tuple<Time, LaneId, std::uint32_t> place;
  std::size_t rank = 0;
  trace::Row row = trace::kNoRow;
};

std::tuple<Time, LaneId, std::uint32_t> tuple_of(const Place& place) {
  return {place.time, place.lane, place.row};
}

class Searching {
 public:
  Searching(const Run& run, const Wanted& wanted, const Query& query)
      : run_(run), wanted_(wanted), query_(query), counts_(run.names.size()), times_(run.names.size()) {
    matches_.reserve(run.names.size());
    for (const Name& name : run.names.all())
      matches_.push_back(has(lower(run.trace.text(name.text).substr(0, kMaxName)), wanted.part));
  }

  void all() {
    for (LaneId id = 0; id < run_.lanes.all.size(); ++id) {
      const Lane& lane = run_.lanes.all[id];
      if (!wanted_.rank || *wanted_.rank == number_of(run_.rank_of(lane))) in_lane(id, lane);
    }
  }

  std::string json() const {
    Json json;
    json.open('{').key("total").number(total_);
    put_names(json);
    json.key("density").open('[');
    for (const std::uint64_t hits : density_) json.number(hits);
    json.close(']');
    if (query_.after || query_.before) put_hit(json.key("hit"));
    return json.close('}').take();
  }

 private:
  void in_lane(LaneId id, const Lane& lane) {
    const trace::Rank& rank = run_.rank_of(lane);
    const trace::EventTable& e = rank.events;
    const trace::Track& track = rank.tracks[lane.track];
    const ToRun& to_run = run_.clock.of_rank[lane.rank];
    for (trace::Row row = track.begin; row < track.end; ++row) {
      const NameId name = run_.names.of(e.name[row]);
      if (!matches_[name] || !is_drawn(e.kind[row]) || !wanted_.wants(e.kind[row])) continue;
      const Time length = e.duration(row);
      if (length <= wanted_.longer_than || length >= wanted_.shorter_than) continue;
      ++total_;
      ++counts_[name];
      report::add_to(times_[name], length);
      const Time start = to_run(e.start[row]);
      ++density_[part_of(start)];
      if (const std::uint8_t at = run_.lanes.place[lane.rank][row]; at != kNotDrawn)
        consider({{start, id, at}, lane.rank, row});
    }
  }

  std::size_t part_of(Time time) const {
    return std::min(kParts - 1, static_cast<std::size_t>(static_cast<double>(time) * parts_per_ns_));
  }

  void consider(const Hit& hit) {
    const bool none = hit_.row == trace::kNoRow;
    if (query_.after && hit.place > tuple_of(*query_.after) && (none || hit.place < hit_.place)) hit_ = hit;
    if (query_.before && hit.place < tuple_of(*query_.before) && (none || hit.place > hit_.place)) hit_ = hit;
  }

  void put_names(Json& json) const {
    std::vector<NameId> found;
    for (NameId id = 0; id < counts_.size(); ++id)
      if (counts_[id] != 0) found.push_back(id);
    const std::size_t listed = std::min(found.size(), kMaxListed);
    std::partial_sort(
        found.begin(), found.begin() + static_cast<std::ptrdiff_t>(listed), found.end(),
        [&](NameId a, NameId b) { return std::pair(-times_[a], a) < std::pair(-times_[b], b); });
    json.key("names").open('[');
    for (std::size_t i = 0; i < listed; ++i) {
      const NameId id = found[i];
      json.open('{').key("name").text(shown(run_.trace.text(run_.names[id].text))).key("id").number(id);
      json.key("count").number(counts_[id]).key("time").number(times_[id]).close('}');
    }
    json.close(']').key("more_names").number(found.size() - listed);
  }

  void put_hit(Json& json) const {
    if (hit_.row == trace::kNoRow) {
      json.null();
      return;
    }
    const trace::Rank& rank = run_.trace.ranks[hit_.rank];
    const auto& [start, lane, row] = hit_.place;
    json.open('{').key("rank").number(number_of(rank)).key("id").number(rank.events.source[hit_.row]);
    json.key("lane").number(lane).key("row").number(row).key("start").number(start);
    json.key("end").number(run_.clock.of_rank[hit_.rank](rank.events.end[hit_.row])).close('}');
  }

  const Run& run_;
  const Wanted& wanted_;
  const Query& query_;
  const double parts_per_ns_ = static_cast<double>(kParts) / static_cast<double>(std::max<Time>(1, run_.end));
  std::vector<std::uint8_t> matches_;  // by NameId
  std::vector<std::uint32_t> counts_;  // by NameId
  std::vector<std::int64_t> times_;    // by NameId, ns
  std::array<std::uint64_t, kParts> density_{};
  std::uint64_t total_ = 0;
  Hit hit_;
};

}  // namespace

Result<std::string> search_json(const Run& run, const Query& query) {
  const Result<Wanted> wanted = wanted_by(query.text);
  if (!wanted) return wanted.error();
  if (query.after && query.before)
    return Error{"Ask for the hit after a place or for the one before it, not for both.", "", -1};
  Searching searching(run, *wanted, query);
  searching.all();
  return searching.json();
}

}  // namespace stepscope::lanes
