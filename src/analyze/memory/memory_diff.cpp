#include "analyze/memory/memory_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analyze/list.h"
#include "analyze/memory/replayed_snapshots.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::Allocation;
using derive::AllocatorReplay;
using derive::kNoEvent;
using report::Role;
using report::Unit;

/// Sums what happened between two instants, by place.
class Between {
 public:
  Between(AllocationPlaces& places, const MemoryInstant& from, const MemoryInstant& to)
      : places_(places), from_(from), to_(to) {}

  std::vector<PlaceChange> changes(const AllocatorReplay& replay) {
    for (const Allocation& of : replay.live_at(from_.event)) {
      PlaceChange& place = at(of.stack, of.event == kNoEvent);
      report::add_to(place.from, of.bytes);
      if (of.freed == kNoEvent || of.freed > to_.event) continue;
      report::add_to(place.freed, of.bytes);
      ++place.freed_count;
    }
    for (const Allocation& of : replay.live_at(to_.event)) {
      PlaceChange& place = at(of.stack, of.event == kNoEvent);
      report::add_to(place.to, of.bytes);
      if (of.event == kNoEvent || of.event <= from_.event) continue;
      report::add_to(place.kept, of.bytes);
      ++place.kept_count;
    }
    const trace::AllocatorEvents& events = replay.device().events;
    for (auto e = static_cast<std::uint32_t>(from_.event + 1); e <= to_.event; ++e)
      if (events.action[e] == trace::MemoryAction::alloc)
        report::add_to(at(events.stack[e], false).allocated, events.size[e]);
    std::ranges::sort(rows_, [](const PlaceChange& a, const PlaceChange& b) {
      return std::tuple(-std::abs(a.change()), -a.allocated, -a.to, std::string_view(a.place)) <
             std::tuple(-std::abs(b.change()), -b.allocated, -b.to, std::string_view(b.place));
    });
    return std::move(rows_);
  }

 private:
  PlaceChange& at(trace::StackId stack, bool before) {
    const std::size_t place = places_.number_of(stack, before);
    if (place == rows_.size())
      rows_.push_back({from_.rank, from_.device, places_.names()[place], 0, 0, 0, 0, 0, 0, 0});
    return rows_[place];
  }

  AllocationPlaces& places_;
  const MemoryInstant& from_;
  const MemoryInstant& to_;
  std::vector<PlaceChange> rows_;
};

void add_device(MemoryDifference& of, const trace::Trace& trace, const trace::Rank& rank,
                const AllocatorReplay& replay, std::string_view from, std::string_view to, HeldBy by) {
  const std::optional<MemoryInstant> first = instant_of(rank, replay, from, of.notes);
  const std::optional<MemoryInstant> second = instant_of(rank, replay, to, of.notes);
  if (!first || !second) return;
  if (first->event > second->event) {
    of.notes.push_back(
        fmt::format("Device {}: {} (event {}) is after {} (event {}). Give the earlier instant as --since.",
                    replay.device().number, from, first->event, to, second->event));
    return;
  }
  of.instants.push_back({*first, "from"});
  of.instants.push_back({*second, "to"});
  AllocationPlaces places(trace, *rank.snapshot, by);
  std::ranges::move(Between(places, *first, *second).changes(replay), std::back_inserter(of.places));
}

const report::Sheet<NamedInstant> kNamedInstantSheet{
    "The two instants",
    report::Shape::table,
    {report::rank_field<NamedInstant>(&NamedInstant::rank),
     {"device", &NamedInstant::device, Unit::none, Role::key},
     {"instant", &NamedInstant::name},
     {"event", &NamedInstant::event, Unit::none, Role::detail},
     {"time", &NamedInstant::time, Unit::ns, Role::detail},
     {"requested", &NamedInstant::requested, Unit::bytes},
     {"reserved", &NamedInstant::reserved, Unit::bytes},
     {"peak_requested", &NamedInstant::peak_requested, Unit::bytes},
     {"share", &NamedInstant::share, Unit::share, Role::share}}};

std::int64_t change_of(const PlaceChange& place) { return place.change(); }

const report::Sheet<PlaceChange> kPlaceSheet{
    "Change between them, by place",
    report::Shape::table,
    {report::rank_field<PlaceChange>(&PlaceChange::rank),
     {"device", &PlaceChange::device, Unit::none, Role::key},
     {"place", &PlaceChange::place},
     {"change", &change_of, Unit::bytes, Role::change},
     {"from", &PlaceChange::from, Unit::bytes},
     {"to", &PlaceChange::to, Unit::bytes},
     {"kept", &PlaceChange::kept, Unit::bytes},
     {"kept_count", &PlaceChange::kept_count, Unit::count, Role::detail},
     {"freed", &PlaceChange::freed, Unit::bytes},
     {"freed_count", &PlaceChange::freed_count, Unit::count, Role::detail},
     {"allocated", &PlaceChange::allocated, Unit::bytes}}};

constexpr report::ParamSpec kMemoryDiffParams[] = {
    {"since", report::ParamSpec::Type::text, "start", "",
     "the first instant: peak, start, end, or an event's number (what holds after it)"},
    {"until", report::ParamSpec::Type::text, "peak", "", "the second instant, named as in --since"},
    kHeldByParam};

}  // namespace

MemoryDifference memory_difference_of(const Derived& derived, std::string_view from, std::string_view to,
                                      HeldBy by) {
  MemoryDifference of;
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    add_device(of, derived.trace(), rank, replays_of(derived, rank)[device], from, to, by);
  });
  return of;
}

constinit const About memory_diff_about = {kMemoryDiffParams};

report::Report memory_diff(const Derived& derived, const report::Params& params) {
  MemoryDifference of = memory_difference_of(derived, params.text("since", "start"),
                                             params.text("until", "peak"), held_by(params));
  const bool several = derived.trace().several();
  return {"memory_diff",
          {tabulate(kNamedInstantSheet, of.instants, several), tabulate(kPlaceSheet, of.places, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
