// Scales the host time of each thread: it passes faster or slower than recorded.
#pragma once

#include <span>
#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Max distance of a replayed time from the recorded one, ns (32 years): sums stay in range for any file.
inline constexpr timeline::Time kFarthest = 1'000'000'000'000'000'000;

/// length × factor to the nearest ns, limited to ± kFarthest.
timeline::Time scaled(timeline::Time length, double factor);

class HostScale {
 public:
  /// `ranges`: {row, factor} of host ranges; if several overlap, the smallest factor applies. `pace`: factor
  /// on all host time, in addition to the ranges' factors.
  template <class Ranges>
  HostScale(const trace::Rank& rank, const Ranges& ranges, double pace = 1)
      : threads_(rank.tracks.size()), pace_(pace), origin_(first_start(rank)) {
    for (const auto& range : ranges)
      if (range.factor != 1)
        threads_[rank.events.track[range.row]].raw.push_back(
            {{paced(rank.events.start[range.row]), paced(rank.events.end[range.row])}, range.factor});
    for (Thread& thread : threads_) flatten(thread);
  }

  /// ns by which the thread's work until `time` is shorter than recorded; negative if it is longer. Queries
  /// in order of time are cheap: the thread's last position is remembered.
  timeline::Time saved_before(trace::TrackId thread, timeline::Time time);
  double factor_at(trace::TrackId thread, timeline::Time time);

 private:
  struct Stretch {
    timeline::Interval span;
    double factor;
    timeline::Time saved_before = 0;  ///< saved by all earlier stretches
  };
  struct Thread {
    std::vector<Stretch> raw, flat;
    std::size_t at = 0;  ///< index in `flat` of the last query
  };
  static void flatten(Thread& thread);
  static timeline::Time first_start(const trace::Rank& rank);
  timeline::Time paced(timeline::Time time) const {
    return pace_ == 1 ? time : origin_ + scaled(time - origin_, pace_);
  }
  /// The first stretch that ends after `time`.
  static std::vector<Stretch>::const_iterator ending_after(Thread& thread, timeline::Time time);

  std::vector<Thread> threads_;
  const double pace_;
  const timeline::Time origin_;  ///< the time that `paced` leaves unchanged
};

}  // namespace stepscope::derive
