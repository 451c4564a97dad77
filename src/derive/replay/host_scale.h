// Host time of each thread that passes faster or slower than it was recorded.
#pragma once

#include <span>
#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// No replayed time is further from the recorded one, ns (32 years): sums stay in range whatever a file says.
inline constexpr timeline::Time kFarthest = 1'000'000'000'000'000'000;

/// length × factor to the nearest ns, at most kFarthest.
timeline::Time scaled(timeline::Time length, double factor);

class HostScale {
 public:
  /// `ranges`: {row, factor} of host ranges; where several hold, the smallest factor does. `pace`: of all
  /// host time besides, ranges included.
  template <class Ranges>
  HostScale(const trace::Rank& rank, const Ranges& ranges, double pace = 1)
      : threads_(rank.tracks.size()), pace_(pace), origin_(first_start(rank)) {
    for (const auto& range : ranges)
      if (range.factor != 1)
        threads_[rank.events.track[range.row]].raw.push_back(
            {{paced(rank.events.start[range.row]), paced(rank.events.end[range.row])}, range.factor});
    for (Thread& thread : threads_) flatten(thread);
  }

  /// ns by which the thread's work until `time` is shorter than recorded; negative when it is longer. Times
  /// that are asked for in order cost little: where a thread's last one was is remembered.
  timeline::Time saved_before(trace::TrackId thread, timeline::Time time);
  double factor_at(trace::TrackId thread, timeline::Time time);

 private:
  struct Stretch {
    timeline::Interval span;
    double factor;
    timeline::Time saved_before = 0;  ///< by all earlier stretches
  };
  struct Thread {
    std::vector<Stretch> raw, flat;
    std::size_t at = 0;  ///< of the last time, in `flat`
  };
  static void flatten(Thread& thread);
  static timeline::Time first_start(const trace::Rank& rank);
  timeline::Time paced(timeline::Time time) const {
    return pace_ == 1 ? time : origin_ + scaled(time - origin_, pace_);
  }
  /// The first stretch that ends behind `time`.
  static std::vector<Stretch>::const_iterator ending_after(Thread& thread, timeline::Time time);

  std::vector<Thread> threads_;
  const double pace_;
  const timeline::Time origin_;  ///< where threads of any pace have the same time
};

}  // namespace stepscope::derive
