#include "analyze/memory/memory_peak.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "analyze/list.h"
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

/// The peak without each of the places that hold most.
void ask_without(AllocationPlaces& places, const AllocatorReplay& replay, std::span<HeldMemory> held) {
  held = held.first(std::min(held.size(), kPeakPlaces));
  derive::GroupsOfStacks groups(places.stacks());
  for (trace::StackId stack = 0; stack < places.stacks(); ++stack)
    for (const bool before : {false, true}) {
      const std::string& name = places.names()[places.number_of(stack, before)];
      const auto of = std::ranges::find(held, name, &HeldMemory::place);
      groups[stack][before] =
          of == held.end() ? derive::kNoGroup : static_cast<std::uint32_t>(of - held.begin());
    }
  const std::vector<derive::GroupPeak> peaks = derive::peaks_without(replay, groups, held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    held[i].peak_without = peaks[i].peak_without;
    held[i].mean = static_cast<std::int64_t>(peaks[i].mean_held);
  }
}

/// What is allocated at the instant, by place, largest first.
std::vector<HeldMemory> held_at(HeldGroups groups, const AllocatorReplay& replay, const MemoryInstant& at) {
  std::vector<HeldMemory> held;
  std::int64_t all = 0;
  for (const Allocation& of : replay.live_at(at.event)) {
    const std::size_t place = groups.number_of(of);
    if (place == held.size())
      held.push_back(
          {at.rank, at.device, groups.names()[place], 0, 0, 0, 0, 0, 0, kNoInt, kNoInt, kNoInt, kNoInt});
    add(held[place], of, replay, at);
    if (groups.places().has_optimizer(of.stack)) report::add_to(held[place].optimizer, of.bytes);
    report::add_to(all, of.bytes);
  }
  for (HeldMemory& of : held) of.share = report::ratio(of.bytes, all);
  std::ranges::sort(held, [](const HeldMemory& a, const HeldMemory& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.place < b.place;
  });
  if (at.event == replay.peak_event && at.event >= 0 && groups.by_place())
    ask_without(groups.places(), replay, held);
  return held;
}

/// The same by call stack.
std::vector<HeldByStack> stacks_at(AllocationPlaces places, const AllocatorReplay& replay,
                                   const MemoryInstant& at) {
  std::vector<HeldByStack> stacks;
  for (const Allocation& of : replay.live_at(at.event)) {
    const std::size_t number = places.number_of(of.stack, of.event == kNoEvent);
    if (number == stacks.size()) stacks.push_back({at.rank, at.device, places.names()[number], 0, 0});
    report::add_to(stacks[number].bytes, of.bytes);
    ++stacks[number].count;
  }
  std::ranges::sort(stacks, [](const HeldByStack& a, const HeldByStack& b) {
    return std::tie(b.bytes, a.stack) < std::tie(a.bytes, b.stack);
  });
  if (stacks.size() <= kPeakStacks + 1) return stacks;
  HeldByStack& others = stacks[kPeakStacks];
  others.stack = kOtherStacks;
  for (std::size_t i = kPeakStacks + 1; i < stacks.size(); ++i) {
    report::add_to(others.bytes, stacks[i].bytes);
    others.count += stacks[i].count;
  }
  stacks.resize(kPeakStacks + 1);
  return stacks;
}

/// Adds what the recording of the same run did then, if there is one.
void add_recorded(std::vector<RanThen>& out, const Derived& derived, const trace::Rank& rank,
                  const trace::MemoryOfDevice& device, std::int64_t event) {
  const derive::RunMoments moments(rank);
  if (event < 0 || !moments.overlap(device)) return;
  const derive::RunMoment moment = moments.at(device.events.time[static_cast<std::size_t>(event)]);
  if (moment.step == nullptr && moment.op == trace::kNoRow) return;
  RanThen& of = out.emplace_back(RanThen{rank.rank, device.number, kNoInt, "", ""});
  if (moment.step != nullptr) of.step = moment.step->number;
  if (moment.op == trace::kNoRow) return;
  of.op = derived.trace().name(rank, moment.op);
  const ModulePaths modules = module_paths(derived.trace(), rank, derived.choice());
  if (modules.paths.size() > 0) of.module = module_path_of(modules, moment.inner);
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
     {"by_optimizer", &HeldMemory::optimizer, Unit::bytes, Role::detail},
     {"peak_without", &HeldMemory::peak_without, Unit::bytes},
     {"mean", &HeldMemory::mean, Unit::bytes, Role::detail},
     {"oldest_events", &HeldMemory::oldest_events, Unit::count, Role::detail},
     {"oldest_age", &HeldMemory::oldest_time, Unit::ns, Role::detail}}};

const report::Sheet<HeldByStack> kStackSheet{"Held then, by call stack",
                                             report::Shape::flame,
                                             {report::rank_field<HeldByStack>(&HeldByStack::rank),
                                              {"device", &HeldByStack::device, Unit::none, Role::key},
                                              {"stack", &HeldByStack::stack},
                                              {"bytes", &HeldByStack::bytes, Unit::bytes},
                                              {"count", &HeldByStack::count, Unit::count}}};

const report::Sheet<RanThen> kRanSheet{"What ran then",
                                       report::Shape::table,
                                       {report::rank_field<RanThen>(&RanThen::rank),
                                        {"device", &RanThen::device, Unit::none, Role::key},
                                        {"step", &RanThen::step, Unit::none},
                                        {"op", &RanThen::op},
                                        {"module", &RanThen::module}}};

constexpr report::ParamSpec kParams[] = {
    {"at", report::ParamSpec::Type::text, "peak", "",
     "the instant: peak, start, end, oom, or an event's number (what holds after it)"},
    kHeldGroupParam};

}  // namespace

MemoryHolders memory_holders_of(const Derived& derived, std::string_view at, HeldGroup by) {
  MemoryHolders of;
  const trace::Trace& trace = derived.trace();
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    const AllocatorReplay& replay = replays_of(derived, rank)[device];
    const std::optional<MemoryInstant> instant = instant_of(rank, replay, at, of.notes);
    if (!instant) return;
    of.instants.push_back(*instant);
    add_recorded(of.ran, derived, rank, replay.device(), instant->event);
    std::ranges::move(held_at({derived, rank, device, by, instant->event, of.notes}, replay, *instant),
                      std::back_inserter(of.held));
    std::ranges::move(stacks_at({trace, *rank.snapshot, HeldBy::stack}, replay, *instant),
                      std::back_inserter(of.stacks));
  });
  return of;
}

constinit const About memory_peak_about = {kParams};

report::Report memory_peak(const Derived& derived, const report::Params& params) {
  MemoryHolders of = memory_holders_of(derived, params.text("at", "peak"), held_group(params));
  const bool several = derived.trace().several();
  report::Report out{"memory_peak",
                     {tabulate(kInstantSheet, of.instants, several), tabulate(kHeldSheet, of.held, several),
                      tabulate(kStackSheet, of.stacks, several)},
                     std::move(of.notes)};
  if (!of.ran.empty()) out.tables.push_back(tabulate(kRanSheet, of.ran, several));
  return out;
}

}  // namespace stepscope::analyze
