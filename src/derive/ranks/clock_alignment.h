// The clocks of all ranks of a trace on one time line.
#pragma once

#include <string>
#include <vector>

#include "derive/ranks/clock_ends.h"
#include "derive/ranks/collective_match.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// How far a clock can be trusted, by the 95 % bound of its error at the worse edge of the recording.
enum class ClockState : std::uint8_t {
  aligned,  ///< within 20 µs
  coarse,   ///< within 200 µs: orders events that are further apart
  rough,    ///< within 5 ms: good for a time line only
  apart,    ///< not aligned; `why` says why
};
std::string_view name_of(ClockState state);

struct RankClock {
  ClockFit fit;
  ClockState state = ClockState::apart;
  std::string why;  ///< a clause, of clocks that are apart
  /// ns by which the clock could still be shifted alone: no rank ends a collective before the last one has
  /// come. A low end above the high one contradicts the fit; both are kNoTime without collectives.
  timeline::Time low = trace::kNoTime, high = trace::kNoTime;
  std::uint32_t collectives = 0;  ///< that it shares with another rank
};

struct Alignment : Collectives {
  std::vector<RankClock> clocks;  ///< of each rank
  std::vector<std::uint32_t>
      contradicting;  ///< instances that end before they begin: matched wrongly, left out
};

/// Matches the collectives of all ranks, fits their clocks, and checks the fit against what needs no
/// statistics.
Alignment align_clocks(Collectives collectives);

}  // namespace stepscope::derive
