// What `collectives` says of a rank, summed for rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/evidence.h"

namespace stepscope::advise {

/// The rank's rows of `collectives`.
std::vector<const analyze::CollectiveSize*> collective_sizes(const Evidence& evidence);

/// Operators were recorded while gradients were on.
bool trains(const Evidence& evidence);

/// Many small collectives: how many there are in the window, and what they cost, ns.
struct TinyCollectives {
  std::int64_t count = 0, median = 0, exposed = 0, host = 0;
  std::int64_t total = 0, brief = 0;  ///< of their time, in those that are all latency
  bool latency() const { return brief * 2 > total; }
};
/// Empty when there are few, or they cost little.
std::optional<TinyCollectives> tiny_collectives(const Evidence& evidence);

/// Large messages that even at their fastest are far below what the links should carry.
struct SlowLinks {
  const analyze::CollectiveSize* dearest = nullptr;
  std::int64_t open = 1;        ///< ranks at hand
  std::optional<double> waits;  ///< of this rank's time in collectives; none: transfer or wait, who knows
  double expected = 0;          ///< bytes/s
  std::int64_t exposed = 0;     ///< of all slow ones in the window, waits left out where they are known, ns
  std::int64_t beyond = 0;      ///< of that, what the expected rate would not take
  double factor = 1;            ///< of the time of all collectives, if these took the expected rate
};
/// Where all ranks are at hand, the waits for them are left out: of the rate, the share of all collectives'
/// time. Even the fastest may hold a wait for a rank that is late in every step.
std::optional<SlowLinks> slow_links(const Evidence& evidence);

/// What a rank does in a part of its step, for a sentence.
std::string_view work_of(derive::StepPart part);
/// The rank that holds others up in every step and costs most; nullptr for none.
const analyze::SlowRank* slowest_rank(const Evidence& evidence);
/// Likewise; nullptr for the slow rank itself.
const analyze::SlowRank* slow_rank(const Evidence& evidence);
/// nullptr where it is slow for something else than its kernels.
const analyze::SlowKernels* slow_kernels(const Evidence& evidence, const analyze::SlowRank& slow);
/// Ranks that are open.
std::int64_t open_ranks(const Evidence& evidence);
/// Of this rank's time in collectives: waiting for others. Empty for one rank, and where none is matched.
std::optional<double> waiting_share(const Evidence& evidence);
/// ns per step of the job, replayed together, that collectives at 1 - kOverlapLeast and 1 - kOverlapMost of
/// their transfer time save.
struct TransferSavings {
  std::int64_t least = 0, most = 0;
};
/// Empty for one rank, and where ranks cannot be replayed together.
std::optional<TransferSavings> transfer_savings(const Evidence& evidence);

/// The rank's stage of a pipeline; nullptr for none.
const analyze::PipelineStage* pipeline_stage(const Evidence& evidence);
/// The least and the largest share of the bubble over the stages of a pipeline.
std::pair<double, double> bubble_shares(const Evidence& evidence, std::int64_t pipeline);

/// Reductions of gradients that begin when the backward pass is nearly over; means over steps, ns.
struct LateReduction {
  double before = 0;  ///< median share of the backward pass that is over
  std::int64_t exposed = 0, could_hide = 0;
};
std::optional<LateReduction> late_reduction(const Evidence& evidence);

}  // namespace stepscope::advise
