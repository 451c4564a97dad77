// The user's own ranges: how long on the host and on the device, and which kernels ran in them.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyze/hta/rows.h"
#include "analyze/idle/device_spans.h"
#include "analyze/list.h"
#include "analyze/named_durations.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Time;
using trace::Kind;
using trace::Row;
using trace::TrackId;

/// An event on a device's track, and the range that it ran in.
struct Placed {
  Time start, length;
  Row row, range = trace::kNoRow;
};

struct OfRank {
  const trace::Rank* rank;
  std::vector<Placed> device_ranges, host_ranges, events;
};

std::vector<OfRank> hta_rows(const Derived& derived, hta::Keep keep) {
  std::vector<OfRank> out;
  for (const hta::Table& table : derived.hta(keep)) {
    OfRank of{table.rank, {}, {}, {}};
    for (const hta::Event& event : table.events) {
      const Kind kind = table.rank->events.kind[event.row];
      const Placed placed{event.start, event.length, event.row};
      if (kind == Kind::device_annotation) of.device_ranges.push_back(placed);
      if (kind == Kind::annotation) of.host_ranges.push_back(placed);
      if (event.stream >= 0 && event.correlation >= 0) of.events.push_back(placed);
    }
    out.push_back(std::move(of));
  }
  return out;
}

std::vector<OfRank> own_rows(const Derived& derived) {
  std::vector<OfRank> out;
  for (const trace::Rank& rank : derived.trace().ranks) {
    const auto& e = rank.events;
    OfRank of{&rank, {}, {}, {}};
    const Time origin = origin_of(rank);
    for (Row row = 0; row < e.size(); ++row) {
      if (!derived.choice().includes(rank, row)) continue;
      const Placed placed{e.start[row] - origin, e.duration(row), row};
      if (e.kind[row] == Kind::device_annotation) of.device_ranges.push_back(placed);
      if (e.kind[row] == Kind::annotation) of.host_ranges.push_back(placed);
      if (is_device_work(e.kind[row])) of.events.push_back(placed);
    }
    out.push_back(std::move(of));
  }
  return out;
}

/// The shortest of some ranges, by start, among neighbours: a table of minima of runs of 1, 2, 4, … ranges.
class ShortestOf {
 public:
  explicit ShortestOf(const std::vector<const Placed*>& ranges) {
    levels_.push_back(ranges);
    for (std::size_t run = 1; 2 * run <= ranges.size(); run *= 2) {
      const auto& below = levels_.back();
      std::vector<const Placed*> level;
      for (std::size_t i = 0; i + 2 * run <= ranges.size(); ++i)
        level.push_back(shorter(below[i], below[i + run]));
      levels_.push_back(std::move(level));
    }
  }
  /// Of ranges `from` … `to` - 1; nullptr of none.
  const Placed* among(std::size_t from, std::size_t to) const {
    if (from >= to) return nullptr;
    std::size_t level = 0;
    while (std::size_t{2} << level <= to - from) ++level;
    return shorter(levels_[level][from], levels_[level][to - (std::size_t{1} << level)]);
  }
  static const Placed* shorter(const Placed* a, const Placed* b) {
    if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
    return b->length < a->length ? b : a;
  }

 private:
  std::vector<std::vector<const Placed*>> levels_;
};

/// Gives each event of one track the shortest range of the track that it overlaps.
void place(std::vector<Placed*>& events, std::vector<const Placed*>& ranges) {
  const auto by_start = [](const Placed* a, const Placed* b) { return a->start < b->start; };
  std::stable_sort(events.begin(), events.end(), by_start);
  std::stable_sort(ranges.begin(), ranges.end(), by_start);
  const ShortestOf shortest(ranges);
  using Open = std::tuple<Time, std::size_t, const Placed*>;
  std::set<Open> by_length, by_end;
  std::size_t next = 0;
  for (Placed* event : events) {
    for (; next < ranges.size() && ranges[next]->start <= event->start; ++next) {
      by_length.emplace(ranges[next]->length, next, ranges[next]);
      by_end.emplace(ranges[next]->start + ranges[next]->length, next, ranges[next]);
    }
    while (!by_end.empty() && std::get<0>(*by_end.begin()) <= event->start) {
      const auto [end, number, range] = *by_end.begin();
      by_length.erase({range->length, number, range});
      by_end.erase(by_end.begin());
    }
    const auto until = std::lower_bound(ranges.begin(), ranges.end(), event->start + event->length,
                                        [](const Placed* range, Time end) { return range->start < end; });
    const Placed* found = shortest.among(next, static_cast<std::size_t>(until - ranges.begin()));
    if (!by_length.empty()) found = ShortestOf::shorter(std::get<2>(*by_length.begin()), found);
    if (found != nullptr) event->range = found->row;
  }
}

