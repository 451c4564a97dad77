#include "lanes/recorded.h"

#include <algorithm>
#include <span>

#include "lanes/json.h"

namespace stepscope::lanes {
namespace {

using trace::Row;

constexpr std::uint32_t kEventsMagic = 0x4E455645;  // "EVEN"
constexpr std::uint16_t kEventsVersion = 1;
constexpr std::size_t kTimeBytes = 7;
constexpr std::size_t kMaxSorts = 0xFFFF;

void put_bytes(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

/// All lowest bytes, then all next ones.
template <class Value>
void put_planes(std::string& out, const std::vector<Value>& values, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    for (const Value value : values) out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}

std::uint32_t zigzag(std::int64_t difference) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(difference) << 1 ^
                                    static_cast<std::uint64_t>(difference >> 63));
}

/// The events [first, last) of a row that lie in the span, or partly.
std::pair<std::uint32_t, std::uint32_t> range_of(const RowEvents& events, const timeline::Interval& span) {
  const std::uint32_t first = events.first_from(span.begin);
  std::uint32_t low = first, high = events.size();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (events.start(middle) < span.end)
      low = middle + 1;
    else
      high = middle;
  }
  return {first, low};
}

}  // namespace

struct Recorded::Columns {
  std::vector<std::uint32_t> lane, row, count;
  std::vector<std::uint64_t> gap, length;
  std::vector<std::uint32_t> id, name, step;
  std::vector<std::uint16_t> sort;
  std::vector<std::uint8_t> family;
};

Recorded::Recorded(const Run& run) : run_(run) {
  for (const Lane& lane : run.lanes.all) {
    const trace::EventTable& e = run.rank_of(lane).events;
    for (const LaneRow& row : lane.rows) {
      events_ += row.events.size();
      for (const Row event : row.events) sorts_.try_emplace({e.kind[event], e.category[event]}, 0);
    }
  }
  std::uint32_t next = 0;
  for (auto& [sort, index] : sorts_)
    index = static_cast<std::uint32_t>(std::min<std::size_t>(next++, kMaxSorts));
  for (const trace::Rank& rank : run.trace.ranks)
    for (const trace::Step& step : rank.steps)
      if (step.counts()) step_numbers_.try_emplace(step.number, 0);
  next = 0;
  for (auto& [number, index] : step_numbers_) index = ++next;
}

std::vector<std::size_t> Recorded::rows_of_lanes() const {
  std::vector<std::size_t> rows;
  for (const Lane& lane : run_.lanes.all) rows.push_back(lane.rows.size());
  return rows;
}

std::vector<timeline::Interval> Recorded::steps() const {
  std::vector<timeline::Interval> all, apart;
  for (std::size_t q = 0; q < run_.trace.ranks.size(); ++q)
    for (const trace::Step& step : run_.trace.ranks[q].steps)
      if (step.counts()) all.push_back({run_.clock.of_rank[q](step.start), run_.clock.of_rank[q](step.end)});
  std::ranges::sort(all, {}, [](const timeline::Interval& step) { return std::pair(step.begin, step.end); });
  for (const timeline::Interval& step : all)
    if (step.begin < step.end && (apart.empty() || step.begin >= apart.back().end)) apart.push_back(step);
  for (std::size_t i = 0; i < apart.size(); ++i)
    apart[i].end = i + 1 < apart.size() ? apart[i + 1].begin : std::max(apart[i].end, run_.end + 1);
  return apart;
}

std::size_t Recorded::count(const timeline::Interval& span) const {
  std::size_t count = 0;
  for (const Lane& lane : run_.lanes.all)
    for (const LaneRow& row : lane.rows) {
      const auto [first, last] = range_of(run_.events(lane, row), span);
      count += last - first;
    }
  return count;
}

std::uint32_t Recorded::step_of(const trace::Rank& rank, Row row) const {
  const std::int32_t step = rank.events.step[row];
  if (step < 0) return 0;
  const trace::Step& of = rank.steps[static_cast<std::size_t>(step)];
  return of.counts() ? step_numbers_.at(of.number) : 0;
}

