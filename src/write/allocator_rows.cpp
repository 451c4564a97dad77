#include "write/allocator_rows.h"

#include <string>

#include "derive/allocator/level_walk.h"
#include "derive/allocator/stack_places.h"
#include "write/sqlite.h"

namespace stepscope::write {
namespace {

using derive::AllocatorReplay;
using trace::MemoryAction;
using trace::Rank;
using trace::Trace;

void put_pool(RowSink& sink, const trace::Snapshot& snapshot, std::uint16_t pool) {
  const trace::PoolKey key = pool < snapshot.pools.size() ? snapshot.pools[pool] : trace::PoolKey{};
  put_text_or_nothing(
      sink, key == trace::PoolKey{} ? "" : std::to_string(key.first) + "." + std::to_string(key.second));
}

bool put_events_of(const Trace& trace, const Rank& rank, const trace::MemoryOfDevice& device, RowSink& sink) {
  const trace::Snapshot& snapshot = *rank.snapshot;
  const trace::AllocatorEvents& events = device.events;
  const AllocatorReplay replay(device);
  derive::LevelWalk levels(replay);
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    levels.next();
    const MemoryAction action = events.action[e];
    const bool failed = action == MemoryAction::oom;
    sink.integer(rank_name(trace, rank));
    sink.integer(device.number);
    sink.integer(e);
    put_if(sink, !events.time.empty() && events.time[e] != trace::kNoTime,
           events.time.empty() ? 0 : events.time[e]);
    sink.text(name_of(action));
    put_if(sink, !failed && events.address[e] != trace::kNoAddress,
           static_cast<std::int64_t>(events.address[e]));
    sink.integer(events.size[e]);
    put_if(sink, failed && events.address[e] != trace::kNoAddress,
           static_cast<std::int64_t>(events.address[e]));
    sink.integer(snapshot.streams[events.stream[e]]);
    put_pool(sink, snapshot, events.pool[e]);
    sink.integer(events.stack[e]);
    put_if(sink, replay.partner(e) != derive::kNoEvent, replay.partner(e));
    sink.integer(levels.now().requested);
    sink.integer(levels.now().reserved);
    put_text_or_nothing(sink, trace.text(events.metadata.empty() ? trace::kEmptyString : events.metadata[e]));
    if (!sink.end_row()) return false;
  }
  return true;
}

std::string_view state_of(trace::MemoryBlock::State state) {
  using State = trace::MemoryBlock::State;
  return state == State::active ? "active" : state == State::pending_free ? "pending_free" : "inactive";
}

}  // namespace

bool put_allocator_events(const Trace& trace, const Rank& rank, RowSink& sink) {
  if (rank.snapshot == nullptr) return true;
  for (const trace::MemoryOfDevice& device : rank.snapshot->devices)
    if (!put_events_of(trace, rank, device, sink)) return false;
  return true;
}

bool put_allocator_stacks(const Trace& trace, const Rank& rank, RowSink& sink) {
  if (rank.snapshot == nullptr) return true;
  const derive::StackPlaces places(trace, *rank.snapshot);
  for (trace::StackId stack = 0; stack < rank.snapshot->stacks.size(); ++stack) {
    sink.integer(rank_name(trace, rank));
    sink.integer(stack);
    put_text_or_nothing(sink, places.place(stack));
    put_text_or_nothing(sink, places.function(stack));
    put_text_or_nothing(sink, places.folded(stack));
    if (!sink.end_row()) return false;
  }
  return true;
}

bool put_allocator_blocks(const Trace& trace, const Rank& rank, RowSink& sink) {
  if (rank.snapshot == nullptr) return true;
  for (const trace::MemoryOfDevice& device : rank.snapshot->devices)
    for (const trace::MemorySegment& segment : device.segments)
      for (std::uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
        const trace::MemoryBlock& block = device.blocks[b];
        sink.integer(rank_name(trace, rank));
        sink.integer(device.number);
        sink.integer(static_cast<std::int64_t>(segment.address));
        sink.integer(segment.size);
        put_pool(sink, *rank.snapshot, segment.pool);
        sink.integer(static_cast<std::int64_t>(block.address));
        sink.text(state_of(block.state));
        sink.integer(block.size);
        sink.integer(block.requested);
        sink.integer(block.stack);
        if (!sink.end_row()) return false;
      }
  return true;
}

}  // namespace stepscope::write
