// One rank's replay, which can stop where it depends on other ranks. Used by replay and joint_replay.
#pragma once

#include <utility>
#include <vector>

#include "derive/replay/host_scale.h"
#include "derive/replay/meetings.h"
#include "derive/replay/replay.h"

namespace stepscope::derive {

class ReplayWalk {
 public:
  /// `gathering`: null if the rank is replayed alone; `index`: of the rank in the trace.
  ReplayWalk(const trace::Rank& rank, const ReplayPlan& plan, const Changes& changes, double pace = 1,
             Gathering* gathering = nullptr, std::uint32_t index = 0);

  /// Continues to the end (true), or to the first node that needs the end of a meeting that is not over.
  bool run();
  /// The meeting at which it stopped.
  std::uint32_t awaited() const { return awaited_; }
  /// Meetings that ended with this rank's arrival since the last call.
  std::vector<std::uint32_t> closed() { return std::exchange(closed_, {}); }
  /// Requires that every meeting is over.
  Replayed take();

 private:
  timeline::Time clock(trace::TrackId thread, timeline::Time time);
  void set_clock(trace::TrackId thread, timeline::Time recorded, timeline::Time now);
  timeline::Time after(std::int32_t on, timeline::Time recorded_start) const;
  bool can_do(const ReplayPlan::Node& node);
  bool has_end(std::int32_t event);
  std::size_t waits_end(std::size_t event) const;
  void act(const ReplayPlan::Node& node);
  void start(std::size_t index);
  void end(std::size_t index);
  void come_back(std::size_t index);
  void hand_over(std::size_t index);
  double factor_of(std::size_t event) const { return changes_.device.empty() ? 1 : changes_.device[event]; }
  std::int32_t member_of(std::size_t event) const {
    return gathering_ == nullptr ? Meetings::kNone : gathering_->meetings().of_event[index_][event];
  }

  const trace::EventTable& e_;
  const ReplayPlan& plan_;
  const Changes& changes_;
  Gathering* const gathering_;
  const std::uint32_t index_;
  HostScale scale_;
  std::vector<timeline::Time> shift_;     // by track: time that its waits gained or lost, besides scaled work
  Column<timeline::Time> stretch_shift_;  // by stretch: its thread's shift during the stretch
  Replayed out_;
  std::size_t next_ = 0;  // index of the next node
  std::uint32_t awaited_ = 0;
  std::vector<std::uint32_t> closed_;
};

}  // namespace stepscope::derive
