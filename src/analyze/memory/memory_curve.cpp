#include "analyze/memory/memory_curve.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "analyze/list.h"
#include "analyze/memory/chosen_records.h"
#include "analyze/memory/replayed_snapshots.h"
#include "analyze/memory/thinned.h"
#include "derive/allocator/group_levels.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using report::Role;
using report::Tag;
using report::Unit;

const ThinnedBy<MemoryAfterEvent> kThinnedByLevel{
    &MemoryAfterEvent::event,
    &MemoryAfterEvent::requested,
    {&MemoryAfterEvent::reserved, &MemoryAfterEvent::rounded, &MemoryAfterEvent::pending}};

/// From the event `first` to the event `last`.
void add_points(std::vector<MemoryAfterEvent>& out, const trace::Rank& rank, const AllocatorReplay& replay,
                std::int64_t first, std::int64_t last, std::int64_t most) {
  derive::LevelWalk walk(replay);
  const std::int64_t events = replay.device().events.count();
  const auto now = [&] {
    const std::int64_t time = time_of(replay, events == 0 ? -1 : std::max<std::int64_t>(walk.event(), 0));
    return MemoryAfterEvent{walk.now(), rank.rank, replay.device().number, walk.event(), time};
  };
  while (walk.event() < first) walk.next();
  Thinned points(kThinnedByLevel, now(), last - first + 1, most);
  do points.add(now());
  while (walk.event() < last && walk.next());
  std::ranges::move(points.finish(), std::back_inserter(out));
}

/// The places that have a curve of their own: those that hold most at any instant.
struct Curves {
  std::vector<std::string> names;
  derive::GroupsOfStacks of_stacks;
};

Curves curves_of(AllocationPlaces places, const AllocatorReplay& replay) {
  derive::GroupsOfStacks groups;
  for (trace::StackId stack = 0; stack < places.stacks(); ++stack)
    groups.push_back({static_cast<std::uint32_t>(places.number_of(stack, false)),
                      static_cast<std::uint32_t>(places.number_of(stack, true))});
  const std::vector<std::string>& names = places.names();
  const std::vector<std::int64_t> most = group_peaks(replay, groups, names.size());
  std::vector<std::int64_t> at_peak(names.size());
  for (const derive::Allocation& of : replay.live_at(replay.peak_event))
    report::add_to(at_peak[groups[of.stack][of.event == derive::kNoEvent]], of.bytes);
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::sort(order, {},
                    [&](std::uint32_t i) { return std::tuple(-most[i], std::string_view(names[i])); });
  order.resize(std::min(order.size(), kCurvePlaces));
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t i) { return at_peak[i]; });
  std::vector<std::uint32_t> curve_of(names.size(), static_cast<std::uint32_t>(order.size()));
  Curves curves;
  for (const std::uint32_t place : order) {
    curve_of[place] = static_cast<std::uint32_t>(curves.names.size());
    curves.names.push_back(names[place]);
  }
  curves.names.emplace_back(kOtherPlaces);
  for (const auto& [recorded, before] : groups)
    curves.of_stacks.push_back({curve_of[recorded], curve_of[before]});
  return curves;
}

/// The curves of places over the points of the device's curve; without those that never hold anything.
void add_places(std::vector<PlaceAfterEvent>& out, AllocationPlaces places, const AllocatorReplay& replay,
                std::span<const MemoryAfterEvent> points) {
  Curves curves = curves_of(std::move(places), replay);
  std::vector<std::int64_t> instants;
  for (const MemoryAfterEvent& at : points) instants.push_back(at.event);
  const std::size_t count = curves.names.size();
  const std::vector<std::int64_t> levels = group_levels(replay, curves.of_stacks, count, instants);
  for (std::size_t curve = 0; curve < count; ++curve) {
    bool holds = false;
    for (std::size_t i = curve; i < levels.size() && !holds; i += count) holds = levels[i] != 0;
    for (std::size_t i = 0; holds && i < points.size(); ++i)
      out.push_back({points[i].rank, points[i].device, curves.names[curve], points[i].event, points[i].time,
                     levels[i * count + curve]});
  }
}

void add_marks(MemoryCurve& of, const trace::Rank& rank, const AllocatorReplay& replay) {
  for (const std::string_view name : {"peak", "oom"}) {
    const bool failed = name == "oom";
    if (failed && replay.ooms == 0) continue;
    if (const auto at = instant_of(rank, replay, name, of.notes))
      of.marks.push_back({*at, name, failed ? replay.oom_request : report::kNoInt});
  }
}

/// The categories of events, as the program that made the snapshot wrote them.
std::map<std::uint32_t, std::string_view> categories_of(const trace::Trace& trace,
                                                        const trace::MemoryOfDevice& device) {
  std::map<std::uint32_t, std::string_view> of;
  for (const trace::EventExtra& extra : device.extras)
    if (trace.text(extra.key) == "category") of.try_emplace(extra.event, trace.text(extra.value));
  return of;
}

void add_categories(std::vector<CategoryAtPeak>& out, const trace::Trace& trace, const trace::Rank& rank,
                    const AllocatorReplay& replay) {
  const std::map<std::uint32_t, std::string_view> of_event = categories_of(trace, replay.device());
  if (of_event.empty()) return;
  std::map<std::string_view, CategoryAtPeak> sums;
  for (const derive::Allocation& of : replay.live_at(replay.peak_event)) {
    const auto found = of_event.find(of.event);
    const std::string_view category = found != of_event.end()        ? found->second
                                      : of.event == derive::kNoEvent ? kBeforeRecording
                                                                     : "without a category";
    CategoryAtPeak& sum =
        sums.try_emplace(category, rank.rank, replay.device().number, std::string(category), 0, 0, 0.0)
            .first->second;
    report::add_to(sum.bytes, of.bytes);
    ++sum.count;
  }
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  for (auto& [category, sum] : sums) {
    sum.share = report::ratio(sum.bytes, replay.peak);
    out.push_back(std::move(sum));
  }
  std::stable_sort(out.begin() + begin, out.end(),
                   [](const CategoryAtPeak& a, const CategoryAtPeak& b) { return a.bytes > b.bytes; });
}

