#include "make_trace/run/allocator.h"

#include <stdexcept>

namespace stepscope::make_trace {
namespace {

constexpr std::int64_t kGranule = 512;
constexpr std::int64_t kSegment = 2 << 20;

std::int64_t round_up(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

Allocator::Grant Allocator::allocate(std::int64_t bytes) {
  const std::int64_t used = round_up(bytes > 0 ? bytes : 1, kGranule);
  allocated_ += used;
  const auto fit = cached_.lower_bound(used);
  if (fit != cached_.end() && fit->first <= 2 * round_up(used, kSegment)) {
    const auto [capacity, address] = *fit;
    cached_.erase(fit);
    live_[address] = {capacity, used};
    return {address, used, false};
  }
  const std::int64_t capacity = round_up(used, kSegment);
  const std::int64_t address = next_address_;
  next_address_ += capacity;
  reserved_ += capacity;
  live_[address] = {capacity, used};
  return {address, used, true};
}

void Allocator::release(std::int64_t address) {
  const auto block = live_.find(address);
  if (block == live_.end()) throw std::logic_error("released what was not allocated");
  allocated_ -= block->second.used;
  cached_.emplace(block->second.capacity, address);
  live_.erase(block);
}

int Allocator::empty_cache() {
  const int blocks = static_cast<int>(cached_.size());
  for (const auto& [capacity, address] : cached_) reserved_ -= capacity;
  cached_.clear();
  return blocks;
}

}  // namespace stepscope::make_trace
