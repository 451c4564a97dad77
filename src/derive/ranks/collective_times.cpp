#include "derive/ranks/collective_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/median.h"

namespace stepscope::derive {
namespace {

using timeline::Time;
using trace::kNoTime;

class Timer {
 public:
  Timer(const trace::Trace& trace, const Alignment& alignment) : ranks_(trace.ranks), a_(alignment) {
    for (const auto& rows : a_.rows) out_.wait.emplace_back(rows.size(), kNoTime);
  }

  void add(const Instance& instance, bool contradicting) {
    CollectiveTime& time = out_.of_instance.emplace_back();
    time.contradicting = contradicting;
    if (contradicting) return;
    const auto members = a_.members(instance);
    const bool comparable = one_time_line(members);
    if (comparable) {
      const auto [first, last] = starts(members);
      time.skew = last - first;
      time.error = error(members);
    }
    if (synchronizes(instance.exchange)) {
      time.transfer = a_.transfer(instance);
      Time longest = 0;
      for (const Member& m : members) {
        wait(m) = length(m) - time.transfer;
        longest = std::max(longest, length(m));
      }
      if (!comparable) time.skew = longest - time.transfer;
    } else if (comparable && has_root(instance.exchange)) {
      time.transfer = around_root(instance, members);
    }
  }

  CollectiveTimes take() { return std::move(out_); }

 private:
  using Members = std::span<const Member>;

  Time length(const Member& m) const { return a_.row(m).end - a_.row(m).start; }
  Time start(const Member& m) const { return a_.clocks[m.rank].fit.map(a_.row(m).start); }
  Time& wait(const Member& m) { return out_.wait[m.rank][m.row]; }

  bool one_time_line(Members members) const {
    const std::uint32_t component = a_.clocks[members.front().rank].fit.component;
    return std::all_of(members.begin(), members.end(), [&](const Member& m) {
      const RankClock& clock = a_.clocks[m.rank];
      return clock.fit.component == component &&
             (clock.state == ClockState::aligned || clock.state == ClockState::coarse);
    });
  }

  std::pair<Time, Time> starts(Members members) const {
    Time first = std::numeric_limits<Time>::max(), last = std::numeric_limits<Time>::min();
    for (const Member& m : members) {
      first = std::min(first, start(m));
      last = std::max(last, start(m));
    }
    return {first, last};
  }

  /// 95 % bound of the difference between the two least certain clocks.
  Time error(Members members) const {
    double most = 0, second = 0;
    for (const Member& m : members) {
      const double mine = a_.clocks[m.rank].fit.uncertainty_edge;
      second = std::max(second, std::min(mine, most));
      most = std::max(most, mine);
    }
    return std::llround(std::hypot(most, second));
  }

  /// Fills the waits and returns the transfer; kNoTime if the root is not recorded.
  Time around_root(const Instance& instance, Members members) {
    const Member* root = nullptr;
    for (const Member& m : members)
      if (a_.row(m).root >= 0 && a_.row(m).root == ranks_[m.rank].rank) root = &m;
    if (root == nullptr) return kNoTime;
    const bool gives = instance.exchange == Exchange::broadcast || instance.exchange == Exchange::scatter;
    const Time ready = gives ? start(*root) : starts(members).second;
    std::vector<Time> transfers;
    for (const Member& m : members) {
      const bool waits = gives == (&m != root);
      wait(m) = waits ? std::clamp<Time>(ready - start(m), 0, length(m)) : 0;
      transfers.push_back(length(m) - wait(m));
    }
    return median_of(transfers);
  }

  std::span<const trace::Rank> ranks_;
  const Alignment& a_;
  CollectiveTimes out_;
};

}  // namespace

CollectiveTimes collective_times(const trace::Trace& trace, const Alignment& alignment) {
  Timer timer(trace, alignment);
  auto left_out = alignment.contradicting.begin();  // ascending
  for (std::uint32_t i = 0; i < alignment.matches.instances.size(); ++i) {
    const bool contradicting = left_out != alignment.contradicting.end() && *left_out == i;
    if (contradicting) ++left_out;
    timer.add(alignment.matches.instances[i], contradicting);
  }
  return timer.take();
}

}  // namespace stepscope::derive
