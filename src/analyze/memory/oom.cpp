#include "analyze/memory/oom.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/list.h"
#include "analyze/memory/memory_instants.h"
#include "analyze/memory/replayed_snapshots.h"
#include "derive/allocator/allocator_state.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using report::Role;
using report::Unit;
using trace::MemoryAction;

constexpr std::size_t kMostFailures = 20;  ///< failures; a program that catches them can have thousands

FailureCause cause_of(const FailedAllocation& of) {
  const std::int64_t pool = report::plus(of.own_free, of.stream_free);
  if (of.request <= of.own_free) return FailureCause::fragmentation;
  if (of.request <= pool) return FailureCause::other_stream;
  if (of.request <= report::plus(pool, of.pool_free)) return FailureCause::private_pool;
  return of.request > report::plus(of.reserved, of.device_free) / 5 ? FailureCause::one_request
                                                                    : FailureCause::shortage;
}

FailedAllocation failure_of(const trace::Rank& rank, const AllocatorReplay& replay,
                            const derive::StackPlaces& places, std::uint32_t e) {
  const trace::AllocatorEvents& events = replay.device().events;
  FailedAllocation of{};
  of.rank = rank.rank;
  of.device = replay.device().number;
  of.event = e;
  of.time = time_of(replay, e);
  of.request = events.size[e];
  of.place = places.place(events.stack[e]);
  if (of.place.empty()) of.place = kNoStackRecorded;
  const std::uint64_t said = events.address[e];
  of.device_free =
      said == trace::kNoAddress || said > (std::uint64_t{1} << 62) ? 0 : static_cast<std::int64_t>(said);
  const bool refused = of.device_free >= derive::segment_for(of.request);
  of.obtainable = refused ? 0 : of.device_free;
  const bool large = derive::is_large(of.request);
  for (const derive::HeldSegment& segment : derive::segments_at(replay, std::int64_t{e} - 1)) {
    report::add_to(of.reserved, segment.size);
    for (const derive::UsedBlock& block : segment.used) report::add_to(of.used, block.size);
    const bool own_pool = segment.pool == events.pool[e], own_stream = segment.stream == events.stream[e];
    for (const derive::Gap& gap : segment.gaps) {
      if (segment.large == large)
        report::add_to(!own_pool ? of.pool_free : own_stream ? of.own_free : of.stream_free, gap.size);
      if (!is_private(*rank.snapshot, segment.pool))
        report::add_to(of.pages, segment.wholly_free() ? gap.size : gap.pages());
      if (own_pool && own_stream && segment.large == large)
        of.largest_free = std::max(of.largest_free, gap.size);
    }
  }
  of.missing = std::max<std::int64_t>(0, of.request - report::plus(of.obtainable, of.pages));
  of.cause = cause_of(of);
  return of;
}

const report::Sheet<FailedAllocation> kFailureSheet{
    "Failed allocations",
    report::Shape::table,
    {report::rank_field<FailedAllocation>(&FailedAllocation::rank),
     {"device", &FailedAllocation::device, Unit::none, Role::key},
     {"event", &FailedAllocation::event, Unit::none, Role::key},
     {"place", &FailedAllocation::place},
     {"cause", report::named<&FailedAllocation::cause>},
     {"request", &FailedAllocation::request, Unit::bytes},
     {"device_free", &FailedAllocation::device_free, Unit::bytes},
     {"obtainable", &FailedAllocation::obtainable, Unit::bytes},
     {"reserved", &FailedAllocation::reserved, Unit::bytes},
     {"used", &FailedAllocation::used, Unit::bytes},
     {"largest_free", &FailedAllocation::largest_free, Unit::bytes},
     {"own_free", &FailedAllocation::own_free, Unit::bytes},
     {"stream_free", &FailedAllocation::stream_free, Unit::bytes},
     {"pool_free", &FailedAllocation::pool_free, Unit::bytes},
     {"pages", &FailedAllocation::pages, Unit::bytes},
     {"missing", &FailedAllocation::missing, Unit::bytes},
     {"time", &FailedAllocation::time, Unit::ns, Role::detail}}};

}  // namespace

std::string_view name_of(FailureCause cause) {
  constexpr std::string_view kNames[] = {"fragmentation", "other_stream", "private_pool", "one_request",
                                         "shortage"};
  return kNames[static_cast<std::size_t>(cause)];
}

OutOfMemory out_of_memory_of(const Derived& derived) {
  OutOfMemory of;
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    const AllocatorReplay& replay = replays_of(derived, rank)[device];
    if (replay.ooms == 0) return;
    const derive::StackPlaces places(derived.trace(), *rank.snapshot);
    const trace::AllocatorEvents& events = replay.device().events;
    std::vector<std::uint32_t> failed;
    for (std::uint32_t e = events.count(); e-- > 0 && failed.size() < kMostFailures;)
      if (events.action[e] == MemoryAction::oom) failed.push_back(e);
    if (replay.ooms > static_cast<std::int64_t>(kMostFailures))
      of.notes.push_back(fmt::format("Device {}: {} allocations failed; the last {} are listed.",
                                     replay.device().number, replay.ooms, kMostFailures));
    for (auto e = failed.rbegin(); e != failed.rend(); ++e)
      of.failed.push_back(failure_of(rank, replay, places, *e));
  });
  if (of.failed.empty() && of.notes.empty()) of.notes.emplace_back("No allocation failed.");
  return of;
}

constinit const About oom_about = {};

report::Report oom(const Derived& derived, const report::Params&) {
  OutOfMemory of = out_of_memory_of(derived);
  return {"oom", {tabulate(kFailureSheet, of.failed, derived.trace().several())}, std::move(of.notes)};
}

}  // namespace stepscope::analyze
