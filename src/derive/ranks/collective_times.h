// For each collective: how far apart the ranks started it, how long they waited, how long data moved.
#pragma once

#include <vector>

#include "derive/ranks/clock_alignment.h"

namespace stepscope::derive {

/// Times of one collective, ns; kNoTime: not known.
struct CollectiveTime {
  timeline::Time skew = trace::kNoTime;  ///< from the first rank's start to the last one's
  timeline::Time error =
      trace::kNoTime;  ///< 95 % bound of the clocks' error in the skew; kNoTime without usable clocks
  timeline::Time transfer = trace::kNoTime;  ///< time in which data moves and no rank waits
  bool contradicting = false;                ///< matched, but the clocks rule out that it is one collective
};

struct CollectiveTimes {
  std::vector<CollectiveTime> of_instance;
  /// By rank, then collective row: ns that the rank waited for others, from the row's start. kNoTime: not
  /// known.
  std::vector<std::vector<timeline::Time>> wait;
};

/// If ranks leave a collective together, the transfer is Collectives::transfer and a wait is the rest of a
/// rank's duration. In a collective with a root (CollectiveRow::root), receivers wait until the root starts,
/// or the root waits until all others have started. This needs clocks within 200 µs, because ranks leave when
/// they are done; the transfer is then the median over ranks of duration - wait. The skew comes from such
/// clocks too. Without them it is the longest minus the shortest duration, which is right if the ranks leave
/// together. Times of rows without a match, or with a match that the clocks contradict, are not known.
CollectiveTimes collective_times(const trace::Trace& trace, const Alignment& alignment);

}  // namespace stepscope::derive
