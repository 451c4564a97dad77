#include "analyze/memory/churn.h"

#include <algorithm>
#include <map>

#include "analyze/list.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using report::Role;
using report::Unit;
using trace::MemoryAction;

double per(std::int64_t total, std::int64_t steps) {
  return static_cast<double>(total) / static_cast<double>(std::max<std::int64_t>(1, steps));
}

Churn churn_of(const trace::Trace& trace, const trace::Rank& rank, const AllocatorReplay& replay,
               const DeviceSteps& steps) {
  Churn of{};
  of.rank = rank.rank;
  of.device = replay.device().number;
  std::int64_t taken = 0, returned = 0, bytes = 0, allocations = 0, allocated = 0;
  for (std::size_t i = steps.warm_up; i < steps.steps.size(); ++i) {
    const MemoryStep& step = steps.steps[i];
    ++of.steps;
    of.unsettled += step.segments_taken > 0 && step.segments_returned > 0;
    taken += step.segments_taken;
    returned += step.segments_returned;
    report::add_to(bytes, step.taken);
    allocations += step.allocations;
    report::add_to(allocated, step.allocated);
    of.retries += step.retries;
  }
  of.segments_taken = per(taken, of.steps);
  of.segments_returned = per(returned, of.steps);
  of.taken = report::mean(bytes, of.steps);
  of.allocations = per(allocations, of.steps);
  of.allocated = report::mean(allocated, of.steps);
  of.delayed_frees = static_cast<std::int64_t>(replay.delayed_frees().size());
  of.peak_pending = replay.peak_pending;
  of.found_by = told(trace, rank, steps);
  return of;
}

void add_places(const trace::Trace& trace, const trace::Rank& rank, const AllocatorReplay& replay,
                const DeviceSteps& steps, std::vector<ChurningPlace>& out) {
  const trace::AllocatorEvents& events = replay.device().events;
  const derive::StackPlaces places(trace, *rank.snapshot);
  std::map<std::string, ChurningPlace> found;
  const auto begin = static_cast<std::uint32_t>(steps.steps[steps.warm_up].event);
  for (std::uint32_t e = begin; e < events.count(); ++e) {
    const MemoryAction action = events.action[e];
    const bool takes = action == MemoryAction::segment_alloc || action == MemoryAction::segment_map;
    const bool returns = action == MemoryAction::segment_free || action == MemoryAction::segment_unmap;
    if (!takes && !returns) continue;
    std::string place = places.place(events.stack[e]);
    if (place.empty()) place = kNoStackRecorded;
    ChurningPlace& of =
        found.try_emplace(place, ChurningPlace{rank.rank, replay.device().number, place, 0, 0, 0, 0})
            .first->second;
    ++(takes ? of.segments_taken : of.segments_returned);
    report::add_to(takes ? of.taken : of.returned, events.size[e]);
  }
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (auto& [place, of] : found) out.push_back(std::move(of));
  std::stable_sort(out.begin() + first, out.end(), [](const ChurningPlace& a, const ChurningPlace& b) {
    return report::plus(a.taken, a.returned) > report::plus(b.taken, b.returned);
  });
}

const report::Sheet<Churn> kChurnSheet{"Churn per step",
                                       report::Shape::table,
                                       {report::rank_field<Churn>(&Churn::rank),
                                        {"device", &Churn::device, Unit::none, Role::key},
                                        {"steps", &Churn::steps, Unit::count},
                                        {"unsettled", &Churn::unsettled, Unit::count},
                                        {"segments_taken", &Churn::segments_taken, Unit::none},
                                        {"segments_returned", &Churn::segments_returned, Unit::none},
                                        {"taken", &Churn::taken, Unit::bytes},
                                        {"retries", &Churn::retries, Unit::count},
                                        {"allocations", &Churn::allocations, Unit::none},
                                        {"allocated", &Churn::allocated, Unit::bytes},
                                        {"delayed_frees", &Churn::delayed_frees, Unit::count, Role::detail},
                                        {"peak_pending", &Churn::peak_pending, Unit::bytes, Role::detail},
                                        {"found_by", &Churn::found_by, Role::detail}}};

const report::Sheet<ChurningPlace> kChurnPlaceSheet{
    "Segments taken and returned, by place",
    report::Shape::table,
    {report::rank_field<ChurningPlace>(&ChurningPlace::rank),
     {"device", &ChurningPlace::device, Unit::none, Role::key},
     {"place", &ChurningPlace::place},
     {"segments_taken", &ChurningPlace::segments_taken, Unit::count},
     {"taken", &ChurningPlace::taken, Unit::bytes},
     {"segments_returned", &ChurningPlace::segments_returned, Unit::count},
     {"returned", &ChurningPlace::returned, Unit::bytes}}};

const report::Sheet<MemoryStep> kChurnStepSheet{
    "Each step",
    report::Shape::table,
    {report::rank_field<MemoryStep>(&MemoryStep::rank),
     {"device", &MemoryStep::device, Unit::none, Role::key},
     {"step", &MemoryStep::number, Unit::none, Role::key},
     {"event", &MemoryStep::event, Unit::none},
     {"length", &MemoryStep::length, Unit::ns},
     {"start", &MemoryStep::start, Unit::bytes},
     {"peak", &MemoryStep::peak, Unit::bytes},
     {"lowest", &MemoryStep::lowest, Unit::bytes},
     {"peak_reserved", &MemoryStep::peak_reserved, Unit::bytes},
     {"allocations", &MemoryStep::allocations, Unit::count},
     {"allocated", &MemoryStep::allocated, Unit::bytes},
     {"segments_taken", &MemoryStep::segments_taken, Unit::count},
     {"segments_returned", &MemoryStep::segments_returned, Unit::count},
     {"taken", &MemoryStep::taken, Unit::bytes, Role::detail},
     {"returned", &MemoryStep::returned, Unit::bytes, Role::detail},
     {"retries", &MemoryStep::retries, Unit::count, Role::detail}}};

}  // namespace

MemoryChurn memory_churn_of(const Derived& derived) {
  MemoryChurn of;
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    const AllocatorReplay& replay = replays_of(derived, rank)[device];
    const DeviceSteps& steps = memory_steps_of(derived, rank)[device];
    if (replay.device().events.count() == 0) return;
    of.devices.push_back(churn_of(derived.trace(), rank, replay, steps));
    of.steps.insert(of.steps.end(), steps.steps.begin(), steps.steps.end());
    add_places(derived.trace(), rank, replay, steps, of.places);
  });
  return of;
}

constinit const About churn_about = {};

report::Report churn(const Derived& derived, const report::Params&) {
  MemoryChurn of = memory_churn_of(derived);
  const bool several = derived.trace().several();
  return {"churn",
          {tabulate(kChurnSheet, of.devices, several), tabulate(kChurnPlaceSheet, of.places, several),
           tabulate(kChurnStepSheet, of.steps, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