void place_all(OfRank& of) {
  const auto& track = of.rank->events.track;
  std::map<TrackId, std::pair<std::vector<Placed*>, std::vector<const Placed*>>> by_track;
  for (const Placed& range : of.device_ranges) by_track[track[range.row]].second.push_back(&range);
  for (Placed& event : of.events)
    if (const auto found = by_track.find(track[event.row]); found != by_track.end())
      found->second.first.push_back(&event);
  for (auto& [id, both] : by_track) place(both.first, both.second);
}

Table durations(const trace::Trace& trace, const std::vector<OfRank>& ranks, const report::Params& params) {
  Table table{"Annotations", Shape::table, {}};
  RankColumn rank(table, trace);
  auto& side = table.texts("side");
  NamedDurationColumns durations(table);
  const double share = params.share("duration-ratio", 0.8);
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(0, params.integer("num-kernels", 1000)));
  const std::vector<std::string> allowed = params.texts("keep");
  for (const OfRank& of : ranks) {
    for (const bool device : {false, true}) {
      DurationsByName by_name(trace.strings);
      for (const Placed& range : device ? of.device_ranges : of.host_ranges)
        by_name.add(of.rank->events.name[range.row], range.length);
      std::vector<NamedDurations> rows = by_name.rows();
      if (params.flag("hta-compat")) rows = with_others(std::move(rows), share, most, allowed);
      for (const NamedDurations& row : rows) {
        rank.add(*of.rank);
        side.emplace_back(device ? "device" : "host");
        durations.add(row);
      }
    }
  }
  return table;
}

Table events(const trace::Trace& trace, const std::vector<OfRank>& ranks) {
  Table table{"Device events in annotations", Shape::table, {}};
  RankColumn rank(table, trace);
  auto& id = table.ints("event", Unit::none, Role::key);
  auto& name = table.texts("name", Role::value);
  auto& category = table.texts("category", Role::detail);
  auto& stream = table.ints("stream", Unit::none, Role::detail);
  auto& start = table.ints("start", Unit::ns);
  auto& duration = table.ints("duration", Unit::ns);
  auto& annotation = table.texts("annotation", Role::value);
  for (const OfRank& of : ranks) {
    if (of.device_ranges.empty()) continue;
    const auto& e = of.rank->events;
    for (const Placed& event : of.events) {
      rank.add(*of.rank);
      id.push_back(e.source[event.row]);
      name.emplace_back(trace.text(e.name[event.row]));
      category.emplace_back(trace.text(e.category[event.row]));
      stream.push_back(of.rank->tracks[e.track[event.row]].stream);
      start.push_back(event.start);
      duration.push_back(event.length);
      annotation.emplace_back(event.range == trace::kNoRow ? "" : trace.name(*of.rank, event.range));
    }
  }
  return table;
}

constexpr report::ParamSpec kUserAnnotationsParams[] = {
    {"duration-ratio", report::ParamSpec::Type::percentage, "80", "",
     "with --hta-compat: the percentage of the time that keeps its names"},
    {"num-kernels", report::ParamSpec::Type::integer, "1000", "",
     "with --hta-compat: the most names per rank; what is beyond is called others"},
    {"keep", report::ParamSpec::Type::texts, "", "",
     "with --hta-compat: names that contain this text never become others; may be given several times"},
    kHtaCompat,
    kHtaLastStep};

}  // namespace

constinit const About user_annotations_about = {kUserAnnotationsParams, false};

report::Report user_annotations(const Derived& derived, const report::Params& params) {
  std::vector<OfRank> ranks =
      params.flag("hta-compat") ? hta_rows(derived, hta::keep_of(params)) : own_rows(derived);
  for (OfRank& of : ranks) place_all(of);
  report::Report report{"user_annotations", {}, {}};
  report.tables.push_back(durations(derived.trace(), ranks, params));
  report.tables.push_back(events(derived.trace(), ranks));
  if (report.tables[0].rows() == 0)
    report.notes.emplace_back(
        "No ranges of the program were recorded: torch.profiler.record_function(name) makes them.");
  return report;
}

}  // namespace stepscope::analyze
