// Which rank holds the others up, and in which part of its step: from durations on each rank's own clock.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "timeline/interval.h"

namespace stepscope::derive {

/// What a rank's step is made of. Parts add up to the step.
enum class StepPart : std::uint8_t {
  compute,   ///< compute kernels run on the device
  transfer,  ///< a collective runs and no compute, and all ranks have come
  wait,      ///< likewise, and others have not come yet
  copy,      ///< a copy or fill runs alone
  input,     ///< nothing runs; the host waits for data
  alloc,     ///< nothing runs; the host allocates or frees device memory
  sync,      ///< nothing runs; the host is inside a blocking call
  host,      ///< nothing runs; the host is inside ops and launches
  python,    ///< nothing runs; the host runs Python, or nothing that is recorded
  pending,   ///< nothing runs; work was launched and had not started
};
inline constexpr std::size_t kStepParts = 10;
std::string_view name_of(StepPart part);

/// No fewer can tell which of them is unusual.
inline constexpr std::size_t kMinRanks = 3;

using PartsOfStep = std::array<timeline::Time, kStepParts>;  ///< ns

/// A rank that has more of something than its peers, in all steps or in one.
struct Straggler {
  std::uint32_t rank;  ///< index into the ranks
  bool persistent = true;
  std::uint32_t step = 0;  ///< index into the steps, of one that is not persistent
  StepPart part{};         ///< of which it has most more
  StepPart second{};       ///< the next, if it is at least 40 % of the first; else `part` again
  timeline::Time excess =
      0;         ///< ns per step of its own work beyond the median rank's; waits for others left out
  double z = 0;  ///< excess beyond the median rank's, in robust standard deviations over the ranks
  timeline::Time cost = 0;  ///< ns per step by which the job's longest own work is longer because of it
};

struct StragglerAnswer {
  std::vector<Straggler> stragglers;  ///< persistent ones first, by excess
  /// By rank, then part: median over steps of the part beyond the median rank's, ns.
  std::vector<PartsOfStep> beyond_median;
};

/// `parts[rank][step]`: at least kMinRanks ranks with equally many steps; else the answer is empty.
///
/// In steady state all ranks take equally long: who waits less has more of something else, and that is the
/// cause. Own excess O = sum over all parts but wait and transfer of (part - median of the ranks).
/// Persistent: its median over steps is at least 1 % of the step and z at least 4.5, or z at least 3 and the
/// rank is the largest in 80 % of at least 5 steps. Otherwise one step counts with at least 5 % of it and 8
/// robust standard deviations over all ranks and steps. z is not taken below a spread of 0.1 % of the step.
StragglerAnswer find_stragglers(const std::vector<std::vector<PartsOfStep>>& parts);

}  // namespace stepscope::derive
