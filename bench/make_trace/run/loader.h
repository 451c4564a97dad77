// Loader workers: each prepares its batches in order, at most `prefetch` of them ahead of the training
// process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepscope::make_trace {

class Loader {
 public:
  Loader(int workers, int prefetch)
      : free_from_(static_cast<std::size_t>(workers), 0),
        taken_(static_cast<std::size_t>(prefetch) * static_cast<std::size_t>(workers), 0) {}

  /// When batch `k` is ready; `batch_ns` is the time to prepare it. Batches must be requested in order.
  std::int64_t ready(std::int64_t k, std::int64_t batch_ns) {
    if (k < prepared_) return ready_;
    std::int64_t& worker = free_from_[static_cast<std::size_t>(k) % free_from_.size()];
    const std::int64_t requested = taken_[static_cast<std::size_t>(k) % taken_.size()];
    worker = std::max(worker, requested) + batch_ns;
    prepared_ = k + 1;
    ready_ = worker;
    return ready_;
  }

  /// Starts new workers, which prepare nothing before `at`.
  void restart(std::int64_t at) {
    std::ranges::fill(free_from_, at);
    std::ranges::fill(taken_, at);
  }

  void take(std::int64_t k, std::int64_t at) { taken_[static_cast<std::size_t>(k) % taken_.size()] = at; }

 private:
  std::vector<std::int64_t> free_from_;
  std::vector<std::int64_t> taken_;  ///< a ring: when batch k − prefetch · workers was handed over
  std::int64_t prepared_ = 0;
  std::int64_t ready_ = 0;
};

}  // namespace stepscope::make_trace
