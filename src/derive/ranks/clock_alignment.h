// The clocks of all ranks of a trace on one time line.
#pragma once

#include <string>
#include <vector>

#include "derive/ranks/clock_ends.h"
#include "derive/ranks/collective_match.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Accuracy of a clock: the 95 % bound of its error at the worse edge of the recording.
enum class ClockState : std::uint8_t {
  aligned,  ///< within 20 µs
  coarse,   ///< within 200 µs: orders events further apart than this
  rough,    ///< within 5 ms: good for a time line only
  apart,    ///< not aligned; see `why`
};
std::string_view name_of(ClockState state);

struct RankClock {
  ClockFit fit;
  ClockState state = ClockState::apart;
  std::string why;       ///< a clause; only for clocks that are not aligned
  bool jumps = false;    ///< it was set while it was recorded: times across that instant are wrong
  bool foreign = false;  ///< it may be of another run: its rows are taken out of the collectives
  /// ns: range by which this clock alone could be shifted such that no rank ends a collective before the last
  /// rank has started it. `low` above `high` contradicts the fit. Both are kNoTime without collectives.
  timeline::Time low = trace::kNoTime, high = trace::kNoTime;
  std::uint32_t collectives = 0;    ///< collectives shared with another rank
  std::uint32_t contradicting = 0;  ///< others that are excluded (Alignment::contradicting)
};

struct Alignment : Collectives {
  std::vector<RankClock> clocks;  ///< by rank
  std::vector<std::uint32_t>
      contradicting;  ///< instances that end before they begin: wrong matches, excluded
};

/// Fits the clocks of all ranks to their collectives, and checks the fit by causality: no rank can end a
/// collective before the last rank has started it. Under half of the clocks may be off: one that jumps is not
/// aligned, and the rows of one that may be of another run are taken out of the collectives.
Alignment align_clocks(Collectives collectives);

}  // namespace stepscope::derive
