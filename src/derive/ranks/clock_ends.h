// Fits clocks to the ends of collectives: which ranks took part in a collective, and when it ended on each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "timeline/interval.h"

namespace stepscope::derive {

/// One rank's part in one collective, on the rank's own clock.
struct ClockEnd {
  std::uint32_t instance;  ///< the same for all ranks of a collective; ends are sorted by it
  std::uint32_t clock;
  std::uint32_t kind;  ///< ends of one kind scatter equally: same exchange, similar group and message size
  timeline::Time start, end;
};

/// True time ≈ x - shift - offset - drift (x - origin) for a reading x of the clock.
struct ClockMap {
  timeline::Time origin = 0;  ///< mean of the clock's ends
  timeline::Time shift = 0;   ///< large whole-ns part, which keeps the doubles small
  double offset = 0;          ///< ns
  double drift = 0;           ///< ns per ns

  timeline::Time operator()(timeline::Time x) const;
};

/// The fit of one clock.
struct ClockFit {
  ClockMap map;
  std::uint32_t component = 0;  ///< the same for clocks that share collectives, directly or through others
  std::uint32_t used = 0, rejected = 0;          ///< number of ends
  double residual_median = 0, residual_p95 = 0;  ///< ns: absolute residuals of all its ends
  /// 95 % bounds of the map's error, ns, at the middle and at the worse edge of its ends.
  double uncertainty_middle = 0, uncertainty_edge = 0;
  double bend = 0;         ///< ns by which it leaves the map's line at most; part of the bounds above
  double half_window = 1;  ///< ns: max distance of an end from the map's origin

  /// The 95 % bound at any reading x.
  double uncertainty_at(timeline::Time x) const;
  /// The map without a drift that moves no event by more than the fit's own error, so that durations stay
  /// unchanged.
  ClockMap steady_map() const;
};

/// Fits offsets and drifts of all clocks together, by robust weighted least squares on the ends of
/// collectives. The collectives' own times are eliminated. In each component the median clock has offset 0
/// and drift 0. A clock without a common collective is its own component and keeps its readings.
///
/// `ends`: sorted by instance, each clock at most once per instance. O(ends) per iteration and in memory.
std::vector<ClockFit> fit_clocks(const std::vector<ClockEnd>& ends, std::size_t clocks);

}  // namespace stepscope::derive
