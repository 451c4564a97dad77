#include "analyze/replay/replayed_job.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/median.h"
#include "derive/replay/host_scale.h"
#include "report/statistics.h"

namespace stepscope::analyze {

using derive::JointChanges;
using derive::JointReplayed;
using derive::Meetings;
using derive::ReplayPlan;
using timeline::Time;

namespace {

// Share of the host's time by which the changed job may be slower than its replay: work that moves to other
// processes of the host takes cores from it. Measured on one pair of recordings.
constexpr double kHostDoubt = 0.05, kMovedHostDoubt = 0.25;

std::int64_t untied_rank(const trace::Trace& trace, const std::vector<const ReplayPlan*>& plans,
                         const Meetings& meetings, const std::vector<bool>& left_out) {
  for (std::size_t r = 0; r < plans.size(); ++r) {
    if (left_out[r]) continue;
    const Column<std::int32_t>& member = meetings.of_event[r];
    if (std::any_of(member.begin(), member.end(), [](std::int32_t m) { return m != Meetings::kNone; }))
      continue;
    const auto& work = trace.ranks[r].events.work;
    if (std::any_of(plans[r]->events.begin(), plans[r]->events.end(), [&](const ReplayPlan::Event& event) {
          return work[event.row] == trace::Work::communication;
        }))
      return static_cast<std::int64_t>(r);
  }
  return -1;
}

}  // namespace

ReplayedJob::ReplayedJob(const Derived& derived) : trace_(derived.trace()) {
  if (derived.digested()) return;
  for (const trace::Rank& rank : trace_.ranks) {
    ranks_.push_back(&derived.replayed(rank));
    plans_.push_back(&ranks_.back()->plan());
  }
  left_out_.resize(ranks_.size());
  if (ranks_.size() < 2) return;
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    left_out_[r] = derived.alignment().clocks[r].foreign || derived.alignment().clocks[r].jumps;
  meetings_ = derive::meetings_of(trace_, derived.alignment(), plans_);
  if (!joined()) return;
  untied_ = untied_rank(trace_, plans_, meetings_, left_out_);
  const JointChanges none = of_job({});
  const JointReplayed same = derive::joint_replay(trace_, plans_, meetings_, none);
  identity_ = lengths_of(same, none);
  given_up_ = same.given_up;
}

double ReplayedJob::error() const {
  double most = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (ranks_[r]->has_device() && !left_out_[r])
      most = std::max(most,
                      std::abs(report::ratio(identity_[r] - ranks_[r]->recorded(), ranks_[r]->recorded())));
  return most;
}

std::int64_t ReplayedJob::step(const std::vector<std::int64_t>& lengths) const {
  std::int64_t most = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    most = std::max(most, report::mean(lengths[r], ranks_[r]->steps()));
  return most;
}

JointChanges ReplayedJob::of_job(JointChanges changes) const {
  changes.absent.resize(ranks_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (left_out_[r]) changes.absent[r] = true;
  return changes;
}

std::vector<std::int64_t> ReplayedJob::lengths(const JointChanges& changes) const {
  const JointChanges all = of_job(changes);
  return lengths_of(derive::joint_replay(trace_, plans_, meetings_, all), all);
}

std::vector<std::int64_t> ReplayedJob::lengths_of(const JointReplayed& replayed,
                                                  const JointChanges& changes) const {
  std::vector<std::int64_t> lengths(ranks_.size());
  const auto absent = [&](std::size_t r) { return !changes.absent.empty() && changes.absent[r]; };
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (!absent(r)) lengths[r] = ranks_[r]->length_of(replayed.ranks[r]);
  const std::int64_t pace = step(lengths);
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (absent(r)) lengths[r] = pace * ranks_[r]->steps();
  return lengths;
}

namespace {

constexpr std::array<std::string_view, 3> kResources = {"kernels", "copies", "collectives"};

std::size_t resource_of(trace::Work work) {
  if (work == trace::Work::communication) return 2;
  return work == trace::Work::copy || work == trace::Work::fill ? 1 : 0;
}

struct Busiest {
  Time time = 0;
  std::string_view resource = kResources[0];
};

/// The stream with most work in the window, without waits for other ranks: the step cannot be shorter.
Busiest busiest_stream(const trace::Rank& rank, const ReplayedRank& replayed, const Meetings& meetings,
                       const Column<std::int32_t>& member, const derive::Changes& changes) {
  const ReplayPlan& plan = replayed.plan();
  std::vector<std::array<Time, kResources.size()>> streams(rank.tracks.size());
  for (std::size_t i = 0; i < plan.events.size(); ++i) {
    const trace::Row row = plan.events[i].row;
    if (!replayed.window().has(row)) continue;
    const Time length =
        member[i] == Meetings::kNone
            ? rank.events.duration(row)
            : meetings.meetings[meetings.members[static_cast<std::size_t>(member[i])].meeting].transfer;
    report::add_to(streams[rank.events.track[row]][resource_of(rank.events.work[row])],
                   derive::scaled(length, changes.device.empty() ? 1 : changes.device[i]));
  }
  Busiest busiest;
  for (const auto& of : streams) {
    Time sum = 0;
    for (const Time time : of) report::add_to(sum, time);
    if (sum > busiest.time)
      busiest = {sum,
                 kResources[static_cast<std::size_t>(std::max_element(of.begin(), of.end()) - of.begin())]};
  }
  return busiest;
}

}  // namespace

ReplayedJob::Prediction ReplayedJob::predicted(const std::vector<std::int64_t>& lengths,
                                               const JointChanges& changes, bool moved) const {
  Prediction out;
  out.step = step(lengths);
  Time host_most = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (!ranks_[r]->has_device() || left_out_[r] || (!changes.absent.empty() && changes.absent[r])) continue;
    const derive::Changes own = changes.ranks.empty() ? derive::Changes{} : changes.ranks[r];
    const Busiest stream = busiest_stream(trace_.ranks[r], *ranks_[r], meetings_, meetings_.of_event[r], own);
    const Time device = report::mean(stream.time, ranks_[r]->steps());
    const Time host = report::mean(ranks_[r]->host_alone(own), ranks_[r]->steps());
    host_most = std::max(host_most, host);
    if (std::max(device, host) <= out.low) continue;
    out.low = std::max(device, host);
    out.rank = r;
    out.resource = device >= host ? stream.resource : "host";
  }
  out.low = std::min(out.low, out.step);
  out.high = out.step + derive::scaled(host_most, moved ? kMovedHostDoubt : kHostDoubt) +
             derive::scaled(out.step, error());
  return out;
}

bool ReplayedJob::does_without(std::size_t rank) const {
  return std::none_of(meetings_.members.begin(), meetings_.members.end(),
                      [&](const Meetings::Member& member) {
                        return member.rank == rank && meetings_.meetings[member.meeting].message;
                      });
}

ReplayedJob::Prediction ReplayedJob::cost_of(const std::vector<std::size_t>& ranks) const {
  JointChanges changes;
  changes.absent.resize(ranks_.size());
  for (const std::size_t rank : ranks) changes.absent[rank] = true;
  Prediction out = predicted(lengths(changes), changes);
  const std::int64_t now = step(identity_);
  out.step = std::max<Time>(0, now - out.step);
  out.low = std::max<Time>(0, now - std::exchange(out.high, now - out.low));
  return out;
}

std::int64_t ReplayedJob::balanced() const {
  JointChanges changes;
  changes.pace = derive::Gathering::Pace::median;
  std::vector<std::int64_t> steps;
  const std::vector<std::int64_t> all = lengths(changes);
  for (std::size_t r = 0; r < all.size(); ++r)
    if (ranks_[r]->has_device() && !left_out_[r]) steps.push_back(report::mean(all[r], ranks_[r]->steps()));
  return median_of(steps);
}

}  // namespace stepscope::analyze
