// How far apart the ranks of a job came to each collective, how long they waited, and how long data moved.
#pragma once

#include <vector>

#include "derive/ranks/clock_alignment.h"

namespace stepscope::derive {

/// Of one collective, ns; kNoTime: not known.
struct CollectiveTime {
  timeline::Time skew = trace::kNoTime;  ///< from the first rank's start to the last one's
  timeline::Time error =
      trace::kNoTime;  ///< 95 % bound of what clocks add to the skew; without clocks kNoTime
  timeline::Time transfer = trace::kNoTime;  ///< while data moves: what no rank waits
  bool contradicting = false;                ///< matched, but the clocks say that it cannot be one
};

struct CollectiveTimes {
  std::vector<CollectiveTime> of_instance;
  /// By rank, then collective row: ns that it waited for others, at its start. kNoTime: not known.
  std::vector<std::vector<timeline::Time>> wait;
};

/// Where ranks leave together, see Collectives::transfer; a wait is the rest of a rank's duration. Of a
/// collective with a root (Collective::place) receivers wait until the root has come, or the root until all
/// others have: told by clocks within 200 µs only, as ranks leave when they are done; `transfer` is then the
/// median of what is left of the ranks' durations. The skew is told by such clocks too, else it is the
/// difference of the longest and the shortest duration, which is right as far as the ranks leave together.
/// Nothing is known of rows without a match, or with one that the clocks contradict.
CollectiveTimes collective_times(const trace::Trace& trace, const Alignment& alignment);

}  // namespace stepscope::derive
