#include "analyze/memory/memory_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "analyze/list.h"
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

void sum_up(BlockUse& sum, const BlockUse& use) {
  report::add_to(sum.allocated, use.allocated);
  report::add_to(sum.pending, use.pending);
  report::add_to(sum.free, use.free);
  report::add_to(sum.requested, use.requested);
  sum.largest_free = std::max(sum.largest_free, use.largest_free);
}

std::string pool_name(trace::PoolKey pool) {
  return pool == trace::PoolKey{0, 0} ? "default" : fmt::format("private {}.{}", pool.first, pool.second);
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
          pool_name(snapshot.pools[segment.pool]),
          segment.large ? "large" : "small",
          segment.size,
          segment.expandable};
}

void add_segments(MemorySegments& of, const trace::Rank& rank, const trace::MemoryOfDevice& device) {
  std::map<std::pair<std::string, std::string>, PoolUse> pools;
  std::vector<SegmentUse> segments;
  for (const MemorySegment& segment : device.segments) {
    const SegmentUse use = segment_use(rank, device, segment);
    PoolUse& pool = pools
                        .try_emplace({use.pool, use.size_class},
                                     PoolUse{{}, rank.rank, device.number, use.pool, use.size_class})
                        .first->second;
    sum_up(pool, use);
    ++pool.segments;
    report::add_to(pool.reserved, use.size);
    if (!use.in_use()) {
      ++pool.releasable_segments;
      report::add_to(pool.releasable, use.free);
    }
    segments.push_back(use);
  }
  const auto first_pool = static_cast<std::ptrdiff_t>(of.pools.size());
  for (auto& [key, pool] : pools) of.pools.push_back(std::move(pool));
  std::stable_sort(of.pools.begin() + first_pool, of.pools.end(),
                   [](const PoolUse& a, const PoolUse& b) { return a.reserved > b.reserved; });
  std::ranges::stable_sort(segments, [](const SegmentUse& a, const SegmentUse& b) {
    return std::tuple(a.in_use(), a.free, a.size) > std::tuple(b.in_use(), b.free, b.size);
  });
  std::ranges::move(segments, std::back_inserter(of.segments));
}

template <class Use>
std::int64_t waste_of(const Use& use) {
  return use.waste();
}
std::int64_t split_of(const PoolUse& use) { return use.split(); }
std::string yes_if_expandable(const SegmentUse& use) { return use.expandable ? "yes" : "no"; }

const report::Sheet<PoolUse> kPoolSheet{
    "Segments of each pool",
    report::Shape::table,
    {report::rank_field<PoolUse>(&PoolUse::rank),
     {"device", &PoolUse::device, Unit::none, Role::key},
     {"pool", &PoolUse::pool},
     {"class", &PoolUse::size_class},
     {"reserved", &PoolUse::reserved, Unit::bytes},
     {"free", &PoolUse::free, Unit::bytes},
     {"releasable", &PoolUse::releasable, Unit::bytes},
     {"split", &split_of, Unit::bytes},
     {"largest_free", &PoolUse::largest_free, Unit::bytes},
     {"segments", &PoolUse::segments, Unit::count, Role::detail},
     {"allocated", &PoolUse::allocated, Unit::bytes, Role::detail},
     {"requested", &PoolUse::requested, Unit::bytes, Role::detail},
     {"waste", &waste_of<PoolUse>, Unit::bytes, Role::detail},
     {"pending", &PoolUse::pending, Unit::bytes, Role::detail},
     {"releasable_segments", &PoolUse::releasable_segments, Unit::count, Role::detail}}};

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
                                               {"waste", &waste_of<SegmentUse>, Unit::bytes, Role::detail},
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
  return {"memory_segments",
          {tabulate(kPoolSheet, of.pools, several), tabulate(kSegmentSheet, of.segments, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
