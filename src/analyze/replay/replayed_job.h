// All ranks of a trace, replayed together if their collectives are matched.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "analyze/replay/replayed_rank.h"
#include "derive/replay/joint_replay.h"

namespace stepscope::analyze {

class ReplayedJob {
 public:
  explicit ReplayedJob(const Derived& derived);

  /// Whether any collective ties ranks together; false if ranks have only digests, no events.
  bool joined() const { return !meetings_.meetings.empty(); }
  /// Index of a rank that communicates but has no collective that ties it to others; -1: none. It would keep
  /// the recorded waits, and so the pace of the job, whatever changes elsewhere.
  std::int64_t untied() const { return untied_; }
  /// Whether all communicating ranks are tied together and the error is at most kMaxReplayError.
  bool usable() const { return joined() && untied() < 0 && error() <= kMaxReplayError; }
  double error() const;
  /// Collectives that are replayed alone: their recorded waits stay in their length.
  std::int64_t alone() const { return meetings_.unmatched; }
  std::int64_t given_up() const { return given_up_; }

  const ReplayedRank& rank(std::size_t index) const { return *ranks_[index]; }
  /// Length of each rank's window without changes, ns.
  const std::vector<std::int64_t>& identity() const { return identity_; }
  /// The same with changes; an absent rank keeps pace with the slowest of the others.
  std::vector<std::int64_t> lengths(const derive::JointChanges& changes) const;
  /// The job's step, ns: the mean step of the slowest rank. `lengths`: of the windows, by rank.
  std::int64_t step(const std::vector<std::int64_t>& lengths) const;

  /// The job's step with changes, with its range, ns.
  struct Prediction {
    std::int64_t step = 0;
    std::int64_t low = 0;   ///< time of the busiest stream or the host alone, max over the ranks
    std::int64_t high = 0;  ///< `step` plus the replay's error and a share of the host's time
    std::size_t rank = 0;   ///< index of the rank that `low` is from
    std::string_view resource;
  };
  /// `lengths`: with these changes; `moved`: whether the changes move host work to other processes.
  Prediction predicted(const std::vector<std::int64_t>& lengths, const derive::JointChanges& changes,
                       bool moved = false) const;
  /// Whether the others can be replayed without the rank; false if it exchanges messages with them.
  bool does_without(std::size_t rank) const;
  /// ns per step that others wait for these ranks: the step now minus the step without them, with its range.
  Prediction cost_of(const std::vector<std::size_t>& ranks) const;
  /// The job's step if each collective began when the median of its ranks came, ns.
  std::int64_t balanced() const;

 private:
  std::vector<std::int64_t> lengths_of(const derive::JointReplayed& replayed,
                                       const derive::JointChanges& changes) const;
  /// The changes without the ranks that are left out.
  derive::JointChanges of_job(derive::JointChanges changes) const;

  const trace::Trace& trace_;
  std::vector<const ReplayedRank*> ranks_;
  std::vector<const derive::ReplayPlan*> plans_;
  derive::Meetings meetings_;
  std::vector<std::int64_t> identity_;
  std::int64_t given_up_ = 0, untied_ = -1;
  std::vector<bool> left_out_;  // by rank: of another run or with a clock that jumps; absent from all replays
};

}  // namespace stepscope::analyze
