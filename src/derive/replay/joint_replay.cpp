#include "derive/replay/joint_replay.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "derive/replay/walk.h"

namespace stepscope::derive {
namespace {

class JointWalk {
 public:
  JointWalk(const trace::Trace& trace, std::span<const ReplayPlan* const> plans, const Meetings& meetings,
            const JointChanges& changes)
      : meetings_(meetings), gathering_(meetings, changes.pace, changes.absent), walks_(plans.size()) {
    for (std::uint32_t r = 0; r < plans.size(); ++r) {
      if (!changes.absent.empty() && changes.absent[r]) continue;
      const Changes& own = changes.ranks.empty() ? unchanged_ : changes.ranks[r];
      walks_[r] = std::make_unique<ReplayWalk>(trace.ranks[r], *plans[r], own, 1, &gathering_, r);
      ready_.push_back(r);
    }
    stopped_.resize(plans.size());
  }

  JointReplayed run() {
    do {
      while (!ready_.empty()) {
        const std::uint32_t rank = ready_.back();
        ready_.pop_back();
        go_on(rank);
      }
    } while (break_circle());
    JointReplayed out;
    for (const auto& walk : walks_) out.ranks.push_back(walk ? walk->take() : Replayed{});
    out.given_up = gathering_.given_up();
    return out;
  }

 private:
  void go_on(std::uint32_t rank) {
    stopped_[rank] = !walks_[rank]->run();
    for (const std::uint32_t meeting : walks_[rank]->closed()) release(meeting);
    if (stopped_[rank] && gathering_.over(walks_[rank]->awaited())) {
      stopped_[rank] = false;
      ready_.push_back(rank);
    }
  }
  void release(std::uint32_t meeting) {
    const Meetings::Meeting& m = meetings_.meetings[meeting];
    for (std::uint32_t i = m.first; i < m.first + m.count; ++i) {
      const std::uint32_t rank = meetings_.members[i].rank;
      if (!stopped_[rank] || walks_[rank]->awaited() != meeting) continue;
      stopped_[rank] = false;
      ready_.push_back(rank);
    }
  }
  /// If ranks wait for each other, gives up the first meeting they wait for and returns true.
  bool break_circle() {
    std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
    for (std::uint32_t r = 0; r < walks_.size(); ++r)
      if (stopped_[r]) first = std::min(first, walks_[r]->awaited());
    if (first == std::numeric_limits<std::uint32_t>::max()) return false;
    gathering_.give_up(first);
    release(first);
    return true;
  }

  const Changes unchanged_{};
  const Meetings& meetings_;
  Gathering gathering_;
  std::vector<std::unique_ptr<ReplayWalk>> walks_;
  std::vector<bool> stopped_;         // by rank: it waits for a meeting
  std::vector<std::uint32_t> ready_;  // ranks that can continue
};

}  // namespace

JointReplayed joint_replay(const trace::Trace& trace, std::span<const ReplayPlan* const> plans,
                           const Meetings& meetings, const JointChanges& changes) {
  return JointWalk(trace, plans, meetings, changes).run();
}

}  // namespace stepscope::derive
