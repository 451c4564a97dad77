#include "lanes/ask/drawn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "lanes/json.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::lanes {
namespace {

using timeline::Interval;
using trace::kNoRow;
using trace::Row;

constexpr Interval kAlways{0, std::numeric_limits<Time>::max()};

/// Neighbouring parts as one, at the place of the longest that has one.
struct Joined {
  Interval span;
  Time time = 0;
  std::size_t count = 0;
  PathPart longest{{0, 0}, 0, "", kNoRow};

  void add(const PathPart& part) {
    span = {count == 0 ? part.span.begin : span.begin, part.span.end};
    report::add_to(time, part.time);
    const auto rank_of = [](const PathPart& one) { return std::pair(one.row != kNoRow, one.span.length()); };
    if (count++ == 0 || rank_of(part) > rank_of(longest)) longest = part;
  }
};

/// Joins what is shorter than `least`. As parts follow each other, at most every second one stays so short.
std::vector<Joined> joined(const std::vector<PathPart>& parts, Time least) {
  std::vector<Joined> out;
  bool is_open = false;
  for (const PathPart& part : parts) {
    const bool is_long = part.span.length() >= least;
    if (is_long || !is_open) out.emplace_back();
    out.back().add(part);
    is_open = !is_long && out.back().span.length() < least;
  }
  return out;
}

/// On the run's clock, inside the window. A part does not begin before the one before it ends.
std::vector<PathPart> parts_in(const Run& run, const DrawnPath& path, const Interval& window) {
  const ToRun& to_run = run.clock.of_rank[path.rank];
  std::vector<PathPart> parts;
  Time behind = 0;
  for (PathPart part : path.parts) {
    part.span.begin = std::max(behind, to_run(part.span.begin));
    part.span.end = behind = std::max(part.span.begin, to_run(part.span.end));
    if (part.span.begin < window.end && part.span.end >= window.begin) parts.push_back(part);
  }
  return parts;
}

void put_notes(Json& json, const std::vector<std::string>& notes) {
  json.key("notes").open('[');
  for (const std::string& note : notes) json.text(note);
  json.close(']');
}

struct Part {
  Time time;
  double share;
  std::string_view words;
};

/// "HEAD: 7.86 ms · 97.6 % device work · 2.4 % on the host", most time first, then the notes.
std::string summary_of(std::string head, Time time, std::vector<Part> parts,
                       const std::vector<std::string>& notes) {
  head += ": " + report::format_value(time, report::Unit::ns);
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.time > b.time; });
  for (const Part& part : parts)
    if (part.time > 0)
      head += fmt::format(" · {} {}", report::format_value(part.share, report::Unit::share), part.words);
  for (const std::string& note : notes) head += " · " + note;
  return head;
}

struct At {
  LaneId lane = kNoLane;
  std::uint8_t row = kNotDrawn;
};
At place_of(const Run& run, std::size_t rank, Row row) {
  if (row == kNoRow) return {};
  const At at{run.lanes.of_track[rank][run.trace.ranks[rank].events.track[row]], run.lanes.place[rank][row]};
  return at.lane == kNoLane || at.row == kNotDrawn ? At{} : at;
}

void put_event_id(Json& json, std::string_view key, const trace::Rank& rank, Row row) {
  json.key(key);
  row == kNoRow ? json.null() : json.number(rank.events.source[row]);
}

void put_part(Json& json, const Run& run, std::size_t rank, const Joined& part) {
  const At at = place_of(run, rank, part.longest.row);
  json.open('{').key("lane");
  at.lane == kNoLane ? json.null() : json.number(at.lane);
  json.key("row");
  at.lane == kNoLane ? json.null() : json.number(std::uint32_t{at.row});
  put_event_id(json, "id", run.trace.ranks[rank], part.longest.row);
  json.key("start").number(part.span.begin).key("end").number(part.span.end).key("time").number(part.time);
  json.key("kind").text(part.longest.kind).key("count").number(part.count).close('}');
}

/// The lanes of a device, and its numbers.
void put_device(Json& json, const Run& run, std::size_t q, std::int64_t device) {
  const trace::Rank& rank = run.trace.ranks[q];
  json.open('{').key("rank").number(number_of(rank)).key("device").number(device).key("lanes").open('[');
  for (LaneId id = 0; id < run.lanes.all.size(); ++id) {
    const Lane& lane = run.lanes.all[id];
    if (lane.rank == q && lane.device && rank.tracks[lane.track].device == device) json.number(id);
  }
  json.close(']').close('}');
}

/// A piece of idle time; those of a device are neighbours.
struct IdlePart {
  const RankIdle* of;
  std::size_t index;
  const derive::IdlePiece& piece() const { return (*of->pieces)[index]; }
  friend bool operator<(const IdlePart& a, const IdlePart& b) {
    return std::pair(a.of, a.index) < std::pair(b.of, b.index);
  }
  bool is_of_device(const IdlePart& other) const {
    return of == other.of && piece().device == other.piece().device;
  }
};

void put_idle_part(Json& json, const Run& run, const IdlePart& stretch, std::size_t device) {
  const RankIdle& of = *stretch.of;
  const trace::Rank& rank = run.trace.ranks[of.rank];
  const derive::IdlePiece& piece = stretch.piece();
  const Row host = (*of.hosts)[stretch.index];
  const ToRun& to_run = run.clock.of_rank[of.rank];
  json.open('{').key("device").number(device);
  json.key("start").number(to_run(piece.span.begin)).key("end").number(to_run(piece.span.end));
  json.key("cause").number(static_cast<std::size_t>(piece.cause));
  put_event_id(json, "host", rank, host);
  json.key("name");
  host == kNoRow ? json.null() : json.number(run.names.of(rank.events.name[host]));
  put_event_id(json, "ended_by", rank, piece.ender);
  json.close('}');
}

