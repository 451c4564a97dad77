#include "analyze/memory/memory_peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "analyze/list.h"
#include "analyze/memory/chosen_records.h"
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
using report::Tag;
using report::Unit;

constexpr std::string_view kNoStackRecorded = "no stack recorded";

/// The event that `at` names; nothing if it names none of this device.
std::optional<std::int64_t> event_of(const AllocatorReplay& replay, std::string_view at) {
  const std::int64_t last = static_cast<std::int64_t>(replay.device().events.count()) - 1;
  if (at == "peak") return replay.peak_event;
  if (at == "start") return -1;
  if (at == "end") return last;
  std::int64_t event = 0;
  const auto [end, failed] = std::from_chars(at.data(), at.data() + at.size(), event);
  const bool fits = failed == std::errc{} && end == at.data() + at.size() && -1 <= event && event <= last;
  return fits ? std::optional(event) : std::nullopt;
}

/// ns from the device's first event to `event`.
std::int64_t time_of(const AllocatorReplay& replay, std::int64_t event) {
  const Column<std::int64_t>& time = replay.device().events.time;
  if (event < 0 || time.empty() || time.front() == trace::kNoTime) return kNoInt;
  const std::int64_t at = time[static_cast<std::size_t>(event)];
  return at == trace::kNoTime ? kNoInt : at - time.front();
}

/// Sums allocations by stack, then by the text of the place.
class Holders {
 public:
  Holders(const trace::Trace& trace, const trace::Rank& rank, const AllocatorReplay& replay,
          std::int64_t event)
      : places_(trace, *rank.snapshot), rank_(rank), replay_(replay), event_(event) {}

  void write(HeldBy by, std::vector<HeldMemory>& out) const {
    std::map<std::string, HeldMemory> held;
    std::map<std::pair<trace::StackId, bool>, HeldMemory*> of_stacks;
    std::int64_t all = 0;
    for (const Allocation& of : replay_.live_at(event_)) {
      const bool before = of.event == kNoEvent;
      HeldMemory*& to = of_stacks[{of.stack, before}];
      if (to == nullptr) {
        std::string place = name_of(of.stack, by);
        if (place.empty()) place = before ? kBeforeRecording : kNoStackRecorded;
        const HeldMemory none{rank_.rank, replay_.device().number, place, 0, 0, 0, 0, 0, kNoInt, kNoInt};
        to = &held.try_emplace(std::move(place), none).first->second;
      }
      add(*to, of);
      report::add_to(all, of.bytes);
    }
    const std::size_t begin = out.size();
    for (auto& [place, of] : held) {
      of.share = report::ratio(of.bytes, all);
      out.push_back(std::move(of));
    }
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                     [](const HeldMemory& a, const HeldMemory& b) { return a.bytes > b.bytes; });
  }

 private:
  std::string name_of(trace::StackId stack, HeldBy by) const {
    if (by == HeldBy::stack) return places_.folded(stack);
    return by == HeldBy::line ? places_.line(stack) : places_.place(stack);
  }

  void add(HeldMemory& to, const Allocation& of) const {
    ++to.count;
    report::add_to(to.bytes, of.bytes);
    to.largest = std::max(to.largest, of.bytes);
    if (of.event == kNoEvent) {
      report::add_to(to.before, of.bytes);
      return;
    }
    to.oldest_events = std::max(to.oldest_events, event_ - static_cast<std::int64_t>(of.event));
    const std::int64_t now = time_of(replay_, event_), then = time_of(replay_, of.event);
    if (now != kNoInt && then != kNoInt) to.oldest_time = std::max(to.oldest_time, now - then);
  }

  const derive::StackPlaces places_;
  const trace::Rank& rank_;
  const AllocatorReplay& replay_;
  const std::int64_t event_;
};

const report::Sheet<MemoryInstant> kInstantSheet{
    "Instant",
    report::Shape::table,
    {report::rank_field<MemoryInstant>(&MemoryInstant::rank),
     {"device", &MemoryInstant::device, Unit::none, Role::key},
     {"event", &MemoryInstant::event, Unit::none},
     {"time", &MemoryInstant::time, Unit::ns},
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
    {"by", report::ParamSpec::Type::choice, "function", "function|line|stack",
     "what holds memory: the innermost function or line of the program, or the whole stack"}};

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
      const std::optional<std::int64_t> event = event_of(replay, at);
      if (!event) {
        of.notes.push_back(fmt::format(
            "Device {} has no event {}: it has events 0 to {}, and the instants peak, "
            "start and end.",
            replay.device().number, at, static_cast<std::int64_t>(replay.device().events.count()) - 1));
        continue;
      }
      const std::int64_t requested = replay.requested_at(*event);
      of.instants.push_back({rank.rank, replay.device().number, *event, time_of(replay, *event), requested,
                             replay.reserved_at(*event), replay.peak, report::ratio(requested, replay.peak)});
      Holders(trace, rank, replay, *event).write(by, of.held);
    }
  }
  if (!any) of.notes.emplace_back(kNoSnapshotNote);
  return of;
}

constinit const About memory_peak_about = {kParams};

report::Report memory_peak(const Derived& derived, const report::Params& params) {
  const std::string_view by = params.text("by", "function");
  const HeldBy held_by = by == "stack" ? HeldBy::stack : by == "line" ? HeldBy::line : HeldBy::function;
  MemoryHolders of = memory_holders_of(derived, params.text("at", "peak"), held_by);
  const bool several = derived.trace().several();
  return {"memory_peak",
          {tabulate(kInstantSheet, of.instants, several), tabulate(kHeldSheet, of.held, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
