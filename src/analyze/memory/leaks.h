// Places whose memory grows from step to step of a memory snapshot.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"

namespace stepscope::analyze {

/// What was compared on a device.
struct ComparedSteps {
  std::int64_t rank, device;
  std::int64_t steps;    ///< compared, each where it holds least
  std::int64_t warm_up;  ///< steps before them
  std::int64_t growth;   ///< of all requested memory per step, bytes: median of slopes
  std::string found_by;  ///< how steps were found
};

/// Memory of one place where each step holds least. Bytes, counts.
struct GrowingMemory {
  std::int64_t rank, device;
  std::string place;
  std::int64_t growth;       ///< per step: the median of the slopes between all pairs of steps (Theil, Sen)
  std::int64_t recent;       ///< the same in the later half
  double growth_count;       ///< allocations per step, the same median
  double rising;             ///< share of steps in which it holds more than in the one before
  double p;                  ///< that values without a trend rise as much (Mann and Kendall, one-sided)
  std::int64_t first, last;  ///< bytes in the first and the last step compared
  std::int64_t count_first, count_last;  ///< allocations then
};

struct Leaks {
  std::vector<ComparedSteps> compared;
  std::vector<GrowingMemory> growing;  ///< by device, largest growth first; p under 0.05 and `recent` above 0
  std::vector<std::string> notes;
};
Leaks leaks_of(const Derived& derived);

/// The chance that values in random order rise as much as these do: the test of Mann (1945) and Kendall
/// (1975), normal approximation with ties. 1 for fewer than three values.
double chance_of_rise(const std::vector<std::int64_t>& values);
/// The median of the slopes between all pairs, per place in the list; 0 for fewer than two.
double median_slope(const std::vector<std::int64_t>& values);

}  // namespace stepscope::analyze
