#include "analyze/host/user_annotations.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/sheet.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Tag;
using report::Unit;
using timeline::Time;
using trace::Kind;
using trace::Row;
using trace::TrackId;

std::vector<RankRanges> own_rows(const Derived& derived) {
  std::vector<RankRanges> out;
  for (const trace::Rank& rank : derived.trace().ranks) {
    const auto& e = rank.events;
    RankRanges of{&rank, {}, {}, {}};
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

/// The shortest of consecutive ranges, by start: a table with the minima of runs of 1, 2, 4, … ranges.
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
  /// The shortest of ranges `from` … `to` - 1; nullptr if there are none.
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

/// Assigns to each event of one track the shortest range of the track that it overlaps.
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

void place_all(RankRanges& of) {
  const auto& track = of.rank->events.track;
  std::map<TrackId, std::pair<std::vector<Placed*>, std::vector<const Placed*>>> by_track;
  for (const Placed& range : of.device_ranges) by_track[track[range.row]].second.push_back(&range);
  for (Placed& event : of.events)
    if (const auto found = by_track.find(track[event.row]); found != by_track.end())
      found->second.first.push_back(&event);
  for (auto& [id, both] : by_track) place(both.first, both.second);
}

struct Annotation : NamedDurations {
  std::int64_t rank;
  std::string_view side;
};

/// A device event and the range that it ran in; times in ns.
struct InRange {
  std::int64_t rank, event;
  std::string_view name, category;
  std::int64_t stream;
  Time start, duration;
  std::string_view annotation;
};

std::vector<InRange> events_in(const trace::Trace& trace, const RankRanges& of) {
  std::vector<InRange> rows;
  if (of.device_ranges.empty()) return rows;
  const auto& e = of.rank->events;
  for (const Placed& event : of.events)
    rows.push_back({of.rank->rank, e.source[event.row], trace.text(e.name[event.row]),
                    trace.text(e.category[event.row]), of.rank->tracks[e.track[event.row]].stream,
                    event.start, event.length,
                    event.range == trace::kNoRow ? "" : trace.name(*of.rank, event.range)});
  return rows;
}

const report::Sheet<Annotation> kAnnotations{
    "Annotations", report::Shape::table,
    with_durations<Annotation>(
        {report::rank_field<Annotation>(&Annotation::rank), {"side", &Annotation::side}})};
const report::Sheet<InRange> kEvents{"Device events in annotations",
                                     report::Shape::table,
                                     {report::rank_field<InRange>(&InRange::rank),
                                      {"event", &InRange::event, Unit::none, Tag::of_one_run},
                                      {"name", &InRange::name, Role::value},
                                      {"category", &InRange::category, Role::detail},
                                      {"stream", &InRange::stream, Unit::none, Role::detail},
                                      {"start", &InRange::start, Unit::ns},
                                      {"duration", &InRange::duration, Unit::ns},
                                      {"annotation", &InRange::annotation, Role::value}}};

}  // namespace

report::Report annotations_in(std::vector<RankRanges> ranks, const trace::Trace& trace,
                              std::vector<NamedDurations> (*shown)(std::vector<NamedDurations>,
                                                                   const report::Params&),
                              const report::Params& params) {
  std::vector<Annotation> annotations;
  std::vector<InRange> events;
  for (RankRanges& of : ranks) {
    place_all(of);
    for (const bool device : {false, true}) {
      DurationsByName by_name(trace.strings);
      for (const Placed& range : device ? of.device_ranges : of.host_ranges)
        by_name.add(of.rank->events.name[range.row], range.length);
      for (NamedDurations& row : shown(by_name.rows(), params))
        annotations.push_back({std::move(row), of.rank->rank, device ? "device" : "host"});
    }
    for (const InRange& event : events_in(trace, of)) events.push_back(event);
  }
  report::Report report{
      "user_annotations",
      {tabulate(kAnnotations, annotations, trace.several()), tabulate(kEvents, events, trace.several())},
      {}};
  if (annotations.empty())
    report.notes.emplace_back(
        "No ranges of the program are recorded: mark them with torch.profiler.record_function(name).");
  return report;
}

constinit const About user_annotations_about = {{}, false};

report::Report user_annotations(const Derived& derived, const report::Params& params) {
  return annotations_in(
      own_rows(derived), derived.trace(),
      [](std::vector<NamedDurations> rows, const report::Params&) { return rows; }, params);
}

}  // namespace stepscope::analyze
