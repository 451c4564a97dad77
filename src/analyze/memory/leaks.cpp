#include "analyze/memory/leaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "analyze/list.h"
#include "analyze/memory/memory_steps.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using derive::kNoEvent;
using report::Role;
using report::Unit;
using trace::MemoryAction;

constexpr std::size_t kFewestSteps = 5;  ///< fewer steps prove no trend
constexpr std::size_t kMostSteps = 400;  ///< the pairs of more would cost too much; these are spread evenly
constexpr double kDoubt = 0.05;

/// Steps that are lowest before the last allocation failed, if the program did not go on after it: a program
/// that ends frees what it kept. Else all.
std::size_t steps_before_failure(const AllocatorReplay& replay, const DeviceSteps& of) {
  const Column<MemoryAction>& actions = replay.device().events.action;
  const auto failure = std::find(actions.rbegin(), actions.rend(), MemoryAction::oom);
  if (failure == actions.rend()) return of.steps.size();
  const std::int64_t failed = actions.rend() - failure - 1;
  const auto after = std::ranges::upper_bound(of.steps, failed, {}, &MemoryStep::event);
  const auto gone_on = static_cast<std::size_t>(of.steps.end() - after);
  if (gone_on >= kFewestSteps || after == of.steps.begin()) return of.steps.size();
  const bool unwound = std::prev(after)->lowest_event > failed;  // in the step of the failure
  return of.steps.size() - gone_on - (unwound ? 1 : 0);
}

/// Where the first `steps` are lowest, without the warm-up: instants, rising.
std::vector<std::int64_t> lowest_instants(const DeviceSteps& of, std::size_t steps) {
  std::vector<std::int64_t> all;
  for (std::size_t i = of.warm_up; i < steps; ++i) all.push_back(of.steps[i].lowest_event);
  if (all.size() <= kMostSteps) return all;
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < kMostSteps; ++i) some.push_back(all[i * (all.size() - 1) / (kMostSteps - 1)]);
  return some;
}

struct Held {
  std::int64_t bytes = 0, count = 0;
};

/// What the places that `stack_places` names hold after each of `instants`: told to `at(index, held by
/// place)`.
template <class Tell>
void walk_held(const AllocatorReplay& replay, const std::vector<std::uint32_t>& stack_places,
               std::size_t places, const std::vector<std::int64_t>& instants, Tell at) {
  const trace::AllocatorEvents& events = replay.device().events;
  std::vector<Held> held(places);
  std::size_t next = 0;
  for (std::uint32_t e = 0; next < instants.size(); ++e) {
    for (; next < instants.size() && instants[next] < std::int64_t{e}; ++next) at(next, held);
    if (e >= events.count()) return;
    if (const std::uint32_t ended = replay.ended_by(e); ended != kNoEvent) {
      Held& of = held[stack_places[events.stack[ended]]];
      report::add_to(of.bytes, -events.size[ended]);
      --of.count;
    }
    if (events.action[e] != MemoryAction::alloc) continue;
    Held& of = held[stack_places[events.stack[e]]];
    report::add_to(of.bytes, events.size[e]);
    ++of.count;
  }
}

struct PlaceNames {
  std::vector<std::string> names;
  std::vector<std::uint32_t> of_stack;
};

PlaceNames place_names_of(const trace::Trace& trace, const trace::Snapshot& snapshot) {
  const derive::StackPlaces stacks(trace, snapshot);
  std::map<std::string, std::uint32_t> known;
  PlaceNames places;
  for (trace::StackId stack = 0; stack < snapshot.stacks.size(); ++stack) {
    const auto [found, is_new] =
        known.try_emplace(stacks.place(stack), static_cast<std::uint32_t>(places.names.size()));
    if (is_new) places.names.push_back(found->first);
    places.of_stack.push_back(found->second);
  }
  return places;
}

struct Series {
  std::uint32_t place;
  std::vector<std::int64_t> bytes, counts;
};

/// Of places that hold more at the last instant than at the first and in the middle.
std::vector<Series> series_of(const AllocatorReplay& replay, const PlaceNames& places,
                              const std::vector<std::int64_t>& instants) {
  const std::size_t count = places.names.size();
  std::vector<std::int64_t> first(count), middle(count), last(count);
  walk_held(replay, places.of_stack, count,
            {instants.front(), instants[instants.size() / 2], instants.back()},
            [&](std::size_t i, const std::vector<Held>& held) {
              std::vector<std::int64_t>& to = i == 0 ? first : i == 1 ? middle : last;
              for (std::size_t place = 0; place < count; ++place) to[place] = held[place].bytes;
            });
  std::vector<Series> all;
  for (std::uint32_t place = 0; place < count; ++place)
    if (last[place] > first[place] && last[place] > middle[place]) all.push_back({place, {}, {}});
  if (all.empty()) return all;
  walk_held(replay, places.of_stack, count, instants, [&](std::size_t, const std::vector<Held>& held) {
    for (Series& of : all) {
      of.bytes.push_back(held[of.place].bytes);
      of.counts.push_back(held[of.place].count);
    }
  });
  return all;
}

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

