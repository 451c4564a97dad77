#include "analyze/memory/memory_summary.h"

#include <algorithm>
#include <utility>

#include "analyze/list.h"
#include "analyze/memory/replayed_snapshots.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Unit;
using trace::MemoryBlock;

/// Stacks with frames that anything of the device has.
std::int64_t distinct_stacks(const trace::Snapshot& snapshot, const trace::MemoryOfDevice& device) {
  std::vector<bool> used(snapshot.stacks.size());
  for (const trace::StackId stack : device.events.stack) used[stack] = true;
  for (const MemoryBlock& block : device.blocks) used[block.stack] = true;
  for (const trace::MemorySegment& segment : device.segments) used[segment.stack] = true;
  return std::count(used.begin() + 1, used.end(), true);
}

DeviceMemory summary_of(const trace::Rank& rank, const derive::AllocatorReplay& replay) {
  const trace::MemoryOfDevice& device = replay.device();
  DeviceMemory of{};
  of.rank = rank.rank;
  of.device = device.number;
  of.events = device.events.count();
  of.start_requested = replay.start;
  of.end_requested = replay.end;
  of.peak_requested = replay.peak;
  of.peak_event = replay.peak_event;
  of.peak_reserved = replay.peak_reserved;
  of.end_reserved = replay.end_reserved;
  for (const MemoryBlock& block : device.blocks) {
    const bool free = block.state == MemoryBlock::State::inactive;
    if (block.state == MemoryBlock::State::active) report::add_to(of.end_allocated, block.size);
    report::add_to(free ? of.free_cached : of.end_active, block.size);
    if (free) of.largest_free_block = std::max(of.largest_free_block, block.size);
  }
  of.segments = static_cast<std::int64_t>(device.segments.size());
  of.blocks = static_cast<std::int64_t>(device.blocks.size());
  of.alloc_retries = replay.retries;
  of.ooms = replay.ooms;
  of.oom_request = replay.oom_request;
  of.distinct_stacks = distinct_stacks(*rank.snapshot, device);
  of.expandable = std::ranges::any_of(device.segments, &trace::MemorySegment::expandable);
  return of;
}

const report::Sheet<DeviceMemory> kSheet{
    "Memory of each device",
    report::Shape::table,
    {report::rank_field<DeviceMemory>(&DeviceMemory::rank),
     {"device", &DeviceMemory::device, Unit::none, report::Role::key},
     {"events", &DeviceMemory::events, Unit::count},
     {"start_requested", &DeviceMemory::start_requested, Unit::bytes},
     {"end_requested", &DeviceMemory::end_requested, Unit::bytes},
     {"peak_requested", &DeviceMemory::peak_requested, Unit::bytes},
     {"peak_event", &DeviceMemory::peak_event, Unit::none},
     {"peak_reserved", &DeviceMemory::peak_reserved, Unit::bytes},
     {"end_reserved", &DeviceMemory::end_reserved, Unit::bytes},
     {"end_allocated", &DeviceMemory::end_allocated, Unit::bytes},
     {"end_active", &DeviceMemory::end_active, Unit::bytes},
     {"largest_free_block", &DeviceMemory::largest_free_block, Unit::bytes},
     {"free_cached", &DeviceMemory::free_cached, Unit::bytes},
     {"segments", &DeviceMemory::segments, Unit::count},
     {"blocks", &DeviceMemory::blocks, Unit::count},
     {"alloc_retries", &DeviceMemory::alloc_retries, Unit::count},
     {"ooms", &DeviceMemory::ooms, Unit::count},
     {"oom_request", &DeviceMemory::oom_request, Unit::bytes},
     {"distinct_stacks", &DeviceMemory::distinct_stacks, Unit::count}}};

}  // namespace

MemorySummary memory_summary_of(const Derived& derived) {
  MemorySummary of;
  for (const trace::Rank& rank : derived.trace().ranks)
    if (rank.snapshot != nullptr)
      std::ranges::copy(capture_faults(derived, rank), std::back_inserter(of.faults));
  for_each_replay(derived, of.notes, [&](const trace::Rank& rank, std::size_t device) {
    of.devices.push_back(summary_of(rank, replays_of(derived, rank)[device]));
  });
  return of;
}

constinit const About memory_summary_about = {};

report::Report memory_summary(const Derived& derived, const report::Params&) {
  MemorySummary of = memory_summary_of(derived);
  return {"memory_summary", {tabulate(kSheet, of.devices, derived.trace().several())}, std::move(of.notes)};
}

}  // namespace stepscope::analyze
