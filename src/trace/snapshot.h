// A memory snapshot of PyTorch's caching allocator: its state when it was written, and the events before.
// Sizes in bytes, times in Unix nanoseconds. The order of events is that of the file's list, never of clocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "trace/string_pool.h"

namespace stepscope::trace {

/// A frame of a call stack. C++ frames often have no file and line 0.
struct Frame {
  StringId name = kEmptyString, file = kEmptyString;
  StringId extra = kEmptyString;  ///< its other keys, as JSON
  std::int64_t line = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

using FrameId = std::uint32_t;
using StackId = std::uint32_t;
inline constexpr StackId kNoStack = 0;  ///< the stack without frames

/// Distinct stacks, innermost frame first.
struct StackTable {
  std::vector<Frame> frames;         ///< distinct
  Column<FrameId> of_stacks;         ///< frames of all stacks, one stack after the other
  Column<std::uint64_t> ends = {0};  ///< by stack: where its frames end in `of_stacks`
  std::uint32_t size() const { return static_cast<std::uint32_t>(ends.size()); }
  std::span<const FrameId> operator[](StackId stack) const {
    const std::uint64_t begin = stack == 0 ? 0 : ends[stack - 1];
    return {of_stacks.data() + begin, static_cast<std::size_t>(ends[stack] - begin)};
  }
};

enum class MemoryAction : std::uint8_t {
  alloc,           ///< a tensor got a block
  free_requested,  ///< the tensor was dropped
  free_completed,  ///< the block can be used again
  segment_alloc,   ///< cudaMalloc
  segment_free,    ///< cudaFree
  segment_map,     ///< an expandable segment grew
  segment_unmap,   ///< an expandable segment shrank
  oom,             ///< out of memory; the event's address is what the device had free
  snapshot,
  annotate,
  user_defined,
  other
};
inline constexpr std::size_t kMemoryActions = 12;
/// As in the file, e.g. "alloc".
std::string_view name_of(MemoryAction action);

/// A private pool, as the file numbers it; (0, 0) is the default pool.
using PoolKey = std::pair<std::int64_t, std::int64_t>;

inline constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

/// Events of one device, oldest first. `stream` and `pool` are indices of Snapshot::streams and pools.
struct AllocatorEvents {
  Column<MemoryAction> action;
  Column<std::uint64_t> address;  ///< kNoAddress if the file has none
  Column<std::int64_t> size;      ///< bytes asked for: requested, not rounded; for oom rounded
  Column<std::int64_t> time;      ///< kNoTime in files older than PyTorch 2.2
  Column<StackId> stack;
  Column<StringId> metadata, context;  ///< user_metadata; compile_context ("" for "N/A")
  Column<std::uint16_t> stream, pool;

  std::uint32_t count() const { return static_cast<std::uint32_t>(action.size()); }
};

/// A key of an event that has no column, such as category.
struct EventExtra {
  std::uint32_t event;
  StringId key, value;  ///< the value as JSON, a text without quotes
};

struct MemoryBlock {
  enum class State : std::uint8_t { active, pending_free, inactive };
  std::uint64_t address = 0;
  std::int64_t size = 0;       ///< rounded
  std::int64_t requested = 0;  ///< of an inactive block: of its last user
  StackId stack = kNoStack;
  State state = State::inactive;
};

struct MemorySegment {
  std::uint64_t address = 0;
  std::int64_t size = 0, allocated = 0, active = 0, requested = 0;  ///< as the file says; -1: it does not
  std::uint32_t first_block = 0, blocks = 0;                        ///< in MemoryOfDevice::blocks
  StackId stack = kNoStack;
  std::uint16_t stream = 0, pool = 0;
  bool large = false, expandable = false;
};

struct MemoryOfDevice {
  std::int64_t number = 0;
  std::vector<MemorySegment> segments;  ///< by address
  Column<MemoryBlock> blocks;           ///< of its segments, one segment after the other
  AllocatorEvents events;
  std::vector<EventExtra> extras;  ///< by event
};

/// The begin or end of a range that the program marked.
struct MemoryMark {
  StringId name = kEmptyString;
  std::int64_t device = 0, time = 0;
  bool begin = false;
};

struct Snapshot {
  StackTable stacks;
  std::vector<MemoryOfDevice> devices;  ///< with segments or events, by number
  std::vector<std::int64_t> streams;    ///< as in the file: a pointer; the first is 0, the default one
  std::vector<PoolKey> pools;           ///< the first is the default one
  std::vector<std::pair<std::string, std::string>> settings;  ///< of the allocator; values as JSON
  std::vector<MemoryMark> marks;                              ///< external_annotations
  std::vector<std::pair<std::string, std::string>> metadata;  ///< other keys, as JSON
  std::vector<std::string> faults;  ///< sentences: where the file contradicts itself
  bool overflowed = false;          ///< the file says that its ring dropped events
  bool has_overflow = false;        ///< the file says whether
  std::int64_t max_events = -1;     ///< of the ring; -1: the file does not say
  bool cut = false;                 ///< the file ends early
};

}  // namespace stepscope::trace
