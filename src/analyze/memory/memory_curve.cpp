#include "analyze/memory/memory_curve.h"

#include <algorithm>
#include <map>

#include "analyze/list.h"
#include "analyze/memory/chosen_records.h"
#include "analyze/memory/memory_instants.h"
#include "analyze/memory/replayed_snapshots.h"
#include "analyze/memory/thinned.h"
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

void add_points(std::vector<MemoryAfterEvent>& out, const trace::Rank& rank, const AllocatorReplay& replay,
                std::int64_t most) {
  derive::LevelWalk walk(replay);
  const std::int64_t events = replay.device().events.count();
  const auto now = [&] {
    const std::int64_t time = time_of(replay, events == 0 ? -1 : std::max<std::int64_t>(walk.event(), 0));
    return MemoryAfterEvent{walk.now(), rank.rank, replay.device().number, walk.event(), time};
  };
  Thinned points(kThinnedByLevel, now(), events + 1, most);
  do points.add(now());
  while (walk.next());
  std::ranges::move(points.finish(), std::back_inserter(out));
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
report::Table curve_table(const std::vector<MemoryAfterEvent>& points, bool several) {
  report::Table table = tabulate(kPointSheet, points, several);
  const bool timed = std::ranges::any_of(points, [](const auto& of) { return of.time != report::kNoInt; });
  for (report::Column& column : table.columns) {
    if (timed || (column.name != "event" && column.name != "time")) continue;
    column.role = column.name == "event" ? Role::key : Role::detail;
    column.tag = column.name == "event" ? Tag::of_one_run : Tag::none;
  }
  return table;
}

constexpr report::ParamSpec kMemoryCurveParams[] = {
    {"points", report::ParamSpec::Type::integer, "400", "",
     "max points of each device's curve; lows and highs are kept"}};

}  // namespace

MemoryCurve memory_curve_of(const Derived& derived, std::int64_t points) {
  MemoryCurve of;
  const std::int64_t most = std::clamp<std::int64_t>(points, 1, 10'000'000);
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    const AllocatorReplay& replay = replays_of(derived, rank)[device];
    add_points(of.points, rank, replay, most);
    add_categories(of.categories, derived.trace(), rank, replay);
  });
  return of;
}

constinit const About memory_curve_about = {kMemoryCurveParams};

report::Report memory_curve(const Derived& derived, const report::Params& params) {
  MemoryCurve of = memory_curve_of(derived, params.integer("points", kSnapshotPoints));
  const bool several = derived.trace().several();
  report::Report report{"memory_curve", {curve_table(of.points, several)}, std::move(of.notes)};
  if (!of.categories.empty()) report.tables.push_back(tabulate(kCategorySheet, of.categories, several));
  return report;
}

}  // namespace stepscope::analyze
