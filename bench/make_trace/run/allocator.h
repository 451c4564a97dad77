// A caching device allocator: blocks are requested from the device once and kept when a tensor dies. It has
// no notion of time; the host adds the cost of its answers.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace stepscope::make_trace {

class Allocator {
 public:
  /// Addresses start at `base`; `held` bytes stay in use.
  explicit Allocator(std::int64_t base, std::int64_t held = 0)
      : next_address_(base + held), allocated_(held), reserved_(held) {}

  struct Grant {
    std::int64_t address = 0;
    std::int64_t bytes = 0;    ///< rounded up
    bool from_device = false;  ///< no cached block fitted
  };
  Grant allocate(std::int64_t bytes);
  void release(std::int64_t address);

  /// Returns all cached blocks to the device; the result is their number.
  int empty_cache();

  std::int64_t allocated() const { return allocated_; }
  std::int64_t reserved() const { return reserved_; }

 private:
  struct Block {
    std::int64_t capacity = 0;
    std::int64_t used = 0;
  };

  std::int64_t next_address_;
  std::int64_t allocated_ = 0;
  std::int64_t reserved_ = 0;
  std::map<std::int64_t, Block> live_;
  std::multimap<std::int64_t, std::int64_t> cached_;  ///< capacity → address
};

}  // namespace stepscope::make_trace
