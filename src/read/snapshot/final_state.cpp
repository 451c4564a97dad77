// Rows of the state in which the allocator was when the snapshot was written: blocks and segments.
#include "read/snapshot/rows.h"

namespace stepscope::read {

using trace::MemoryBlock;

void Rows::set_block(MemoryBlock& block, Value key, Value value) {
  switch (word_of(key)) {
    case Word::address:
    case Word::addr:
      block.address = address(value);
      return;
    case Word::size:
      block.size = bytes(value);
      return;
    case Word::requested_size:
      block.requested = bytes(value);
      return;
    case Word::frames:
      block.stack = stack_of(value);
      return;
    case Word::history:
      return set_history(block, value);
    case Word::state:
      switch (word_of(value)) {
        case Word::active_allocated:
          block.state = MemoryBlock::State::active;
          return;
        case Word::active_pending_free:
        case Word::active_awaiting_free:
          block.state = MemoryBlock::State::pending_free;
          return;
        case Word::inactive:
          block.state = MemoryBlock::State::inactive;
          return;
        default:
          ++odd.types;
          return;
      }
    default:
      return;
  }
}

/// Files older than PyTorch 2.1: the first entry is the block's user, others are older ones that were merged.
void Rows::set_history(MemoryBlock& block, Value list) {
  if (!heap_.is(list, Object::Kind::list) || heap_.object(list).size() == 0) return;
  const Value first = heap_.object(list).at(0);
  if (!heap_.is(first, Object::Kind::dict)) return;
  if (heap_.object(first).size() > kMaxItems) return;
  const std::vector<Value> pairs = heap_.object(first).items;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const Word key = word_of(pairs[i]);
    if (key == Word::frames) block.stack = stack_of(pairs[i + 1]);
    if (key == Word::real_size && block.requested < 0) block.requested = bytes(pairs[i + 1]);
  }
}

void Rows::take_blocks(trace::MemorySegment& segment, Value list) {
  if (!heap_.is(list, Object::Kind::list)) {
    ++odd.types;
    return;
  }
  const Object& of = heap_.object(list);
  if (of.run == Tag::block) {
    segment.first_block = static_cast<std::uint32_t>(of.first);
    segment.blocks = static_cast<std::uint32_t>(of.count);
  } else {  // not one after the other in the file
    segment.first_block = static_cast<std::uint32_t>(blocks.size());
    for (const Value item : of.items)
      if (item.tag() == Tag::block) blocks.push_back(MemoryBlock(blocks[item.index()]));
    segment.blocks = static_cast<std::uint32_t>(blocks.size()) - segment.first_block;
  }
  heap_.replace(list, {Tag::none, 0});
}

void Rows::set_segment(SegmentRow& segment, Value key, Value value) {
  trace::MemorySegment& of = segment.of;
  switch (word_of(key)) {
    case Word::device:
      segment.device = integer(value);
      return;
    case Word::address:
      of.address = address(value);
      return;
    case Word::total_size:
      of.size = bytes(value);
      return;
    case Word::allocated_size:
      of.allocated = bytes(value);
      return;
    case Word::active_size:
      of.active = bytes(value);
      return;
    case Word::requested_size:
      of.requested = bytes(value);
      return;
    case Word::stream:
      of.stream = stream(value);
      return;
    case Word::segment_type:
      of.large = word_of(value) == Word::large;
      return;
    case Word::segment_pool_id:
    case Word::pool_id:
      of.pool = pool(value);
      return;
    case Word::is_expandable:
      of.expandable = integer(value) != 0;
      return;
    case Word::frames:
      of.stack = stack_of(value);
      return;
    case Word::blocks:
      return take_blocks(of, value);
    default:
      return;
  }
}

}  // namespace stepscope::read
