#include "lanes/ask/area.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "lanes/json.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::lanes {
namespace {

using report::Unit;
using timeline::Interval;

constexpr std::size_t kMaxNames = 1'000;

/// The events of one name.
struct NameTimes {
  std::string name;
  std::int64_t count = 0;
  std::int64_t total = 0, self = 0;  ///< ns inside the area
  std::int64_t mean = 0, median = 0, p95 = 0, max = 0;
  double share = 0;
};

/// Time in which a lane is in events of one kind, or in any: nested ones count once.
struct KindTimes {
  std::string name;
  std::int64_t count = 0;
  std::int64_t time = 0;
  double share = 0;
};

template <class Row>
report::Field<Row> share_field() {
  return {"share", &Row::share, Unit::share, report::Role::share};
}

const report::Sheet<NameTimes> kByName{"By name",
                                       report::Shape::table,
                                       {{"name", &NameTimes::name},
                                        {"count", &NameTimes::count, Unit::count},
                                        {"total", &NameTimes::total, Unit::ns},
                                        {"self", &NameTimes::self, Unit::ns},
                                        {"mean", &NameTimes::mean, Unit::ns},
                                        {"median", &NameTimes::median, Unit::ns},
                                        {"p95", &NameTimes::p95, Unit::ns},
                                        {"max", &NameTimes::max, Unit::ns},
                                        share_field<NameTimes>()}};

report::Sheet<KindTimes> by(std::string_view title, std::string_view key) {
  return {title,
          report::Shape::table,
          {{key, &KindTimes::name},
           {"count", &KindTimes::count, Unit::count},
           {"time", &KindTimes::time, Unit::ns},
           share_field<KindTimes>()}};
}

/// Sums over the events of the area.
class Sums {
 public:
  Sums(const Run& run, Interval area) : run_(run), area_(area) {}

  void add(LaneId id) {
    const Lane& lane = run_.lanes.all[id];
    std::array<Column<Interval>, report::kFamilies> by_family;
    KindTimes own{lane.key, 0, 0, 0};
    Column<Interval> all;
    for (const LaneRow& row : lane.rows) {
      const RowEvents events = run_.events(lane, row);
      for (std::uint32_t i = events.first_from(area_.begin); i < events.size() && events.start(i) < area_.end;
           ++i) {
        const Interval inside{std::max(events.start(i), area_.begin), std::min(events.end(i), area_.end)};
        add_event(lane, events.row(i), inside, events.length(i));
        const auto family = static_cast<std::size_t>(run_.family_of(lane.rank, events.row(i)));
        by_family[family].push_back(inside);
        ++kinds_[family].count;
        all.push_back(inside);
        ++own.count;
      }
    }
    for (std::size_t f = 0; f < by_family.size(); ++f)
      report::add_to(kinds_[f].time, covered(std::move(by_family[f])));
    own.time = covered(std::move(all));
    own.share = report::ratio(own.time, area_.length());
    lanes_.push_back(std::move(own));
  }

  std::vector<NameTimes> names() {
    std::vector<NameTimes> out;
    for (OfName& of : names_)
      if (!of.lengths.empty()) out.push_back(times_of(of));
    std::stable_sort(out.begin(), out.end(),
                     [](const NameTimes& a, const NameTimes& b) { return a.total > b.total; });
    return out;
  }

  std::vector<KindTimes> kinds() const {
    std::vector<KindTimes> out;
    for (std::size_t f = 0; f < kinds_.size(); ++f)
      if (kinds_[f].count > 0)
        out.push_back({std::string(report::paint_of(static_cast<report::Family>(f)).name), kinds_[f].count,
                       kinds_[f].time, share_of(kinds_[f].time)});
    std::stable_sort(out.begin(), out.end(),
                     [](const KindTimes& a, const KindTimes& b) { return a.time > b.time; });
    return out;
  }

  const std::vector<KindTimes>& lanes() const { return lanes_; }

 private:
  struct OfName {
    NameId name;
    std::int64_t total = 0, self = 0;
    std::vector<std::int64_t> lengths = {};
  };

  static Time covered(Column<Interval> spans) { return timeline::IntervalSet::of(std::move(spans)).length(); }

  /// Of the time of all lanes.
  double share_of(Time time) const {
    return static_cast<double>(time) /
           (static_cast<double>(area_.length()) * static_cast<double>(lanes_.size()));
  }

  NameTimes times_of(OfName& of) const {
    NameTimes times{.name = shown(run_.trace.text(run_.names[of.name].text)),
                    .count = static_cast<std::int64_t>(of.lengths.size()),
                    .total = of.total,
                    .self = std::max<std::int64_t>(0, of.self),
                    .share = share_of(of.total)};
    std::int64_t sum = 0;
    for (const std::int64_t length : of.lengths) report::add_to(sum, length);
    times.mean = report::mean(sum, times.count);
    times.max = *std::max_element(of.lengths.begin(), of.lengths.end());
    times.median = report::quantile(of.lengths, 0.5);
    times.p95 = report::quantile(of.lengths, 0.95);
    return times;
  }

  OfName& named(trace::StringId name) {
    constexpr std::uint32_t kNone = 0xFFFFFFFF;
    if (slots_.empty()) slots_.assign(run_.names.size(), kNone);
    std::uint32_t& slot = slots_[run_.names.of(name)];
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(names_.size());
      names_.push_back({run_.names.of(name)});
    }
    return names_[slot];
  }

  void add_event(const Lane& lane, trace::Row row, Interval inside, Time length) {
    const trace::EventTable& e = run_.rank_of(lane).events;
    OfName& of = named(e.name[row]);
    of.lengths.push_back(length);
    report::add_to(of.total, inside.length());
    report::add_to(of.self, inside.length());
    const trace::Row parent = e.parent[row];
    if (parent == trace::kNoRow) return;
    const ToRun& to_run = run_.clock.of_rank[lane.rank];
    report::add_to(named(e.name[parent]).self,
                   -timeline::overlap(inside, {to_run(e.start[parent]), to_run(e.end[parent])}));
  }

  const Run& run_;
  const Interval area_;
  std::vector<OfName> names_;
  std::vector<std::uint32_t> slots_;  // by NameId: index in names_
  std::array<KindTimes, report::kFamilies> kinds_{};
  std::vector<KindTimes> lanes_;
};

}  // namespace

report::Report area_report(const Run& run, Interval area, std::span<const std::uint32_t> lanes) {
  Sums sums(run, area);
  for (const LaneId lane : std::set<LaneId>(lanes.begin(), lanes.end())) sums.add(lane);
  std::vector<NameTimes> names = sums.names();
  report::Report report{.name = "area", .tables = {}, .notes = {}};
  report.notes.push_back(fmt::format(
      "{} on {} lane{}. Total and self are the time inside the area; mean, median, p95 and max are of whole "
      "events. Time by kind and by lane counts nested events once. Shares are of the time of all lanes, by "
      "lane of the area's.",
      report::format_value(area.length(), Unit::ns), sums.lanes().size(),
      sums.lanes().size() == 1 ? "" : "s"));
  if (names.size() > kMaxNames) {
    report.notes.push_back(
        fmt::format("{} of {} names are listed, those with the most time.", kMaxNames, names.size()));
    names.resize(kMaxNames);
  }
  const bool several = run.trace.several();
  report.tables.push_back(tabulate(kByName, names, several));
  report.tables.push_back(tabulate(by("By kind of work", "kind"), sums.kinds(), several));
  report.tables.push_back(tabulate(by("By lane", "lane"), sums.lanes(), several));
  return report;
}

}  // namespace stepscope::lanes
