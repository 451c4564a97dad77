// What comparing ranks needs of each rank. It grows only with the collectives, their exposed pieces and the
// number of different kernels, not with the events.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/ranks/rank_communication.h"
#include "derive/ranks/bubble.h"
#include "derive/ranks/collective_match.h"
#include "derive/ranks/kernel_totals.h"
#include "derive/ranks/stragglers.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class Derived;

/// The chosen steps that were marked and recorded whole, each number once.
struct RankSteps {
  std::vector<std::int64_t> numbers;
  std::vector<timeline::Interval> spans;
  /// By step, on the device with most compute; all communication counts as transfer. Empty without device
  /// work.
  std::vector<derive::PartsOfStep> parts;
  timeline::IntervalSet communication;  ///< on that device, while no compute runs
  std::vector<derive::Bubble> bubbles;  ///< by step, on that device; empty without sends and receives
  derive::KernelTotals kernels;         ///< on all devices
};
RankSteps rank_steps(const Derived& derived, const trace::Rank& rank);

struct RankDigest {
  RankSteps steps;
  derive::GroupNames groups;  ///< those of this rank
  std::vector<derive::CollectiveRow> collectives;
  RankCommunication communication;
};
RankDigest digest_of(const Derived& derived, const trace::Rank& rank);

/// Moves the collectives out of the digests of all ranks and matches them. `numbers`: rank numbers.
derive::Collectives match_digests(std::vector<RankDigest>& ranks, std::vector<std::int64_t> numbers);

}  // namespace stepscope::analyze
