// Values of a snapshot file while it is read: 8 bytes each. Small values are inside; what is complete is a
// row of the columns; only lists and dicts that are still open are objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/string_pool.h"

namespace stepscope::read {

enum class Tag : std::uint8_t {
  none,
  boolean,
  integer,  ///< of 60 bits
  big,      ///< index of Heap's large integers
  real,     ///< index of Heap's reals
  text,     ///< id of the pool
  bytes,    ///< opaque; its length
  pair,     ///< a tuple of two integers of 30 bits
  frame,    ///< FrameId
  stack,    ///< StackId
  event,    ///< rows of the columns
  block,
  segment,
  mark,
  object,  ///< index of Heap's objects: a list, dict or tuple
  restore_type_tag,
};

struct Value {
  std::uint64_t bits;

  Value() = default;
  constexpr Value(Tag tag, std::int64_t payload)
      : bits(static_cast<std::uint64_t>(payload) << 4 | static_cast<std::uint64_t>(tag)) {}
  Tag tag() const { return static_cast<Tag>(bits & 15); }
  std::int64_t number() const { return static_cast<std::int64_t>(bits) >> 4; }
  std::size_t index() const { return static_cast<std::size_t>(bits >> 4); }
  trace::StringId text() const { return static_cast<trace::StringId>(bits >> 4); }
  friend bool operator==(const Value&, const Value&) = default;
};

inline constexpr std::int64_t kMaxInside = std::int64_t{1} << 59;  ///< integers below it fit into a Value

/// The words that a snapshot's keys, actions and states are: they have these ids in the pool of the file.
#define STEPSCOPE_SNAPSHOT_WORDS(WORD) \
  WORD(action) \
  WORD(addr) \
  WORD(address) \
  WORD(size) \
  WORD(stream) \
  WORD(time_us) \
  WORD(frames) \
  WORD(device_free) \
  WORD(compile_context) \
  WORD(user_metadata) \
  WORD(pool_id) \
  WORD(segment_pool_id) \
  WORD(name) \
  WORD(filename) \
  WORD(line) \
  WORD(device) \
  WORD(total_size) \
  WORD(allocated_size) \
  WORD(active_size) \
  WORD(requested_size) \
  WORD(segment_type) \
  WORD(is_expandable) \
  WORD(blocks) \
  WORD(state) \
  WORD(history) \
  WORD(real_size) \
  WORD(stage) \
  WORD(segments) \
  WORD(device_traces) \
  WORD(allocator_settings) \
  WORD(external_annotations) \
  WORD(trace_alloc_overflowed) \
  WORD(trace_alloc_max_entries) \
  WORD(active_allocated) \
  WORD(active_pending_free) \
  WORD(active_awaiting_free) \
  WORD(inactive) \
  WORD(large) \
  WORD(small) \
  WORD(START) \
  WORD(END) \
  WORD(alloc) \
  WORD(free_requested) \
  WORD(free_completed) \
  WORD(segment_alloc) \
  WORD(segment_free) \
  WORD(segment_map) \
  WORD(segment_unmap) \
  WORD(oom) \
  WORD(snapshot) \
  WORD(annotate) \
  WORD(user_defined)

enum class Word : trace::StringId {
  none,
#define STEPSCOPE_WORD(word) word,
  STEPSCOPE_SNAPSHOT_WORDS(STEPSCOPE_WORD)
#undef STEPSCOPE_WORD
      count
};

inline Word word_of(Value value) {
  const bool known = value.tag() == Tag::text && value.text() < static_cast<trace::StringId>(Word::count);
  return known ? static_cast<Word>(value.text()) : Word::none;
}

/// Puts the words into an empty pool.
void add_words(trace::StringPool& strings);

}  // namespace stepscope::read
