// A rank's part of `collectives`, summed for rules.
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
  std::int64_t total = 0, brief = 0;  ///< ns; `brief`: in collectives that are latency, not transfer
  bool latency() const { return brief * 2 > total; }
};
/// nullopt if there are few, or they cost little.
std::optional<TinyCollectives> tiny_collectives(const Evidence& evidence);

/// Large messages that even at their fastest are far below what the links should carry.
struct SlowLinks {
  const analyze::CollectiveSize* dearest = nullptr;
  std::int64_t open = 1;        ///< ranks that are open
  double rate = 0;              ///< bytes/s of `dearest`, the fastest
  std::optional<double> waits;  ///< share of this rank's collective time that is waiting; nullopt: not known
  double expected = 0;          ///< bytes/s
  std::int64_t exposed = 0;     ///< ns in the window, all slow ones, without waits where these are known
  std::int64_t beyond = 0;      ///< ns: the part of `exposed` beyond the time at the expected rate
  double factor = 1;            ///< share of all collectives' time left if slow ones ran at `expected`
};
/// If all ranks are open, waits are excluded from times, by their share of all collectives' time, and from
/// rates: even the fastest collective may include a wait for a rank that is late in every step.
std::optional<SlowLinks> slow_links(const Evidence& evidence);

/// A rank's work in a part of its step, for a sentence.
std::string_view work_of(derive::StepPart part);
/// The rank that holds others up in every step and costs most; nullptr for none.
const analyze::SlowRank* slowest_rank(const Evidence& evidence);
/// The same; nullptr if it is this rank.
const analyze::SlowRank* slow_rank(const Evidence& evidence);
/// Several ranks that hold the others up in every step, if together they cost at least kWaitingShare and
/// clearly more than the slowest of them; else nullptr.
const analyze::SlowTogether* slow_together(const Evidence& evidence);
/// Why this rank cannot be compared with the others; nullptr if it can.
const analyze::RankApart* rank_apart(const Evidence& evidence);
/// What this rank's communication costs, with waits told from transfers; nullptr for a single rank.
const analyze::RankExposed* exposed_on(const Evidence& evidence);
/// nullptr if its kernels are not what makes it slow.
const analyze::SlowKernels* slow_kernels(const Evidence& evidence, const analyze::SlowRank& slow);
/// The number of open ranks.
std::int64_t open_ranks(const Evidence& evidence);
/// Whether as many ranks are open as take part in the largest of this rank's collectives.
bool all_ranks_are_open(const Evidence& evidence);
/// Share of this rank's time in collectives that is waiting for others. nullopt for a single rank, and if no
/// collective is matched.
std::optional<double> waiting_share(const Evidence& evidence);
/// ns per step that the job saves, all ranks replayed together, with transfers at 1 - kOverlapLeast and 1 -
/// kOverlapMost of their time.
struct TransferSavings {
  std::int64_t least = 0, most = 0;
};
/// nullopt for a single rank, and if the ranks cannot be replayed together.
std::optional<TransferSavings> transfer_savings(const Evidence& evidence);

/// The rank's stage of a pipeline; nullptr for none.
const analyze::PipelineStage* pipeline_stage(const Evidence& evidence);
/// The balance of this rank's pipeline; nullptr if no stage computes kUnevenStages more than the mean.
const analyze::StageBalance* uneven_stages(const Evidence& evidence);
/// The least and the largest share of the bubble over the stages of a pipeline.
std::pair<double, double> bubble_shares(const Evidence& evidence, std::int64_t pipeline);

/// Sums over the rank's collectives on the CPU, ns in the window.
struct CollectivesOnCpu {
  std::int64_t steps = 0, count = 0, total = 0;
  std::int64_t exposed = 0;  ///< of `total`, while the main thread does not compute
  std::int64_t before = 0;   ///< of the backward pass, before the first one
  double median_before = 0;  ///< the same as a share, median over steps
};
CollectivesOnCpu collectives_on_cpu(const Evidence& evidence);

/// Reductions of gradients that begin when the backward pass is nearly over; means over steps, ns.
struct LateReduction {
  double before = 0;  ///< share of the backward pass that is over by then, median over steps
  std::int64_t exposed = 0, could_hide = 0;
};
std::optional<LateReduction> late_reduction(const Evidence& evidence);

}  // namespace stepscope::advise
