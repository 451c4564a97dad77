#include "analyze/memory/memory_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "analyze/list.h"
#include "analyze/memory/memory_instants.h"
#include "analyze/memory/replayed_snapshots.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Tag;
using report::Unit;
using trace::MemoryBlock;
using trace::MemorySegment;

BlockUse use_of(std::span<const MemoryBlock> blocks) {
  BlockUse use;
  for (const MemoryBlock& block : blocks) {
    if (block.state == MemoryBlock::State::inactive) {
      report::add_to(use.free, block.size);
      use.largest_free = std::max(use.largest_free, block.size);
      continue;
    }
    report::add_to(block.state == MemoryBlock::State::active ? use.allocated : use.pending, block.size);
    report::add_to(use.requested, block.requested);
  }
  return use;
}

SegmentUse segment_use(const trace::Rank& rank, const trace::MemoryOfDevice& device,
                       const MemorySegment& segment) {
  const trace::Snapshot& snapshot = *rank.snapshot;
  const std::int64_t stream = snapshot.streams[segment.stream];
  return {use_of(std::span(device.blocks).subspan(segment.first_block, segment.blocks)),
          rank.rank,
          device.number,
          fmt::format("0x{:x}", segment.address),
          stream == 0 ? "default" : fmt::format("0x{:x}", static_cast<std::uint64_t>(stream)),
          pool_name(snapshot, segment.pool),
          segment.large ? "large" : "small",
          segment.size,
          segment.expandable};
}

void add_segments(MemorySegments& of, const trace::Rank& rank, const trace::MemoryOfDevice& device) {
  std::vector<SegmentUse> segments;
  for (const MemorySegment& segment : device.segments) segments.push_back(segment_use(rank, device, segment));
  std::ranges::stable_sort(segments, [](const SegmentUse& a, const SegmentUse& b) {
    return std::tuple(a.in_use(), a.free, a.size) > std::tuple(b.in_use(), b.free, b.size);
  });
  std::ranges::move(segments, std::back_inserter(of.segments));
}

std::int64_t waste_of(const SegmentUse& use) { return use.waste(); }
std::string yes_if_expandable(const SegmentUse& use) { return use.expandable ? "yes" : "no"; }

const report::Sheet<SegmentUse> kSegmentSheet{"Each segment",
                                              report::Shape::table,
                                              {report::rank_field<SegmentUse>(&SegmentUse::rank),
                                               {"device", &SegmentUse::device, Unit::none, Role::key},
                                               {"address", &SegmentUse::address, Tag::of_one_run},
                                               {"pool", &SegmentUse::pool, Role::value},
                                               {"class", &SegmentUse::size_class, Role::value},
                                               {"size", &SegmentUse::size, Unit::bytes},
                                               {"allocated", &SegmentUse::allocated, Unit::bytes},
                                               {"free", &SegmentUse::free, Unit::bytes},
                                               {"largest_free", &SegmentUse::largest_free, Unit::bytes},
                                               {"waste", &waste_of, Unit::bytes, Role::detail},
                                               {"pending", &SegmentUse::pending, Unit::bytes, Role::detail},
                                               {"stream", &SegmentUse::stream, Role::detail},
                                               {"expandable", &yes_if_expandable, Role::detail}}};

}  // namespace

MemorySegments memory_segments_of(const Derived& derived) {
  MemorySegments of;
  const trace::Trace& trace = derived.trace();
  bool any = false;
  for (const trace::Rank& rank : trace.ranks) {
    if (rank.snapshot == nullptr) continue;
    any = true;
    std::ranges::move(state_health(trace, rank), std::back_inserter(of.notes));
    for (const trace::MemoryOfDevice& device : rank.snapshot->devices) add_segments(of, rank, device);
  }
  if (!any) of.notes.emplace_back(kNoSnapshotNote);
  return of;
}

constinit const About memory_segments_about = {};

report::Report memory_segments(const Derived& derived, const report::Params&) {
  MemorySegments of = memory_segments_of(derived);
  const bool several = derived.trace().several();
  return {"memory_segments", {tabulate(kSegmentSheet, of.segments, several)}, std::move(of.notes)};
}

}  // namespace stepscope::analyze
