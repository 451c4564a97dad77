#include "analyze/memory/memory_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/list.h"
#include "analyze/memory/replayed_snapshots.h"
#include "derive/allocator/allocator_state.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using derive::HeldSegment;
using report::Role;
using report::Tag;
using report::Unit;

constexpr std::int64_t kRangesOfSegment = 256, kRangesOfDevice = 4096;

/// Blocks and gaps of one segment, by address.
std::vector<MemoryRange> parts_of(AllocationPlaces& places, const HeldSegment& segment) {
  std::vector<MemoryRange> parts;
  const auto offset = [&](std::uint64_t address) {
    return static_cast<std::int64_t>(address - segment.address);
  };
  for (const derive::UsedBlock& block : segment.used) {
    const derive::Allocation& of = block.allocation;
    const std::size_t place = places.number_of(of.stack, of.event == derive::kNoEvent);
    parts.push_back({0, 0, "", offset(of.address), block.size, block.pending ? "pending" : "used",
                     places.names()[place], 0, 0, 1});
  }
  for (const derive::Gap& gap : segment.gaps)
    parts.push_back({0, 0, "", offset(gap.address), gap.size, "free", "", gap.size, gap.size, 0});
  std::ranges::sort(parts, {}, &MemoryRange::offset);
  return parts;
}

/// Adds `next`, which begins where `range` ends.
void join(MemoryRange& range, const MemoryRange& next) {
  const bool only_free = range.blocks == 0, adds_place = next.blocks > 0;
  if (adds_place) range.place = only_free || range.place == next.place ? next.place : kSeveralPlaces;
  if (range.state != next.state) range.state = "mixed";
  range.size += next.size;
  range.free += next.free;
  range.largest_free = std::max(range.largest_free, next.largest_free);
  range.blocks += next.blocks;
}

void add_segment(std::vector<MemoryRange>& out, AllocationPlaces& places, const MemoryInstant& at,
                 const HeldSegment& segment, std::int64_t small) {
  bool is_small = false;  // all of the last range
  bool first = true;
  for (MemoryRange& part : parts_of(places, segment)) {
    const bool alike = !first && part.state == out.back().state && part.place == out.back().place;
    if (alike || (!first && is_small && part.size < small)) {
      join(out.back(), part);
      is_small = is_small && out.back().size < small * 2;
      continue;
    }
    is_small = part.size < small;
    part.rank = at.rank;
    part.device = at.device;
    part.segment = fmt::format("0x{:x}", segment.address);
    out.push_back(std::move(part));
    first = false;
  }
}

void add_device(MemoryState& of, AllocationPlaces places, const AllocatorReplay& replay,
                const MemoryInstant& at) {
  std::vector<HeldSegment> segments = derive::segments_at(replay, at.event);
  std::ranges::stable_sort(segments, std::ranges::greater{}, &HeldSegment::size);
  for (const HeldSegment& segment : segments)
    add_segment(of.ranges, places, at, segment,
                std::max(segment.size / kRangesOfSegment, at.reserved / kRangesOfDevice));
}

const report::Sheet<MemoryRange> kRangeSheet{
    "What each segment holds, by address",
    report::Shape::table,
    {report::rank_field<MemoryRange>(&MemoryRange::rank),
     {"device", &MemoryRange::device, Unit::none, Role::key},
     {"segment", &MemoryRange::segment, Tag::of_one_run},
     {"offset", &MemoryRange::offset, Unit::bytes, Tag::of_one_run},
     {"size", &MemoryRange::size, Unit::bytes},
     {"state", &MemoryRange::state, Role::value},
     {"place", &MemoryRange::place, Role::value},
     {"free", &MemoryRange::free, Unit::bytes},
     {"largest_free", &MemoryRange::largest_free, Unit::bytes, Role::detail},
     {"blocks", &MemoryRange::blocks, Unit::count}}};

constexpr report::ParamSpec kMemoryStateParams[] = {{"at", report::ParamSpec::Type::text, "", "",
                                                     "the instant: peak, start, end, oom, or an event's "
                                                     "number; default: oom, or peak if no allocation failed"},
                                                    kHeldByParam};

}  // namespace

MemoryState memory_state_of(const Derived& derived, std::string_view at, HeldBy by) {
  MemoryState of;
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    const AllocatorReplay& replay = replays_of(derived, rank)[device];
    if (const std::optional<MemoryInstant> instant = instant_of(rank, replay, at, of.notes))
      add_device(of, {derived.trace(), *rank.snapshot, by}, replay, *instant);
  });
  return of;
}

constinit const About memory_state_about = {kMemoryStateParams};

report::Report memory_state(const Derived& derived, const report::Params& params) {
  MemoryState of = memory_state_of(derived, params.text("at"), held_by(params));
  return {"memory_state", {tabulate(kRangeSheet, of.ranges, derived.trace().several())}, std::move(of.notes)};
}

}  // namespace stepscope::analyze