const report::Sheet<MemoryAfterEvent> kPointSheet{
    "Memory after each event",
    report::Shape::curve,
    {report::rank_field<MemoryAfterEvent>(&MemoryAfterEvent::rank),
     {"device", &MemoryAfterEvent::device, Unit::none, Role::key},
     {"event", &MemoryAfterEvent::event, Unit::none, Role::detail},
     {"time", &MemoryAfterEvent::time, Unit::ns, Tag::of_one_run},
     {"requested", &MemoryAfterEvent::requested, Unit::bytes},
     {"reserved", &MemoryAfterEvent::reserved, Unit::bytes},
     {"pending", &MemoryAfterEvent::pending, Unit::bytes},
     {"rounded", &MemoryAfterEvent::rounded, Unit::bytes}}};

const report::Sheet<PlaceAfterEvent> kPlaceCurveSheet{
    "Held after each event, by place",
    report::Shape::curve,
    {report::rank_field<PlaceAfterEvent>(&PlaceAfterEvent::rank),
     {"device", &PlaceAfterEvent::device, Unit::none, Role::key},
     {"place", &PlaceAfterEvent::place},
     {"event", &PlaceAfterEvent::event, Unit::none, Role::detail},
     {"time", &PlaceAfterEvent::time, Unit::ns, Tag::of_one_run},
     {"bytes", &PlaceAfterEvent::bytes, Unit::bytes}}};

const report::Sheet<MarkedInstant> kMarkSheet{"Peak and failed allocation",
                                              report::Shape::table,
                                              {report::rank_field<MarkedInstant>(&MarkedInstant::rank),
                                               {"device", &MarkedInstant::device, Unit::none, Role::key},
                                               {"instant", &MarkedInstant::name},
                                               {"event", &MarkedInstant::event},
                                               {"time", &MarkedInstant::time, Unit::ns},
                                               {"requested", &MarkedInstant::requested, Unit::bytes},
                                               {"reserved", &MarkedInstant::reserved, Unit::bytes},
                                               {"asked", &MarkedInstant::asked, Unit::bytes}}};

const report::Sheet<CategoryAtPeak> kCategorySheet{
    "Requested at the peak, by category",
    report::Shape::bars,
    {report::rank_field<CategoryAtPeak>(&CategoryAtPeak::rank),
     {"device", &CategoryAtPeak::device, Unit::none, Role::key},
     {"category", &CategoryAtPeak::category},
     {"bytes", &CategoryAtPeak::bytes, Unit::bytes},
     {"count", &CategoryAtPeak::count, Unit::count},
     {"share", &CategoryAtPeak::share, Unit::share, Role::share}}};

/// Over events instead of times, if there are no times.
report::Table curve_table(report::Table table) {
  const report::Column& time = *table.column("time");
  bool timed = false;
  for (std::size_t row = 0; row < table.rows() && !timed; ++row) timed = !time.missing(row);
  for (report::Column& column : table.columns) {
    if (timed || (column.name != "event" && column.name != "time")) continue;
    column.role = column.name == "event" ? Role::key : Role::detail;
    column.tag = column.name == "event" ? Tag::of_one_run : Tag::none;
  }
  return table;
}

constexpr report::ParamSpec kMemoryCurveParams[] = {
    {"points", report::ParamSpec::Type::integer, "400", "",
     "max points of each device's curve; lows and highs are kept"},
    {"since", report::ParamSpec::Type::text, "start", "",
     "the first instant: peak, start, end, oom, or an event's number (what holds after it)"},
    {"until", report::ParamSpec::Type::text, "end", "", "the last instant, named as in --since"},
    kHeldByParam};

}  // namespace

MemoryCurve memory_curve_of(const Derived& derived, std::int64_t points, HeldBy by, std::string_view since,
                            std::string_view until) {
  MemoryCurve of;
  const trace::Trace& trace = derived.trace();
  const std::int64_t most = std::clamp<std::int64_t>(points, 1, 10'000'000);
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    const AllocatorReplay& replay = replays_of(derived, rank)[device];
    const auto one = instant_of(rank, replay, since, of.notes),
               other = instant_of(rank, replay, until, of.notes);
    if (!one || !other) return;
    const auto [first, last] = std::minmax(one->event, other->event);
    const std::size_t before = of.points.size();
    add_points(of.points, rank, replay, first, last, most);
    add_places(of.places, {trace, *rank.snapshot, by}, replay, std::span(of.points).subspan(before));
    add_marks(of, rank, replay);
    add_categories(of.categories, trace, rank, replay);
  });
  return of;
}

constinit const About memory_curve_about = {kMemoryCurveParams};

report::Report memory_curve(const Derived& derived, const report::Params& params) {
  MemoryCurve of = memory_curve_of(derived, params.integer("points", kSnapshotPoints), held_by(params),
                                   params.text("since", "start"), params.text("until", "end"));
  const bool several = derived.trace().several();
  report::Report report{
      "memory_curve",
      {curve_table(tabulate(kPointSheet, of.points, several)),
       curve_table(tabulate(kPlaceCurveSheet, of.places, several)), tabulate(kMarkSheet, of.marks, several)},
      std::move(of.notes)};
  if (!of.categories.empty()) report.tables.push_back(tabulate(kCategorySheet, of.categories, several));
  return report;
}

}  // namespace stepscope::analyze
