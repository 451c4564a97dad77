// All ranks of a trace, replayed together where their collectives are matched.
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

  /// Whether any collective ties ranks together; false of ranks without events.
  bool joined() const { return !meetings_.meetings.empty(); }
  /// Index of a rank that communicates and has no collective that ties it to others: it would keep the
  /// recorded waits and so the job's pace, whatever changes elsewhere. -1: none.
  std::int64_t untied() const { return untied_; }
  /// Whether no rank is further off without changes than is accepted; a rank without device events aside.
  bool usable() const { return joined() && untied() < 0 && error() <= kMaxReplayError; }
  double error() const;
  /// Collectives that are replayed alone: what they waited for stays in their length.
  std::int64_t alone() const { return meetings_.unmatched; }
  std::int64_t given_up() const { return given_up_; }

  const ReplayedRank& rank(std::size_t index) const { return *ranks_[index]; }
  /// Length of each rank's window without changes, ns.
  const std::vector<std::int64_t>& identity() const { return identity_; }
  /// Likewise with changes; an absent rank keeps pace with the slowest of the others.
  std::vector<std::int64_t> lengths(const derive::JointChanges& changes) const;
  /// Mean step of the slowest rank of such lengths, ns: the job's.
  std::int64_t step(const std::vector<std::int64_t>& lengths) const;

  /// The job's step with changes, ns, and how far it could be from that.
  struct Prediction {
    std::int64_t step = 0;
    std::int64_t low = 0;   ///< what the busiest stream or the host alone needs, on the rank that needs most
    std::int64_t high = 0;  ///< the replay's error more, and a part of the host's time
    std::size_t rank = 0;   ///< that needs most: index in the trace
    std::string_view resource;
  };
  /// `lengths`: of these changes; `moved`: whether they move host work to other processes.
  Prediction predicted(const std::vector<std::int64_t>& lengths, const derive::JointChanges& changes,
                       bool moved = false) const;
  /// Whether others can be replayed without the rank; not where it sends them what they work on.
  bool does_without(std::size_t rank) const;
  /// ns per step that others wait for a rank: the step now, less that without it. `low` and `high` as above.
  Prediction cost_of(std::size_t rank) const;
  /// The job's step if each collective began with the median of its ranks, ns.
  std::int64_t balanced() const;

 private:
  std::vector<std::int64_t> lengths_of(const derive::JointReplayed& replayed,
                                       const derive::JointChanges& changes) const;

  const trace::Trace& trace_;
  std::vector<const ReplayedRank*> ranks_;
  std::vector<const derive::ReplayPlan*> plans_;
  derive::Meetings meetings_;
  std::vector<std::int64_t> identity_;
  std::int64_t given_up_ = 0, untied_ = -1;
};

}  // namespace stepscope::analyze
