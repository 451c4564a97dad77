// Which rank holds the others up, in which part of its step, and who waits for whom.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "analyze/ranks/straggler_work.h"
#include "derive/ranks/stragglers.h"

namespace stepscope::analyze {

enum class CostBy : std::uint8_t {
  parts,  ///< of the steps alone
  replay  ///< of the other ranks without this one
};
std::string_view name_of(CostBy by);

/// A rank that holds the others up. Times in ns per step; of a rank that is slow in one step: in it.
struct SlowRank {
  std::int64_t rank = -1;
  std::int64_t step = report::kNoInt;  ///< number of the only step in which it is slow; kNoInt: in every one
  derive::StepPart part{};             ///< of which it has most more than the median rank
  derive::StepPart also{};             ///< the next, if it is at least 40 % of the first; else `part`
  PartTimes of_part;
  std::int64_t excess = 0;  ///< own work, waits and transfers left out, beyond the median rank's
  std::int64_t cost = 0;    ///< what the job would gain if the rank kept pace
  std::int64_t cost_low = report::kNoInt, cost_high = report::kNoInt;  ///< range of the cost; replayed only
  CostBy by{};
  double z = 0;  ///< excess / robust standard deviation over the ranks

  bool always() const { return step == report::kNoInt; }
  std::string when() const;  ///< "every step", "step 7"
};

/// A time for each part of a rank's step, ns.
struct RankParts {
  std::int64_t rank;
  derive::PartsOfStep parts;
};

/// Collectives that all ranks leave together. Sums over those of a rank, ns.
struct RankWaits {
  std::int64_t rank = -1;
  std::int64_t collectives = 0;
  std::int64_t last = 0, first = 0;  ///< how often this rank came last, or first
  std::int64_t wait = 0;             ///< for other ranks
  std::int64_t waited = 0;           ///< in any of them: less than `wait` where several run at once
  std::int64_t total = 0;            ///< durations
  double wait_share = 0;             ///< wait / total
};

/// What the job would take if each collective began when the median of its ranks came, ns per step.
struct Imbalance {
  std::int64_t step;  ///< as it is, replayed
  std::int64_t balanced, cost;
  double share;  ///< cost / step
};

/// What the job would take if transfers took `factor` of their time, ns per step.
struct ShorterTransfers {
  double factor;
  std::int64_t step, saving;
};

/// Of one rank alone, only notes.
struct Stragglers {
  std::vector<SlowRank> slow;            ///< those of every step first, by excess
  std::vector<RankParts> beyond_median;  ///< medians over steps, minus the median rank's
  std::vector<RankWaits> waits;          ///< by rank
  std::optional<Imbalance> imbalance;
  std::vector<ShorterTransfers> shorter_transfers;  ///< empty where ranks cannot be replayed together
  std::vector<SlowKernels> kernels;                 ///< of ranks that compute longer in every step
  std::vector<RankParts> means;                     ///< over the steps
  std::vector<std::string> notes;
};
Stragglers stragglers_of(const Derived& derived);

}  // namespace stepscope::analyze
