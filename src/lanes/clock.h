// All ranks of a run on one clock.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/ranks/clock_alignment.h"
#include "trace/trace.h"

namespace stepscope::lanes {

using timeline::Time;

/// No time of a run is larger, whatever the files say; 146 years.
inline constexpr Time kMaxTime = Time{1} << 62;

/// Maps a rank's times to those of the run: ns from the run's earliest event on, 0 … kMaxTime. Never changes
/// the order of two times.
class ToRun {
 public:
  ToRun() = default;
  /// `map` is for Unix ns of the rank's clock, which is `base` ahead of the file's times.
  ToRun(const derive::ClockMap& map, Time base, Time origin);

  Time operator()(Time of_file) const {
    if (map_.drift != 0) [[unlikely]]
      return bent(of_file);
    return moved(of_file, add_);
  }
  /// Ns of the run per ns of the file.
  double rate() const { return 1 - map_.drift; }

 private:
  static Time moved(Time time, Time by) {
    Time sum = 0;
    if (__builtin_add_overflow(time, by, &sum)) return by < 0 ? 0 : kMaxTime;
    return sum < 0 ? 0 : sum > kMaxTime ? kMaxTime : sum;
  }
  Time bent(Time of_file) const;

  derive::ClockMap map_;
  Time base_ = 0, origin_ = 0, add_ = 0;
};

struct RunClock {
  std::vector<ToRun> of_rank;     ///< by index of the rank
  bool aligned = true;            ///< all ranks are on one clock, as far as `error` says
  double error = 0;               ///< ns: 95 % bound of the error of the worst aligned clock
  std::vector<std::int64_t> own;  ///< numbers of ranks that keep the clock of their recording. Where no other
                                  ///< rank is recorded at the same time, theirs begins at 0.
};

/// `clocks`: by rank, as align_clocks() fits them; not asked for a single rank.
RunClock run_clock(const trace::Trace& trace, const std::vector<derive::RankClock>& clocks);

}  // namespace stepscope::lanes
