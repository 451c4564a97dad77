// The meeting points of ranks: collectives, and messages from one to another. Data moves from the moment the
// last rank has started, and all ranks end together, or nearly so.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "make_trace/model/program.h"
#include "make_trace/run/jitter.h"

namespace stepscope::make_trace {

/// One collective of the step that is being simulated. Times in ns of true time.
struct Meeting {
  Members members;
  std::size_t index = 0;  ///< index among the step's collectives of the same members
  std::int64_t transfer_ns = 0;
  std::int64_t bytes = 0;
  std::vector<std::int64_t> starts;  ///< per member, −1 until it has started
  int arrived = 0;
  std::int64_t last_start = -1;
  int last_rank = -1;

  bool complete() const { return arrived == static_cast<int>(starts.size()); }
  std::int64_t end() const { return last_start + transfer_ns; }
};

/// Max delays until a rank sees that its collective has ended.
struct Leaving {
  std::uint64_t seed = 0;
  double jitter_us = 0;  ///< drawn for each collective
  double bias_us = 0;    ///< constant for each rank
};

class Collectives {
 public:
  explicit Collectives(Leaving leaving) : leaving_(leaving) {}

  /// Number within the step of the k-th collective of these ranks; the first rank that issues it creates it.
  std::size_t number(const Members& members, std::size_t k) {
    std::vector<std::size_t>& numbers = numbers_[members];
    while (numbers.size() <= k) {
      Meeting meeting;
      meeting.members = members;
      meeting.index = numbers.size();
      meeting.starts.assign(static_cast<std::size_t>(members.count), -1);
      numbers.push_back(meetings_.size());
      meetings_.push_back(std::move(meeting));
    }
    return numbers[k];
  }
  Meeting& meeting(std::size_t number) { return meetings_[number]; }

  void arrive(std::size_t number, int rank, std::int64_t start) {
    Meeting& m = meetings_[number];
    std::int64_t& mine = m.starts[m.members.place(rank)];
    if (mine >= 0) return;
    mine = start;
    ++m.arrived;
    ++arrivals_;
    if (start > m.last_start) {
      m.last_start = start;
      m.last_rank = rank;
    }
  }

  /// When the rank sees that collective `number`, which must be complete, has ended.
  std::int64_t left(std::size_t number, int rank) const {
    const auto who = static_cast<std::uint64_t>(rank);
    const auto which = static_cast<std::uint64_t>(first_number_) + number + 1;
    const double late_us = leaving_.jitter_us * unit(mix(mix(leaving_.seed, which), who)) +
                           leaving_.bias_us * unit(mix(mix(leaving_.seed, 0), who));
    return meetings_[number].end() + static_cast<std::int64_t>(late_us * 1e3);
  }

  const std::vector<Meeting>& meetings() const { return meetings_; }

  /// Forgets the finished step. Its collectives had the numbers from `first_number` on.
  void next_step() {
    first_number_ += static_cast<std::int64_t>(meetings_.size());
    meetings_.clear();
    numbers_.clear();
  }
  std::int64_t first_number() const { return first_number_; }
  std::int64_t arrivals() const { return arrivals_; }  ///< over the whole run

 private:
  Leaving leaving_;
  std::int64_t first_number_ = 0;
  std::int64_t arrivals_ = 0;
  std::vector<Meeting> meetings_;
  std::map<Members, std::vector<std::size_t>> numbers_;
};

}  // namespace stepscope::make_trace
