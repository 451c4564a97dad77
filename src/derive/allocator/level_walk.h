// A device's memory levels, event by event: one pass over all instants.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/allocator/allocator_replay.h"

namespace stepscope::derive {

/// `bytes` as the allocator rounds a request by default: up to a multiple of 512, at least 512.
std::int64_t rounded(std::int64_t bytes);

struct MemoryLevels {
  std::int64_t requested = 0, reserved = 0;
  /// The part of `requested` whose free was requested and is not completed by the next event.
  std::int64_t pending = 0;
  std::int64_t rounded = 0;  ///< allocations that are alive, each rounded
};

/// Begins before the first event. `replay` must outlive this.
class LevelWalk {
 public:
  explicit LevelWalk(const AllocatorReplay& replay);

  std::int64_t event() const { return event_; }
  const MemoryLevels& now() const { return now_; }
  /// Goes to the next event. False: the last one was reached before.
  bool next();

 private:
  void add(std::int64_t bytes, int sign);
  void end(std::uint32_t allocation);

  const AllocatorReplay& replay_;
  std::int64_t event_ = -1;
  MemoryLevels now_;
  std::vector<bool> pending_;  ///< by alloc event
};

}  // namespace stepscope::derive