GrowingMemory growing(const Series& of, double per_step) {
  const std::vector<std::int64_t>& bytes = of.bytes;
  std::int64_t rises = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i) rises += bytes[i] > bytes[i - 1];
  GrowingMemory out{};
  out.growth = whole(median_slope(bytes) * per_step);
  out.recent = whole(
      median_slope({bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end()}) * per_step);
  out.growth_count = median_slope(of.counts) * per_step;
  out.rising = report::ratio(rises, static_cast<std::int64_t>(bytes.size()) - 1);
  out.p = chance_of_rise(bytes);
  out.first = bytes.front();
  out.last = bytes.back();
  out.count_first = of.counts.front();
  out.count_last = of.counts.back();
  return out;
}

void compare_steps(const trace::Trace& trace, const trace::Rank& rank, const AllocatorReplay& replay,
                   const DeviceSteps& of, Leaks& out) {
  const std::int64_t device = replay.device().number;
  if (replay.device().events.count() == 0) return;
  const std::size_t steps = of.judged() ? steps_before_failure(replay, of) : 0;
  const std::vector<std::int64_t> instants = lowest_instants(of, steps);
  if (instants.size() < kFewestSteps) {
    out.notes.push_back(fmt::format("Device {}: {}. Growth needs {} steps after the warm-up.", device,
                                    told(trace, rank, of), kFewestSteps));
    return;
  }
  const auto all = static_cast<double>(steps - of.warm_up);
  const double per_step = static_cast<double>(instants.size() - 1) / (all - 1);
  std::vector<std::int64_t> levels;
  for (const std::int64_t instant : instants) levels.push_back(replay.requested_at(instant));
  out.compared.push_back({rank.rank, device, static_cast<std::int64_t>(all),
                          static_cast<std::int64_t>(of.warm_up), whole(median_slope(levels) * per_step),
                          told(trace, rank, of)});
  const PlaceNames places = place_names_of(trace, *rank.snapshot);
  const std::size_t begin = out.growing.size();
  for (const Series& series : series_of(replay, places, instants)) {
    GrowingMemory row = growing(series, per_step);
    if (row.growth <= 0 || row.recent <= 0 || row.p >= kDoubt) continue;
    row.rank = rank.rank;
    row.device = device;
    row.place = places.names[series.place];
    if (row.place.empty()) row.place = kNoStackRecorded;
    out.growing.push_back(std::move(row));
  }
  std::stable_sort(out.growing.begin() + static_cast<std::ptrdiff_t>(begin), out.growing.end(),
                   [](const GrowingMemory& a, const GrowingMemory& b) { return a.growth > b.growth; });
}

const report::Sheet<ComparedSteps> kComparedSheet{"Steps compared",
                                                  report::Shape::table,
                                                  {report::rank_field<ComparedSteps>(&ComparedSteps::rank),
                                                   {"device", &ComparedSteps::device, Unit::none, Role::key},
                                                   {"steps", &ComparedSteps::steps, Unit::count},
                                                   {"warm_up", &ComparedSteps::warm_up, Unit::count},
                                                   {"growth", &ComparedSteps::growth, Unit::bytes},
                                                   {"found_by", &ComparedSteps::found_by}}};

const report::Sheet<GrowingMemory> kGrowingSheet{
    "Growing memory, by place",
    report::Shape::bars,
    {report::rank_field<GrowingMemory>(&GrowingMemory::rank),
     {"device", &GrowingMemory::device, Unit::none, Role::key},
     {"place", &GrowingMemory::place},
     {"growth", &GrowingMemory::growth, Unit::bytes},
     {"growth_count", &GrowingMemory::growth_count, Unit::none},
     {"rising", &GrowingMemory::rising, Unit::share},
     {"last", &GrowingMemory::last, Unit::bytes},
     {"first", &GrowingMemory::first, Unit::bytes},
     {"count_last", &GrowingMemory::count_last, Unit::count},
     {"count_first", &GrowingMemory::count_first, Unit::count, Role::detail},
     {"recent", &GrowingMemory::recent, Unit::bytes, Role::detail},
     {"p", &GrowingMemory::p, Unit::none, Role::detail}}};

}  // namespace

double chance_of_rise(const std::vector<std::int64_t>& values) {
  const auto n = static_cast<double>(values.size());
  if (values.size() < 3) return 1;
  std::int64_t score = 0;
  std::map<std::int64_t, double> ties;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ++ties[values[i]];
    for (std::size_t j = 0; j < i; ++j) score += (values[i] > values[j]) - (values[i] < values[j]);
  }
  double variance = n * (n - 1) * (2 * n + 5);
  for (const auto& [value, count] : ties) variance -= count * (count - 1) * (2 * count + 5);
  if (score <= 0 || variance <= 0) return 1;
  const double z = static_cast<double>(score - 1) / std::sqrt(variance / 18);
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

double median_slope(const std::vector<std::int64_t>& values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      slopes.push_back((static_cast<double>(values[i]) - static_cast<double>(values[j])) /
                       static_cast<double>(i - j));
  if (slopes.empty()) return 0;
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

Leaks leaks_of(const Derived& derived) {
  Leaks of;
  const trace::Trace& trace = derived.trace();
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    compare_steps(trace, rank, replays_of(derived, rank)[device], memory_steps_of(derived, rank)[device], of);
  });
  return of;
}

constinit const About leaks_about = {};

report::Report leaks(const Derived& derived, const report::Params&) {
  Leaks of = leaks_of(derived);
  const bool several = derived.trace().several();
  return {"leaks",
          {tabulate(kComparedSheet, of.compared, several), tabulate(kGrowingSheet, of.growing, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
