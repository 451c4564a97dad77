#include "analyze/memory/fragmentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/list.h"
#include "analyze/memory/memory_instants.h"
#include "analyze/memory/replayed_snapshots.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;

void add_to_pool(PoolMemory& to, const derive::HeldSegment& segment, bool is_private) {
  ++to.segments;
  report::add_to(to.reserved, segment.size);
  for (const derive::UsedBlock& block : segment.used) {
    report::add_to(to.used, block.size);
    report::add_to(to.waste, std::max<std::int64_t>(0, block.size - block.allocation.bytes));
  }
  for (const derive::Gap& gap : segment.gaps) {
    report::add_to(to.free, gap.size);
    if (!segment.wholly_free()) {
      report::add_to(to.split, gap.size);
      report::add_to(to.pages, gap.pages());
    } else if (!is_private) {
      report::add_to(to.releasable, gap.size);
    }
    to.largest_free = std::max(to.largest_free, gap.size);
    ++to.gaps;
  }
}

std::string requests_of(const PoolMemory& of) { return of.large ? "large" : "small"; }

const report::Sheet<PoolMemory> kPoolSheet{"Use of reserved memory",
                                           report::Shape::table,
                                           {report::rank_field<PoolMemory>(&PoolMemory::rank),
                                            {"device", &PoolMemory::device, Unit::none, Role::key},
                                            {"pool", &PoolMemory::pool},
                                            {"stream", &PoolMemory::stream, Unit::none, Role::key},
                                            {"requests", &requests_of},
                                            {"reserved", &PoolMemory::reserved, Unit::bytes},
                                            {"used", &PoolMemory::used, Unit::bytes},
                                            {"split", &PoolMemory::split, Unit::bytes},
                                            {"share", &PoolMemory::share, Unit::share, Role::share},
                                            {"largest_free", &PoolMemory::largest_free, Unit::bytes},
                                            {"releasable", &PoolMemory::releasable, Unit::bytes},
                                            {"pages", &PoolMemory::pages, Unit::bytes, Role::detail},
                                            {"waste", &PoolMemory::waste, Unit::bytes, Role::detail},
                                            {"free", &PoolMemory::free, Unit::bytes, Role::detail},
                                            {"gaps", &PoolMemory::gaps, Unit::count, Role::detail},
                                            {"segments", &PoolMemory::segments, Unit::count, Role::detail}}};

/// Adds the places that hold blocks in the segments that are partly free.
void add_pinning(const trace::Trace& trace, const trace::Rank& rank, std::int64_t device,
                 const std::vector<derive::HeldSegment>& segments, std::vector<PinningPlace>& out) {
  AllocationPlaces places(trace, *rank.snapshot, HeldBy::line);
  std::map<std::size_t, PinningPlace> found;
  for (const derive::HeldSegment& segment : segments) {
    if (segment.wholly_free() || segment.gaps.empty()) continue;
    std::int64_t free = 0;
    for (const derive::Gap& gap : segment.gaps) report::add_to(free, gap.size);
    std::map<std::size_t, std::int64_t> held;
    for (const derive::UsedBlock& block : segment.used)
      report::add_to(
          held[places.number_of(block.allocation.stack, block.allocation.event == derive::kNoEvent)],
          block.size);
    for (const auto& [place, bytes] : held) {
      PinningPlace& of = found[place];
      report::add_to(of.held, bytes);
      ++of.segments;
      report::add_to(of.split, free);
      if (held.size() == 1) report::add_to(of.alone, free);
    }
  }
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (auto& [place, of] : found) {
    of.rank = rank.rank;
    of.device = device;
    of.place = places.names()[place];
    out.push_back(std::move(of));
  }
  std::stable_sort(out.begin() + first, out.end(), [](const PinningPlace& a, const PinningPlace& b) {
    return std::pair(a.alone, a.split) > std::pair(b.alone, b.split);
  });
}

const report::Sheet<PinningPlace> kPinningSheet{"Who holds partly free segments",
                                                report::Shape::table,
                                                {report::rank_field<PinningPlace>(&PinningPlace::rank),
                                                 {"device", &PinningPlace::device, Unit::none, Role::key},
                                                 {"place", &PinningPlace::place},
                                                 {"alone", &PinningPlace::alone, Unit::bytes},
                                                 {"split", &PinningPlace::split, Unit::bytes},
                                                 {"held", &PinningPlace::held, Unit::bytes},
                                                 {"segments", &PinningPlace::segments, Unit::count}}};

constexpr report::ParamSpec kFragmentationParams[] = {
    {"at", report::ParamSpec::Type::text, "", "",
     "the instant: peak, start, end, oom, or an event's number; else oom, or the peak if none failed"}};

}  // namespace

std::vector<PoolMemory> pools_of(const trace::Rank& rank, std::int64_t device,
                                 const std::vector<derive::HeldSegment>& segments) {
  std::map<std::tuple<std::uint16_t, std::uint16_t, bool>, PoolMemory> pools;
  for (const derive::HeldSegment& segment : segments) {
    const auto [found, is_new] = pools.try_emplace({segment.pool, segment.stream, segment.large});
    PoolMemory& of = found->second;
    if (is_new) {
      of.rank = rank.rank;
      of.device = device;
      of.pool = pool_name(*rank.snapshot, segment.pool);
      of.stream = stream_number(*rank.snapshot, segment.stream);
      of.large = segment.large;
    }
    add_to_pool(of, segment, is_private(*rank.snapshot, segment.pool));
  }
  std::vector<PoolMemory> out;
  for (auto& [key, of] : pools) {
    of.share = report::ratio(of.split, of.reserved);
    out.push_back(std::move(of));
  }
  std::ranges::stable_sort(out, std::greater{}, &PoolMemory::split);
  return out;
}

Fragmentation fragmentation_of(const Derived& derived, std::string_view at) {
  Fragmentation of;
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    const derive::AllocatorReplay& replay = replays_of(derived, rank)[device];
    const std::int64_t number = replay.device().number;
    const std::optional<MemoryInstant> instant = instant_of(rank, replay, at, of.notes);
    if (!instant) return;
    const std::vector<derive::HeldSegment> segments = derive::segments_at(replay, instant->event);
    for (PoolMemory& pool : pools_of(rank, number, segments)) of.pools.push_back(std::move(pool));
    add_pinning(derived.trace(), rank, number, segments, of.pinning);
  });
  return of;
}

constinit const About fragmentation_about = {kFragmentationParams};

report::Report fragmentation(const Derived& derived, const report::Params& params) {
  Fragmentation of = fragmentation_of(derived, params.text("at", ""));
  const bool several = derived.trace().several();
  return {"fragmentation",
          {tabulate(kPoolSheet, of.pools, several), tabulate(kPinningSheet, of.pinning, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
