#include "analyze/memory/memory_curve.h"

#include <algorithm>
#include <map>

#include "analyze/list.h"
#include "analyze/memory/chosen_records.h"
#include "analyze/memory/memory_instants.h"
#include "analyze/memory/replayed_snapshots.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using derive::MemoryLevels;
using report::Role;
using report::Tag;
using report::Unit;

/// Some instants of a device: the first and the last, the highest of each level, and of every run of instants
/// the lowest and the highest of `requested`.
class Thinned {
 public:
  /// `at`: the first instant.
  Thinned(const MemoryAfterEvent& at, std::int64_t instants, std::int64_t most)
      : instants_(instants),
        runs_(instants <= most ? instants : std::max<std::int64_t>(1, (most - kKeptOfAll) / 2)),
        kept_{at},
        low_(at),
        high_(at),
        highest_{at, at, at} {}

  void add(const MemoryAfterEvent& at) {
    const std::int64_t run = (at.event + 1) * runs_ / instants_;
    if (run != run_) end_run();
    if (run != run_ || at.requested < low_.requested) low_ = at;
    if (run != run_ || at.requested > high_.requested) high_ = at;
    run_ = run;
    for (std::size_t i = 0; i < std::size(kOthers); ++i)
      if (at.*kOthers[i] > highest_[i].*kOthers[i]) highest_[i] = at;
    last_ = at;
  }

  std::vector<MemoryAfterEvent> finish() {
    end_run();
    kept_.insert(kept_.end(), std::begin(highest_), std::end(highest_));
    kept_.push_back(last_);
    std::ranges::sort(kept_, {}, &MemoryAfterEvent::event);
    const auto same = std::ranges::unique(kept_, {}, &MemoryAfterEvent::event);
    kept_.erase(same.begin(), same.end());
    return std::move(kept_);
  }

 private:
  static constexpr std::int64_t MemoryLevels::* kOthers[] = {&MemoryLevels::reserved, &MemoryLevels::rounded,
                                                             &MemoryLevels::pending};
  static constexpr std::int64_t kKeptOfAll = 2 + std::size(kOthers);

  void end_run() {
    kept_.push_back(low_);
    kept_.push_back(high_);
  }

  const std::int64_t instants_, runs_;
  std::vector<MemoryAfterEvent> kept_;
  std::int64_t run_ = 0;
  MemoryAfterEvent low_, high_, last_;
  MemoryAfterEvent highest_[std::size(kOthers)];
};

void add_points(std::vector<MemoryAfterEvent>& out, const trace::Rank& rank, const AllocatorReplay& replay,
                std::int64_t most) {
  derive::LevelWalk walk(replay);
  const std::int64_t events = replay.device().events.count();
  const auto now = [&] {
    const std::int64_t time = time_of(replay, events == 0 ? -1 : std::max<std::int64_t>(walk.event(), 0));
    return MemoryAfterEvent{walk.now(), rank.rank, replay.device().number, walk.event(), time};
  };
  Thinned points(now(), events + 1, most);
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
