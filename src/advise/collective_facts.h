// What `collectives` says of a rank, summed for rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "advise/evidence.h"

namespace stepscope::advise {

/// One row of `collectives`; -1 where it is not recorded.
struct CollectiveRow {
  std::string_view what;
  std::int64_t ranks = -1, bytes = -1, count = 0, total = 0, exposed = 0, median = 0, host = 0;
  std::int64_t brief = 0;  ///< of the total, in those that are all latency
  double bus_rate = 0;     ///< of the fastest one
};
std::vector<CollectiveRow> collectives_of(const Evidence& evidence);

/// Many small collectives: how many there are in the window, and what they cost, ns.
/// Operators were recorded while gradients were on.
bool trains(const Evidence& evidence);

struct TinyCollectives {
  std::int64_t count = 0, median = 0, exposed = 0, host = 0;
  std::int64_t total = 0, brief = 0;  ///< of their time, in those that are all latency
  bool latency() const { return brief * 2 > total; }
};
/// Empty when there are few, or they cost little.
std::optional<TinyCollectives> tiny_collectives(const Evidence& evidence);

/// Large messages that even at their fastest are far below what the links should carry.
struct SlowLinks {
  CollectiveRow dearest;
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

/// A rank that holds others up in every step, by `stragglers`.
struct SlowRank {
  std::int64_t rank = -1;
  std::string_view part;                         ///< of its step, as `stragglers` names it
  std::string_view what;                         ///< the same for a sentence
  std::int64_t excess = 0, cost = 0;             ///< ns per step
  std::int64_t time = 0, others = 0, apart = 0;  ///< ns per step of that part; see `stragglers`
  std::int64_t low = 0, high = 0;                ///< range of the cost; replayed only
  bool replayed = false;                         ///< whether the cost is
};
/// Its compute kernels per step beside those of a usual rank, by `stragglers`.
struct SlowKernels {
  std::int64_t against = -1;
  double calls = 0, others_calls = 0;
  double same = 0, pace = 0, even = 0;
};
/// Empty where it is slow for something else.
std::optional<SlowKernels> slow_kernels(const Evidence& evidence, const SlowRank& slow);
/// Ranks that are open.
std::int64_t open_ranks(const Evidence& evidence);
/// Of this rank's time in collectives: waiting for others. Empty for one rank, and where none is matched.
std::optional<double> waiting_share(const Evidence& evidence);
/// ns per step of the job, replayed together, with collectives at 1 - kOverlapLeast and 1 - kOverlapMost of
/// their transfer time.
struct ShorterTransfers {
  std::int64_t least = 0, most = 0;
};
/// Empty for one rank, and where ranks cannot be replayed together.
std::optional<ShorterTransfers> shorter_transfers(const Evidence& evidence);
std::optional<SlowRank> slowest_rank(const Evidence& evidence);
/// Empty for one rank, and for the slow rank itself.
std::optional<SlowRank> slow_rank(const Evidence& evidence);

/// The rank's stage of a pipeline, by `pipeline`; times are ns per step.
struct PipelineStage {
  std::int64_t stage = 0, stages = 0, micro_batches = 0, chunks = 1;
  std::int64_t length = 0, bubble = 0, waiting = 0;
  double share = 0, ideal = 0;  ///< of the step: the bubble, and what filling and draining takes
  double least = 0, most = 0;   ///< share of the bubble, over the stages of this pipeline
};
std::optional<PipelineStage> pipeline_stage(const Evidence& evidence);

/// Reductions of gradients that begin when the backward pass is nearly over; means over steps, ns.
struct LateReduction {
  double before = 0;  ///< median share of the backward pass that is over
  std::int64_t exposed = 0, could_hide = 0;
};
std::optional<LateReduction> late_reduction(const Evidence& evidence);

}  // namespace stepscope::advise
