#include "analyze/memory/memory_peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "analyze/list.h"
#include "analyze/memory/chosen_records.h"
#include "analyze/memory/instants.h"
#include "analyze/memory/replayed_snapshots.h"
#include "derive/allocator/peak_without.h"
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

/// Sums allocations by stack, then by the text of the place.
class Holders {
 public:
  Holders(const trace::Trace& trace, const trace::Rank& rank, const AllocatorReplay& replay,
          std::int64_t event)
      : places_(trace, *rank.snapshot), rank_(rank), replay_(replay), event_(event) {}

  void write(HeldBy by, std::vector<HeldMemory>& out) const {
    std::map<std::string, HeldMemory> held;
    std::map<trace::StackId, std::string> names;
    std::int64_t all = 0;
    for (const Allocation& of : replay_.live_at(event_)) {
      const auto [name, is_new] = names.try_emplace(of.stack);
      if (is_new) name->second = name_of(of.stack, by);
      const std::string_view place = !name->second.empty()  ? std::string_view(name->second)
                                     : of.event == kNoEvent ? kBeforeRecording
                                                            : kNoStackRecorded;
      const auto [found, first] = held.try_emplace(
          std::string(place), HeldMemory{rank_.rank, replay_.device().number, std::string(place), 0, 0, 0, 0,
                                         0, kNoInt, kNoInt, kNoInt, kNoInt});
      add(found->second, of);
      report::add_to(all, of.bytes);
    }
    const std::size_t begin = out.size();
    for (auto& [place, of] : held) {
      of.share = report::ratio(of.bytes, all);
      out.push_back(std::move(of));
    }
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                     [](const HeldMemory& a, const HeldMemory& b) { return a.bytes > b.bytes; });
    if (event_ == replay_.peak_event && event_ >= 0) ask_without(by, std::span(out).subspan(begin));
  }

 private:
  void ask_without(HeldBy by, std::span<HeldMemory> held) const {
    held = held.first(std::min(held.size(), kPeakPlaces));
    std::vector<std::uint32_t> groups;
    for (trace::StackId stack = 0; stack < rank_.snapshot->stacks.size(); ++stack) {
      const auto of = std::ranges::find(held, name_of(stack, by), &HeldMemory::place);
      groups.push_back(of == held.end() ? derive::kNoGroup : static_cast<std::uint32_t>(of - held.begin()));
    }
    const std::vector<derive::GroupPeak> peaks = derive::peaks_without(replay_, groups, held.size());
    for (std::size_t i = 0; i < held.size(); ++i) {
      held[i].peak_without = peaks[i].peak_without;
      held[i].mean = static_cast<std::int64_t>(peaks[i].mean_held);
    }
  }

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
     {"peak_without", &HeldMemory::peak_without, Unit::bytes},
     {"mean", &HeldMemory::mean, Unit::bytes, Role::detail},
     {"oldest_events", &HeldMemory::oldest_events, Unit::count, Role::detail},
     {"oldest_age", &HeldMemory::oldest_time, Unit::ns, Role::detail}}};

constexpr report::ParamSpec kParams[] = {
    {"at", report::ParamSpec::Type::text, "peak", "",
     "the instant: peak, start, end, oom, or an event's number (what holds after it)"},
    {"by", report::ParamSpec::Type::choice, "function", "function|line|stack",
     "what holds memory: the innermost function or line of the program, or the whole stack"}};

}  // namespace

MemoryHolders memory_holders_of(const Derived& derived, std::string_view at, HeldBy by) {
  MemoryHolders of;
  const trace::Trace& trace = derived.trace();
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    const AllocatorReplay& replay = replays_of(derived, rank)[device];
    const std::optional<std::int64_t> event = event_of(replay, at);
    if (!event) return of.notes.push_back(no_such_event(replay, at));
    const std::int64_t requested = replay.requested_at(*event);
    of.instants.push_back({rank.rank, replay.device().number, *event, time_of(replay, *event), requested,
                           replay.reserved_at(*event), replay.peak, report::ratio(requested, replay.peak)});
    Holders(trace, rank, replay, *event).write(by, of.held);
  });
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
