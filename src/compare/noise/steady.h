// Which steps of recordings that are compared are warm-up, and which are rare pauses.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stepscope::compare {

/// Steps at the begin that are slower than the second half of the recording: the run of steps that are more
/// than three robust standard deviations above its median, and half as many again, for the tail of a decay.
/// At most half of the steps; 0 if there are fewer than 6.
std::size_t warming_up(std::span<const double> times);

/// Steps that are far slower than the others: six robust standard deviations and a fifth above the median.
std::vector<std::size_t> slow_steps(std::span<const double> times);

struct Unsteady {
  std::size_t warm_up = 0;                       ///< first steps, of each recording
  std::vector<std::vector<std::size_t>> pauses;  ///< by recording: indices after the warm-up
};
/// What to leave out of recordings, given as step times, so that they compare. All lose as many first steps
/// as the one that warms up longest, but none loses more than half of the shortest. Slow steps are rare
/// pauses, unless one recording has them more often than once in ten steps: then they are part of the
/// program, and all count.
Unsteady unsteady(const std::vector<std::vector<double>>& recordings);

}  // namespace stepscope::compare
