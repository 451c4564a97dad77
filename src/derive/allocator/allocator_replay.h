// A device's allocator events replayed. Sizes in bytes; instants are events, counted from 0: what holds after
// that event.
//
// requested(t) = start + sizes of alloc events up to t - sizes of free_completed events up to t, where
// start = requested bytes of blocks that are in use at the end and have no open allocation among the events
//       + sizes of free_completed events without an allocation among the events.
// reserved(t) = sizes of all segments at the end - (segment_alloc + segment_map - segment_free -
// segment_unmap) after t. It needs no start.
//
// A free belongs to the last allocation at its address: addresses are used again, so that an allocation is
// known by its address and its turn. If the events have no free_completed, free_requested takes its place.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "trace/snapshot.h"

namespace stepscope::derive {

inline constexpr std::uint32_t kNoEvent = 0xFFFFFFFF;

/// Bytes that one tensor asked for.
struct Allocation {
  std::uint32_t event = kNoEvent;  ///< its alloc event; kNoEvent: before the first event
  std::uint32_t freed = kNoEvent;  ///< the event that freed it; kNoEvent: none
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  trace::StackId stack = trace::kNoStack;  ///< where it was allocated
};

/// A free that was not completed at once: another stream used the memory too (record_stream).
struct DelayedFree {
  std::uint32_t allocation, requested;
  std::uint32_t completed = kNoEvent;  ///< kNoEvent: not among the events
};

class AllocatorReplay {
 public:
  /// `device` must outlive this.
  explicit AllocatorReplay(const trace::MemoryOfDevice& device);

  const trace::MemoryOfDevice& device() const { return device_; }
  std::int64_t start = 0, end = 0;  ///< requested
  std::int64_t peak = 0;            ///< of requested
  std::int64_t peak_event = -1;     ///< the first event at the peak; -1: before the first event
  std::int64_t peak_reserved = 0;   ///< after any event; without events, at the end
  std::int64_t end_reserved = 0;
  std::int64_t peak_pending = 0;  ///< of sizes of delayed frees that are not completed
  std::int64_t in_use = 0;        ///< requested bytes of the blocks in use at the end
  std::int64_t unmatched_frees = 0, unmatched_bytes = 0;
  std::int64_t reused = 0;   ///< allocations at an address that no event freed before
  std::int64_t retries = 0;  ///< cudaMalloc failed and was called again after cached segments were freed
  std::int64_t ooms = 0, oom_request = 0;  ///< bytes of the last one; 0 without one
  std::int64_t allocations = 0;
  bool by_request = false;  ///< the events have no free_completed
  /// What the events and the final state disagree on; 0 if they fit.
  std::int64_t residual() const { return end - in_use; }

  /// What the event adds to the requested bytes.
  std::int64_t change(std::uint32_t event) const;
  /// Whether the device had no memory, and was asked again after cached segments were freed.
  bool is_retry(std::uint32_t event) const;
  /// `event` -1: before the first.
  std::int64_t requested_at(std::int64_t event) const;
  std::int64_t reserved_at(std::int64_t event) const;
  /// What is allocated after `event`. O(live + 4,096).
  std::vector<Allocation> live_at(std::int64_t event) const;
  /// By `requested`.
  const std::vector<DelayedFree>& delayed_frees() const { return delayed_; }
  /// Of an alloc event: the event that freed it. Of a free: its allocation. kNoEvent: none.
  std::uint32_t partner(std::uint32_t event) const { return partner_[event]; }
  /// The allocation among the events that this event ends; kNoEvent: none.
  std::uint32_t ended_by(std::uint32_t event) const;
  /// Bytes that `event` adds to reserved memory.
  std::int64_t reserved_change(std::uint32_t event) const;
  /// Whether the event frees memory: free_completed, or free_requested if the events have none.
  bool frees(std::uint32_t event) const { return device_.events.action[event] == ends_; }

 private:
  struct Checkpoint {
    std::uint32_t event;
    std::uint64_t first;     ///< of its live allocations in live_
    std::int64_t requested;  ///< after the event
  };
  void match();
  void find_peak_pending();
  void find_start();
  void walk();
  void find_reserved();
  void count_retries();
  const Checkpoint* before(std::int64_t event) const;

  const trace::MemoryOfDevice& device_;
  trace::MemoryAction ends_ = trace::MemoryAction::free_completed;
  Column<std::uint32_t> partner_;
  std::vector<Allocation> before_;  ///< allocated before the first event
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      replaced_;  ///< (alloc event, the allocation that it ended)
  std::vector<Checkpoint> checkpoints_;
  Column<std::uint32_t> live_;
  std::vector<DelayedFree> delayed_;
  std::vector<std::uint64_t> open_;  ///< addresses with an open allocation at the end, sorted
};

}  // namespace stepscope::derive
