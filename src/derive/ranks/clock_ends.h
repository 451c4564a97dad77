// What aligning clocks works with: who took part in a collective and when it ended for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "timeline/interval.h"

namespace stepscope::derive {

/// One rank's part in one collective, on the rank's own clock.
struct ClockEnd {
  std::uint32_t instance;  ///< the same for all who take part; ends come sorted by it
  std::uint32_t clock;
  std::uint32_t kind;  ///< ends of one kind scatter alike: family, size of the group and of the message
  timeline::Time start, end;
};

/// True time ≈ x - shift - offset - drift (x - origin) for a reading x of the clock.
struct ClockMap {
  timeline::Time origin = 0;  ///< mean of the clock's ends
  timeline::Time shift = 0;   ///< the whole-ns part, so that doubles hold only what is small
  double offset = 0;          ///< ns
  double drift = 0;           ///< ns per ns

  timeline::Time operator()(timeline::Time x) const;
};

/// What the ends say of one clock.
struct ClockFit {
  ClockMap map;
  std::uint32_t component = 0;           ///< clocks that share collectives, directly or through others
  std::uint32_t used = 0, rejected = 0;  ///< ends
  double residual_median = 0, residual_p95 = 0;  ///< ns, of all its ends, absolute
  /// 95 % bounds of the map's error, ns, at the middle and at the worse edge of its ends.
  double uncertainty_middle = 0, uncertainty_edge = 0;
  double half_window = 1;  ///< ns: no end is further from the map's origin

  /// Between and beyond them, at the reading x.
  double uncertainty_at(timeline::Time x) const;
};

/// Offsets and drifts of all clocks at once, by robust weighted least squares on the ends of collectives; the
/// collectives' own times are eliminated. In each component the median clock has no offset and no drift. A
/// clock without a common collective is a component of its own and keeps its readings.
///
/// `ends`: sorted by instance, each clock at most once in an instance. O(ends) per iteration, 24 bytes more
/// per end.
std::vector<ClockFit> fit_clocks(const std::vector<ClockEnd>& ends, std::size_t clocks);

}  // namespace stepscope::derive
