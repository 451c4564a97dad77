// All ranks of a trace, replayed together where their collectives are matched.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "analyze/replayed_rank.h"
#include "derive/joint_replay.h"

namespace stepscope::analyze {

class ReplayedJob {
 public:
  explicit ReplayedJob(const Derived& derived);

  /// Whether any collective ties ranks together.
  bool joined() const { return !meetings_.meetings.empty(); }
  /// Whether no rank is further off without changes than is accepted; a rank without device events aside.
  bool usable() const { return joined() && error() <= kLargestReplayError; }
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

  /// How far the steps could be from the replay's.
  struct Bounds {
    std::int64_t least = 0;  ///< mean step of the rank whose busiest resource has most to do, ns
    std::size_t rank = 0;    ///< that one
    std::string_view resource;
    std::int64_t host = 0;  ///< host time per step of the rank that has most of it, ns
  };
  Bounds bounds(const derive::JointChanges& changes) const;

 private:
  std::vector<std::int64_t> lengths_of(const derive::JointReplayed& replayed,
                                       const derive::JointChanges& changes) const;

  const trace::Trace& trace_;
  std::vector<const ReplayedRank*> ranks_;
  std::vector<const derive::ReplayPlan*> plans_;
  derive::Meetings meetings_;
  std::vector<std::int64_t> identity_;
  std::int64_t given_up_ = 0;
};

}  // namespace stepscope::analyze
