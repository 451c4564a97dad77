// Durations that no recording can have.
#pragma once

#include "trace/trace.h"

namespace stepscope::read {

/// The durations of a file add up to at most this, two years: sums of any of them, and over a hundred
/// files, stay within 64 bits.
inline constexpr std::int64_t kMaxTotalTime = std::int64_t{1} << 56;

/// Where they add up to more, the longest events are set to zero length, as few as it takes, and counted in
/// Reading::clamped_times.
void drop_absurd_durations(trace::Rank& rank);

}  // namespace stepscope::read