void Recorded::take_row(Columns& columns, const Lane& lane, const RowEvents& events,
                        const timeline::Interval& span) const {
  const trace::Rank& rank = run_.rank_of(lane);
  const trace::EventTable& e = rank.events;
  const auto [first, last] = range_of(events, span);
  columns.count.push_back(last - first);
  Time behind = 0;
  std::int64_t id = 0;
  for (std::uint32_t i = first; i < last; ++i) {
    const Row row = events.row(i);
    columns.gap.push_back(static_cast<std::uint64_t>(events.start(i) - behind));
    columns.length.push_back(static_cast<std::uint64_t>(events.length(i)));
    columns.id.push_back(zigzag(e.source[row] - id));
    columns.name.push_back(run_.names.of(e.name[row]));
    columns.sort.push_back(static_cast<std::uint16_t>(sorts_.at({e.kind[row], e.category[row]})));
    columns.step.push_back(step_of(rank, row));
    columns.family.push_back(static_cast<std::uint8_t>(run_.family_of(lane.rank, row)));
    behind = events.end(i);
    id = e.source[row];
  }
}

std::string Recorded::block(const timeline::Interval& span) const {
  Columns columns;
  for (LaneId id = 0; id < run_.lanes.all.size(); ++id) {
    const Lane& lane = run_.lanes.all[id];
    for (std::uint32_t r = 0; r < lane.rows.size(); ++r) {
      columns.lane.push_back(id);
      columns.row.push_back(r);
      take_row(columns, lane, run_.events(lane, lane.rows[r]), span);
    }
  }
  std::string out;
  put_bytes(out, kEventsMagic, 4);
  put_bytes(out, kEventsVersion, 2);
  put_bytes(out, 0, 2);
  put_bytes(out, columns.lane.size(), 4);
  put_bytes(out, columns.gap.size(), 4);
  for (const auto* column : {&columns.lane, &columns.row, &columns.count})
    for (const std::uint32_t value : *column) put_bytes(out, value, 4);
  put_planes(out, columns.gap, kTimeBytes);
  put_planes(out, columns.length, kTimeBytes);
  put_planes(out, columns.id, 4);
  put_planes(out, columns.name, 4);
  put_planes(out, columns.sort, 2);
  put_planes(out, columns.step, 4);
  put_planes(out, columns.family, 1);
  return out;
}

std::string Recorded::legend() const {
  Json json;
  json.open('{').key("kinds").open('[');
  for (const auto& [sort, index] : sorts_) {
    json.open('[').text(name_of(sort.first)).text(shown(run_.trace.text(sort.second))).close(']');
    if (index == kMaxSorts) break;
  }
  json.close(']').key("kind_names").open('[');
  for (int kind = 0; kind < trace::kKinds; ++kind) json.text(name_of(static_cast<trace::Kind>(kind)));
  json.close(']').key("steps").open('[');
  for (const auto& [number, index] : step_numbers_) json.number(number);
  std::string members = json.close(']').take();
  return members.substr(1);
}

std::vector<EventName> Recorded::notable(std::size_t most) const {
  std::vector<EventName> names;
  for (const trace::Rank& rank : run_.trace.ranks)
    for (const trace::Step& step : rank.steps)
      if (step.counts() && step.row != trace::kNoRow && names.size() < most)
        names.push_back({number_of(rank), rank.events.source[step.row]});
  const std::size_t lanes = std::max<std::size_t>(1, run_.lanes.all.size());
  const std::size_t each = std::max<std::size_t>(1, most / lanes);
  std::vector<std::pair<Time, EventName>> longest;  // of a lane
  for (const Lane& lane : run_.lanes.all) {
    longest.clear();
    const trace::Rank& rank = run_.rank_of(lane);
    for (const LaneRow& row : lane.rows)
      for (const Row event : row.events)
        longest.push_back({-rank.events.duration(event), {number_of(rank), rank.events.source[event]}});
    const std::size_t taken = std::min(each, longest.size());
    std::partial_sort(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(taken), longest.end());
    for (std::size_t i = 0; i < taken; ++i) names.push_back(longest[i].second);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

}  // namespace stepscope::lanes
