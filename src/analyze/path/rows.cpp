#include "analyze/path/rows.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analyze/question.h"

namespace stepscope::analyze::path {

namespace {

using Position = std::int32_t;

/// The begin or the end of an event. Order at equal times: closes (shorter events first), then opens (longer
/// events first). Events of length 0 come last if another event opens then, else first, so they lie inside
/// what is open.
struct End {
  Time time;
  int order;
  std::int64_t length, index;  ///< sort keys
  Position event;
  bool opens;
  auto key() const { return std::tuple(time, order, length, index); }
};

constexpr int kFirst = 0, kClose = 1, kOpen = 2, kLast = 3;

std::vector<End> ends_of(const Table& table, const std::vector<Position>& thread) {
  std::unordered_set<Time> opens;
  for (const Position at : thread)
    if (table.at(at).length > 0) opens.insert(table.at(at).start);
  std::vector<End> ends;
  for (const Position at : thread) {
    const Event& event = table.at(at);
    if (event.length > 0) {
      ends.push_back({event.start, kOpen, -event.length, event.index, at, true});
      ends.push_back({event.end(), kClose, event.length, -event.index, at, false});
      continue;
    }
    const int order = opens.contains(event.start) ? kLast : kFirst;
    ends.push_back({event.start, order, 0, event.index, at, true});
    ends.push_back({event.start, order, 1, -event.index, at, false});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.key() < b.key(); });
  return ends;
}

}  // namespace

bool is_listed(const trace::Trace& trace, const trace::Rank& rank, Row row) {
  const trace::Kind kind = rank.events.kind[row];
  if (kind == trace::Kind::memory || kind == trace::Kind::instant || kind == trace::Kind::counter ||
      kind == trace::Kind::span)
    return false;
  const std::string_view category = trace.text(rank.events.category[row]);
  return !category.empty() && category != "Trace";
}

Table table_of(const trace::Trace& trace, const trace::Rank& rank) {
  Table table{&rank, origin_of(rank), {}};
  const trace::EventTable& e = rank.events;
  const trace::ArgReader correlation(trace, rank, "correlation");
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_listed(trace, rank, row)) continue;
    const trace::Track& track = rank.tracks[e.track[row]];
    Event event{row, row + std::int64_t{1}, e.start[row] - table.earliest, e.duration(row)};
    event.stream = track.side == trace::Track::Side::device && is_device_row(e.kind[row]) ? track.stream : -1;
    event.correlation = correlation.integer_or(row, -1);
    event.partner = e.launch[row] == trace::kNoRow ? 0 : e.launch[row] + std::int64_t{1};
    table.events.push_back(event);
  }
  return table;
}

std::vector<Nested> nested_in(const Table& table, const std::vector<std::int32_t>& thread) {
  std::vector<Nested> nested;
  std::vector<Position> open;
  for (const End& end : ends_of(table, thread)) {
    if (end.opens) {
      nested.push_back({end.event, open.empty() ? -1 : open.back()});
      open.push_back(end.event);
    } else if (!open.empty()) {
      open.pop_back();
    }
  }
  return nested;
}

}  // namespace stepscope::analyze::path
