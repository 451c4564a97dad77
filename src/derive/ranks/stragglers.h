// Which rank slows the others, and in which part of its step: from durations on each rank's own clock.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "timeline/interval.h"

namespace stepscope::derive {

/// The parts of a rank's step. They add up to the step.
enum class StepPart : std::uint8_t {
  compute,   ///< compute kernels run on the device
  transfer,  ///< a collective runs and no compute, and all ranks have started it
  wait,      ///< a collective runs and no compute, and other ranks have not started it
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

/// With fewer ranks, no rank can be called unusual.
inline constexpr std::size_t kMinRanks = 3;

using PartsOfStep = std::array<timeline::Time, kStepParts>;  ///< ns

/// A rank that has more of something than the other ranks, in all steps or in one.
struct Straggler {
  std::uint32_t rank;  ///< index into the ranks
  bool persistent = true;
  std::uint32_t step = 0;  ///< index of the step, if not persistent
  StepPart part{};         ///< part with the largest excess
  StepPart second{};       ///< part with the next largest excess, if ≥ 40 % of the first; else `part` again
  timeline::Time excess = 0;  ///< ns per step of own work above the median rank's, waits for others excluded
  double z = 0;             ///< excess above the median rank's, in robust standard deviations over the ranks
  timeline::Time cost = 0;  ///< ns per step that it adds to the job's longest own work
};

struct StragglerAnswer {
  std::vector<Straggler> stragglers;  ///< persistent ones first, by excess
  /// By rank, then part: median over steps of the part's excess above the median rank, ns.
  std::vector<PartsOfStep> beyond_median;
  /// ns per step by which the job's longest own work would be shorter with all persistent stragglers at the
  /// others' level; 0 with fewer than two.
  timeline::Time cost_together = 0;
};

/// `parts[rank][step]`: at least kMinRanks ranks with the same number of steps; else the answer is empty.
///
/// In steady state all ranks take equally long: a rank that waits less spends more on something else, and
/// that is the cause. Own excess O = sum over all parts except wait and transfer of (part - median of the
/// ranks). Persistent: the median of O over steps is at least 1 % of the step, and either z is at least 4.5,
/// or z is at least 3 and the rank's O is the largest in 80 % of at least 5 steps. Two ranks or more, up to
/// half of them, are also persistent if the gap of O between them and the rest is wider than either group,
/// and all of them lie above all others in 80 % of at least 5 steps; O is then above the median of the rest.
/// For other ranks, a single step counts if O is at least 5 % of the step and 8 robust standard deviations
/// over all ranks and steps, and the others' median step is longer, too, by a quarter of O: else no one
/// waited, or the rank's clock was set. The spread used for z is at least 0.1 % of the step.
StragglerAnswer find_stragglers(const std::vector<std::vector<PartsOfStep>>& parts);

}  // namespace stepscope::derive
