// Distinct frames and stacks, by content.
#pragma once

#include <span>
#include <vector>

#include "trace/snapshot.h"

namespace stepscope::read {

/// Fills a StackTable. A frame or stack is found again by its hash.
class Stacks {
 public:
  trace::FrameId frame(const trace::Frame& frame);
  trace::StackId stack(std::span<const trace::FrameId> frames);
  const trace::StackTable& table() const { return table_; }
  /// Bytes of memory.
  std::size_t held() const;
  trace::StackTable take() { return std::move(table_); }

 private:
  struct Slot {
    std::uint32_t hash = 0, id = 0;  ///< id + 1; 0 is free
  };
  template <class Same>
  static std::size_t find(const std::vector<Slot>& slots, std::uint32_t hash, Same same);
  static void keep(std::vector<Slot>& slots, std::size_t at, std::uint32_t hash, std::size_t count);

  trace::StackTable table_;
  std::vector<Slot> frame_slots_ = std::vector<Slot>(1024), stack_slots_ = std::vector<Slot>(1024);
};

}  // namespace stepscope::read
