// The meeting points of all ranks. A collective moves data from the moment its last rank has started, and
// ends on all ranks together, or nearly so.
#pragma once

#include <cstdint>
#include <vector>

#include "make_trace/jitter.h"

namespace stepscope::make_trace {

/// One collective of the step that is being simulated. Times in ns of true time.
struct Meeting {
  std::int64_t transfer_ns = 0;
  std::int64_t bytes = 0;
  std::vector<std::int64_t> starts;  ///< per rank, −1 until it has started
  int arrived = 0;
  std::int64_t last_start = -1;
  int last_rank = -1;

  bool complete() const { return arrived == static_cast<int>(starts.size()); }
  std::int64_t end() const { return last_start + transfer_ns; }
};

/// How much later than its collective ends a rank sees that, at most.
struct Leaving {
  std::uint64_t seed = 0;
  double jitter_us = 0;  ///< anew in each collective
  double bias_us = 0;    ///< of the rank, always the same
};

class Collectives {
 public:
  Collectives(int ranks, Leaving leaving) : ranks_(ranks), leaving_(leaving) {}

  /// The k-th collective of the step; the first rank that issues it defines it.
  Meeting& meeting(std::size_t k) {
    while (meetings_.size() <= k) {
      Meeting meeting;
      meeting.starts.assign(static_cast<std::size_t>(ranks_), -1);
      meetings_.push_back(std::move(meeting));
    }
    return meetings_[k];
  }

  void arrive(std::size_t k, int rank, std::int64_t start) {
    Meeting& m = meeting(k);
    std::int64_t& mine = m.starts[static_cast<std::size_t>(rank)];
    if (mine >= 0) return;
    mine = start;
    ++m.arrived;
    ++arrivals_;
    if (start > m.last_start) {
      m.last_start = start;
      m.last_rank = rank;
    }
  }

  /// When the rank sees that the k-th one has ended, which is complete.
  std::int64_t left(std::size_t k, int rank) const {
    const auto who = static_cast<std::uint64_t>(rank);
    const auto which = static_cast<std::uint64_t>(first_sequence_) + k + 1;
    const double late_us = leaving_.jitter_us * unit(mix(mix(leaving_.seed, which), who)) +
                           leaving_.bias_us * unit(mix(mix(leaving_.seed, 0), who));
    return meetings_[k].end() + static_cast<std::int64_t>(late_us * 1e3);
  }

  const std::vector<Meeting>& meetings() const { return meetings_; }

  /// Forgets the finished step. Its collectives have been numbered `first_sequence` onwards.
  void next_step() {
    first_sequence_ += static_cast<std::int64_t>(meetings_.size());
    meetings_.clear();
  }
  std::int64_t first_sequence() const { return first_sequence_; }
  std::int64_t arrivals() const { return arrivals_; }  ///< over the whole run

 private:
  int ranks_;
  Leaving leaving_;
  std::int64_t first_sequence_ = 0;
  std::int64_t arrivals_ = 0;
  std::vector<Meeting> meetings_;
};

}  // namespace stepscope::make_trace