/// All causes in their order, so that a stretch names its cause by a number.
void put_causes(Json& json, const DrawnIdle& idle) {
  std::array<Time, derive::kIdleCauses> time{};
  std::array<std::size_t, derive::kIdleCauses> count{};
  for (const RankIdle& of : idle.ranks)
    for (const derive::IdlePiece& piece : *of.pieces) {
      report::add_to(time[static_cast<std::size_t>(piece.cause)], piece.span.length());
      ++count[static_cast<std::size_t>(piece.cause)];
    }
  Time all = 0;
  for (const Time one : time) report::add_to(all, one);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < derive::kIdleCauses; ++i)
    parts.push_back({time[i], report::ratio(time[i], all), name_of(static_cast<derive::IdleCause>(i))});
  json.key("summary").text(summary_of("Devices idle", all, std::move(parts), idle.notes));
  json.key("time").number(all).key("causes").open('[');
  for (std::size_t i = 0; i < derive::kIdleCauses; ++i) {
    const auto cause = static_cast<derive::IdleCause>(i);
    json.open('{').key("cause").text(name_of(cause)).key("meaning").text(meaning_of(cause));
    json.key("time").number(time[i]).key("share").real(report::ratio(time[i], all));
    json.key("pieces").number(count[i]).close('}');
  }
  json.close(']');
}

/// The longest in the window, in order; `shorter` counts the others.
std::vector<IdlePart> longest_in(const Run& run, const std::vector<RankIdle>& ranks, const Interval& window,
                                 std::size_t& shorter) {
  std::vector<IdlePart> all;
  for (const RankIdle& of : ranks) {
    const ToRun& to_run = run.clock.of_rank[of.rank];
    for (std::size_t i = 0; i < of.pieces->size(); ++i) {
      const Interval& span = (*of.pieces)[i].span;
      if (to_run(span.begin) < window.end && to_run(span.end) > window.begin) all.push_back({&of, i});
    }
  }
  const std::size_t listed = std::min(all.size(), kMaxDrawn);
  shorter = all.size() - listed;
  const auto longer = [](const IdlePart& a, const IdlePart& b) {
    const Time one = a.piece().span.length(), other = b.piece().span.length();
    return one != other ? one > other : a < b;
  };
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(listed), all.end(), longer);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(listed), all.end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::string path_json(const Run& run, const DrawnPath& path, const std::optional<Interval>& window) {
  const std::vector<PathPart> parts = parts_in(run, path, window.value_or(kAlways));
  Time least = 0;
  if (parts.size() > kMaxDrawn) {
    const Interval span = window.value_or(Interval{parts.front().span.begin, parts.back().span.end});
    least = std::max<Time>(1, span.length() / static_cast<Time>(kMaxDrawn / 2 - 4) + 1);
  }
  Json json;
  json.open('{').key("rank").number(number_of(run.trace.ranks[path.rank])).key("step");
  path.step ? json.number(*path.step) : json.null();
  std::vector<Part> kinds;
  for (const PathKind& kind : path.kinds) kinds.push_back({kind.time, kind.share, kind.meaning});
  std::string head = fmt::format("Critical path of rank {}", number_of(run.trace.ranks[path.rank]));
  if (path.step) head += fmt::format(", step {}", *path.step);
  json.key("summary").text(summary_of(std::move(head), path.time, std::move(kinds), path.notes));
  json.key("time").number(path.time).key("bound_by").open('[');
  for (const PathKind& kind : path.kinds) {
    json.open('{').key("bound_by").text(kind.name).key("meaning").text(kind.meaning);
    json.key("time").number(kind.time);
    json.key("share").real(kind.share).close('}');
  }
  json.close(']').key("parts").open('[');
  const std::vector<Joined> drawn = joined(parts, least);
  for (const Joined& part : drawn) put_part(json, run, path.rank, part);
  json.close(']').key("joined").number(parts.size() - drawn.size());
  put_notes(json, path.notes);
  return json.close('}').take();
}

std::string idle_json(const Run& run, const DrawnIdle& idle, const std::optional<Interval>& window) {
  std::size_t shorter = 0;
  const std::vector<IdlePart> listed = longest_in(run, idle.ranks, window.value_or(kAlways), shorter);
  const auto begins_device = [&](std::size_t i) { return i == 0 || !listed[i].is_of_device(listed[i - 1]); };
  Json json;
  json.open('{');
  put_causes(json, idle);
  json.key("devices").open('[');
  for (std::size_t i = 0; i < listed.size(); ++i)
    if (begins_device(i)) {
      const RankIdle& of = *listed[i].of;
      const auto device = static_cast<std::size_t>(listed[i].piece().device);
      put_device(json, run, of.rank, (*of.devices)[device].device);
    }
  json.close(']').key("stretches").open('[');
  std::size_t devices = 0;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    devices += begins_device(i);
    put_idle_part(json, run, listed[i], devices - 1);
  }
  json.close(']').key("shorter").number(shorter);
  put_notes(json, idle.notes);
  return json.close('}').take();
}

}  // namespace stepscope::lanes
