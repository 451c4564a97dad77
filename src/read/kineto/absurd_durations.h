// Durations that no recording can have.
#pragma once

#include "trace/trace.h"

namespace stepscope::read {

/// Max sum of the durations of a file, two years: sums of any of them, and over a hundred files, stay within
/// 64 bits.
inline constexpr std::int64_t kMaxTotalTime = std::int64_t{1} << 56;

/// If they add up to more, sets the longest events, as few as possible, to zero length and counts them in
/// Reading::clamped_times.
void drop_absurd_durations(trace::Rank& rank);

}  // namespace stepscope::read
