// The rows that a snapshot's dicts become: frames, events, blocks, segments, marks.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "read/snapshot/heap.h"
#include "read/snapshot/stacks.h"
#include "trace/snapshot.h"

namespace stepscope::read {

struct SegmentRow {
  trace::MemorySegment of;
  std::int64_t device = 0;
};

/// How often the file has what PyTorch does not write.
struct Oddities {
  std::int64_t sizes = 0;    ///< negative, or more than any memory holds: read as 0
  std::int64_t types = 0;    ///< values of another type
  std::int64_t changes = 0;  ///< rows that were changed after they were complete
  std::int64_t streams = 0;  ///< beyond the number of streams or pools that can be told apart
};

class Rows {
 public:
  explicit Rows(Heap& heap) : heap_(heap) {}

  /// The row that a dict with these keys and values is; the dict itself, as Tag::none, if it is none.
  Value row_of(std::span<const Value> pairs);
  /// Sets a key of a row.
  void set(Value row, Value key, Value value);
  /// `value` if it is complete: dicts that are rows, and lists of frames that are stacks, become these.
  Value settled(Value value);
  /// The stack of a list of frames; kNoStack if it is none.
  trace::StackId stack_of(Value list);

  /// Makes an empty list one of the frames of a stack.
  void fill(Value list, trace::StackId stack);
  /// Makes it a list of frames again.
  void unfold(Object& list);

  /// Bytes of memory.
  std::size_t held() const;

  Heap& heap() { return heap_; }

  Stacks stacks;
  trace::AllocatorEvents events;
  std::vector<trace::EventExtra> extras;
  Column<trace::MemoryBlock> blocks;
  std::vector<SegmentRow> segments;
  std::vector<trace::MemoryMark> marks;
  std::vector<std::int64_t> streams = {0};       ///< the default stream first
  std::vector<trace::PoolKey> pools = {{0, 0}};  ///< the default pool first
  Oddities odd;

 private:
  static constexpr std::size_t kMaxItems = 128;  ///< keys and values of a row; PyTorch writes up to 30

  Value add_event(std::span<const Value> pairs);
  Value add_frame(std::span<const Value> pairs);
  void set_event(std::size_t row, Value key, Value value);
  void set_block(trace::MemoryBlock& block, Value key, Value value);
  void set_history(trace::MemoryBlock& block, Value list);
  void set_segment(SegmentRow& segment, Value key, Value value);
  void set_mark(trace::MemoryMark& mark, Value key, Value value);
  void take_blocks(trace::MemorySegment& segment, Value list);

  std::int64_t bytes(Value value);
  std::int64_t integer(Value value);
  std::uint64_t address(Value value);
  std::int64_t nanoseconds(Value value);
  std::uint16_t stream(Value value);
  std::uint16_t pool(Value value);
  trace::StringId text(Value value);
  trace::StringId json(Value value) {
    return value.tag() == Tag::text ? value.text() : heap_.strings().intern(heap_.json(value));
  }

  Heap& heap_;
  std::map<std::int64_t, std::uint16_t> stream_ids_ = {{0, 0}};
  std::map<trace::PoolKey, std::uint16_t> pool_ids_ = {{{0, 0}, 0}};
  std::int64_t last_stream_ = 0;
  trace::PoolKey last_pool_;
  std::uint16_t last_stream_id_ = 0, last_pool_id_ = 0;
  std::vector<trace::FrameId> scratch_;
};

}  // namespace stepscope::read
