#include "analyze/memory/memory_peak.h"

#include <algorithm>
#include <optional>

#include "analyze/list.h"
#include "analyze/memory/replayed_snapshots.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::Allocation;
using derive::AllocatorReplay;
using derive::kNoEvent;
using report::kNoInt;
using report::Role;
using report::Unit;

void add(HeldMemory& to, const Allocation& of, const AllocatorReplay& replay, const MemoryInstant& at) {
  ++to.count;
  report::add_to(to.bytes, of.bytes);
  to.largest = std::max(to.largest, of.bytes);
  if (of.event == kNoEvent) {
    report::add_to(to.before, of.bytes);
    return;
  }
  to.oldest_events = std::max(to.oldest_events, at.event - static_cast<std::int64_t>(of.event));
  const std::int64_t then = time_of(replay, of.event);
  if (at.time != kNoInt && then != kNoInt) to.oldest_time = std::max(to.oldest_time, at.time - then);
}

/// What is allocated at the instant, by place, largest first.
std::vector<HeldMemory> held_at(AllocationPlaces places, const AllocatorReplay& replay,
                                const MemoryInstant& at) {
  std::vector<HeldMemory> held;
  std::int64_t all = 0;
  for (const Allocation& of : replay.live_at(at.event)) {
    const std::size_t place = places.number_of(of.stack, of.event == kNoEvent);
    if (place == held.size())
      held.push_back({at.rank, at.device, places.names()[place], 0, 0, 0, 0, 0, kNoInt, kNoInt});
    add(held[place], of, replay, at);
    report::add_to(all, of.bytes);
  }
  for (HeldMemory& of : held) of.share = report::ratio(of.bytes, all);
  std::ranges::sort(held, [](const HeldMemory& a, const HeldMemory& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.place < b.place;
  });
  return held;
}

const report::Sheet<MemoryInstant> kInstantSheet{
    "Instant",
    report::Shape::table,
    {report::rank_field<MemoryInstant>(&MemoryInstant::rank),
     {"device", &MemoryInstant::device, Unit::none, Role::key},
     {"event", &MemoryInstant::event, Unit::none, Role::detail},
     {"time", &MemoryInstant::time, Unit::ns, Role::detail},
     {"requested", &MemoryInstant::requested, Unit::bytes},
     {"reserved", &MemoryInstant::reserved, Unit::bytes},
     {"peak_requested", &MemoryInstant::peak_requested, Unit::bytes},
     {"share", &MemoryInstant::share, Unit::share, Role::share}}};

const report::Sheet<HeldMemory> kHeldSheet{
    "Held then, by place",
    report::Shape::bars,
    {report::rank_field<HeldMemory>(&HeldMemory::rank),
     {"device", &HeldMemory::device, Unit::none, Role::key},
     {"place", &HeldMemory::place},
     {"bytes", &HeldMemory::bytes, Unit::bytes},
     {"count", &HeldMemory::count, Unit::count},
     {"share", &HeldMemory::share, Unit::share, Role::share},
     {"largest", &HeldMemory::largest, Unit::bytes},
     {"before_recording", &HeldMemory::before, Unit::bytes},
     {"oldest_events", &HeldMemory::oldest_events, Unit::count, Role::detail},
     {"oldest_age", &HeldMemory::oldest_time, Unit::ns, Role::detail}}};

constexpr report::ParamSpec kParams[] = {
    {"at", report::ParamSpec::Type::text, "peak", "",
     "the instant: peak, start, end, or an event's number (what holds after it)"},
    kHeldByParam};

}  // namespace

MemoryHolders memory_holders_of(const Derived& derived, std::string_view at, HeldBy by) {
  MemoryHolders of;
  const trace::Trace& trace = derived.trace();
  bool any = false;
  for (const trace::Rank& rank : trace.ranks) {
    if (rank.snapshot == nullptr) continue;
    any = true;
    const std::vector<AllocatorReplay>& replays = replays_of(derived, rank);
    std::ranges::move(capture_health(trace, rank, replays), std::back_inserter(of.notes));
    for (const AllocatorReplay& replay : replays) {
      const std::optional<MemoryInstant> instant = instant_of(rank, replay, at, of.notes);
      if (!instant) continue;
      of.instants.push_back(*instant);
      std::ranges::move(held_at({trace, *rank.snapshot, by}, replay, *instant), std::back_inserter(of.held));
    }
  }
  if (!any) of.notes.emplace_back(kNoSnapshotNote);
  return of;
}

constinit const About memory_peak_about = {kParams};

report::Report memory_peak(const Derived& derived, const report::Params& params) {
  MemoryHolders of = memory_holders_of(derived, params.text("at", "peak"), held_by(params));
  const bool several = derived.trace().several();
  return {"memory_peak",
          {tabulate(kInstantSheet, of.instants, several), tabulate(kHeldSheet, of.held, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
