// Which rank delays the others, in which part of its step, and which ranks wait.
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
  parts,  ///< from the parts of the steps alone
  replay  ///< from a replay of the other ranks without this one
};
std::string_view name_of(CostBy by);

/// A rank that delays the others. Times in ns: per step, or in the one step in which it is slow.
struct SlowRank {
  std::int64_t rank = -1;
  std::int64_t step = report::kNoInt;  ///< number of the one slow step; kNoInt: every step is slow
  derive::StepPart part{};             ///< the part with the largest excess over the median rank
  derive::StepPart also{};             ///< the second part, if at least 40 % of the first; else `part`
  PartTimes of_part;
  std::int64_t excess = 0;  ///< own work (no waits, no transfers) beyond the median rank's
  std::int64_t cost = 0;    ///< time that the job would gain if the rank kept pace
  std::int64_t cost_low = report::kNoInt, cost_high = report::kNoInt;  ///< range of cost; replayed only
  CostBy by{};
  double z = 0;  ///< excess / robust standard deviation over the ranks

  bool always() const { return step == report::kNoInt; }
  std::string when() const;  ///< "every step", "step 7"
};

/// What all ranks that are slow in every step cost the job together, ns per step.
struct SlowTogether {
  std::vector<std::int64_t> ranks;  ///< two or more
  std::int64_t cost = 0;
  std::int64_t cost_low = report::kNoInt, cost_high = report::kNoInt;  ///< replayed only
};

/// A rank that the others cannot be compared with, because of its clock or its collectives.
struct RankApart {
  std::int64_t rank;
  bool jumps;       ///< its clock was set while it was recorded
  std::string why;  ///< a clause
};

/// A time for each part of a rank's step, ns.
struct RankParts {
  std::int64_t rank;
  derive::PartsOfStep parts;
};

/// A rank in the collectives that all ranks leave together. Times are sums, ns.
struct RankWaits {
  std::int64_t rank = -1;
  std::int64_t collectives = 0;
  std::int64_t last = 0, first = 0;  ///< how often this rank came last, or first
  std::int64_t wait = 0;             ///< waits for other ranks
  std::int64_t waited = 0;           ///< time with at least one wait: less than `wait` if several run at once
  std::int64_t total = 0;            ///< durations
  double wait_share = 0;             ///< wait / total
};

/// The job's step if each collective began when the median of its ranks came, ns.
struct Imbalance {
  std::int64_t step;  ///< replayed without changes
  std::int64_t balanced, cost;
  double share;  ///< cost / step
};

/// The job's step if transfers took `factor` of their time, ns.
struct ShorterTransfers {
  double factor;
  std::int64_t step, saving;
};

/// With one rank, only notes.
struct Stragglers {
  std::vector<SlowRank> slow;  ///< slow in every step first, by excess
  std::optional<SlowTogether> together;
  std::vector<RankApart> apart;
  std::vector<RankParts> beyond_median;  ///< medians over steps, minus the median rank's
  std::vector<RankWaits> waits;          ///< by rank
  std::optional<Imbalance> imbalance;
  std::vector<ShorterTransfers> shorter_transfers;  ///< empty if ranks cannot be replayed together
  std::vector<SlowKernels> kernels;                 ///< for ranks that compute longer in every step
  std::vector<RankParts> means;                     ///< over the steps
  std::vector<std::string> notes;
};
Stragglers stragglers_of(const Derived& derived);

}  // namespace stepscope::analyze
