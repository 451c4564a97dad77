// The segments that a caching allocator holds at the end of a memory snapshot, and what is free in them.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"

namespace stepscope::analyze {

/// What blocks are used for. Bytes.
struct BlockUse {
  std::int64_t allocated = 0, pending = 0, free = 0, largest_free = 0;
  std::int64_t requested = 0;  ///< of the blocks that are allocated or pending
  bool in_use() const { return allocated + pending > 0; }
  std::int64_t waste() const { return allocated + pending - requested; }
};

struct SegmentUse : BlockUse {
  std::int64_t rank, device;
  std::string address, stream, pool, size_class;  ///< address as hexadecimal text
  std::int64_t size;
  bool expandable;
};

struct MemorySegments {
  std::vector<SegmentUse> segments;  ///< by device: those in use, most free memory first; then the others
  std::vector<std::string> notes;
};
MemorySegments memory_segments_of(const Derived& derived);

}  // namespace stepscope::analyze
