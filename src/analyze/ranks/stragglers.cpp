#include "analyze/ranks/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/replay/replayed_job.h"
#include "derive/ranks/collective_match.h"
#include "derive/ranks/pipeline.h"
#include "derive/ranks/step_parts.h"
#include "report/judgement.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::CollectiveRow;
using derive::StepPart;
using derive::Straggler;
using report::kNoInt;
using report::Unit;
using timeline::Interval;
using timeline::Time;

/// Of the step: what even work saves, at least, where ranks take turns at being late.
constexpr double kTakeTurns = 0.02;

struct Waiting : RankWaits {
  Column<Interval> spans;  ///< when the rank waited, on the clock of its events
};

/// See derive::Collectives::transfer.
std::vector<Waiting> waits_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  const derive::Collectives& collectives = derived.alignment();
  std::vector<Waiting> waits(trace.ranks.size());
  for (std::size_t r = 0; r < waits.size(); ++r) waits[r].rank = trace.ranks[r].rank;
  for (const derive::Instance& instance : collectives.matches.instances) {
    if (!derive::synchronizes(instance.exchange)) continue;
    const auto members = collectives.members(instance);
    const auto length = [&](const derive::Member& m) {
      return collectives.row(m).end - collectives.row(m).start;
    };
    const auto [least, most] = std::minmax_element(
        members.begin(), members.end(),
        [&](const derive::Member& a, const derive::Member& b) { return length(a) < length(b); });
    const Time shortest = collectives.transfer(instance);
    trace::Step step;
    step.number = collectives.row(*least).step;
    if (!derived.choice().includes(step)) continue;
    for (const derive::Member& m : members) {
      Waiting& of = waits[m.rank];
      const Time start = collectives.row(m).start - trace.ranks[m.rank].base_ns;
      of.spans.push_back({start, start + length(m) - shortest});
      ++of.collectives;
      report::add_to(of.wait, length(m) - shortest);
      report::add_to(of.total, length(m));
    }
    ++waits[least->rank].last;
    ++waits[most->rank].first;
  }
  for (Waiting& of : waits) {
    of.waited = timeline::IntervalSet::of(of.spans).length();
    of.wait_share = report::ratio(of.wait, of.total);
  }
  return waits;
}

/// Numbers of the steps that all ranks of the run recorded whole.
std::vector<std::int64_t> common_steps(const Derived& derived) {
  std::map<std::int64_t, std::size_t> ranks;
  std::size_t of_run = 0;
  for (std::size_t r = 0; r < derived.trace().ranks.size(); ++r) {
    if (derived.alignment().clocks[r].foreign) continue;
    ++of_run;
    for (const std::int64_t number : derived.steps(derived.trace().ranks[r]).numbers) ++ranks[number];
  }
  std::vector<std::int64_t> common;
  for (const auto& [number, count] : ranks)
    if (count == of_run) common.push_back(number);
  return common;
}

/// Ranks whose clock or collectives do not go with those of the others.
std::vector<RankApart> ranks_apart(const Derived& derived) {
  std::vector<RankApart> apart;
  for (std::size_t r = 0; r < derived.trace().ranks.size(); ++r)
    if (const derive::RankClock& clock = derived.alignment().clocks[r]; clock.foreign || clock.jumps)
      apart.push_back({derived.trace().ranks[r].rank, clock.jumps, clock.why});
  return apart;
}

/// Parts of the rank's steps with these numbers, waits separated from transfers; empty without device work.
std::vector<derive::PartsOfStep> parts_of(const RankSteps& rank, Waiting& waiting,
                                          const std::vector<std::int64_t>& numbers) {
  if (rank.parts.empty()) return {};
  std::vector<derive::PartsOfStep> parts = rank.parts;
  derive::tell_waits(parts, rank.communication, timeline::IntervalSet::of(std::move(waiting.spans)),
                     rank.spans);
  std::map<std::int64_t, std::size_t> places;
  for (std::size_t k = 0; k < rank.numbers.size(); ++k) places[rank.numbers[k]] = k;
  std::vector<derive::PartsOfStep> chosen;
  for (const std::int64_t number : numbers) chosen.push_back(parts[places.at(number)]);
  return chosen;
}

/// Groups of ranks that do the same: one per stage of pipelines, one for all ranks outside pipelines. Those
/// of another run are in none.
std::vector<std::vector<std::uint32_t>> peers_of(const derive::Alignment& alignment) {
  const std::vector<derive::Stage> stages = derive::stages_of(alignment);
  std::map<std::pair<std::int64_t, std::int32_t>, std::vector<std::uint32_t>> peers;
  for (std::uint32_t r = 0; r < stages.size(); ++r)
    if (!alignment.clocks[r].foreign) peers[{stages[r].stages, stages[r].number}].push_back(r);
  std::vector<std::vector<std::uint32_t>> out;
  for (auto& [place, ranks] : peers) out.push_back(std::move(ranks));
  return out;
}

bool few(const std::vector<std::vector<std::uint32_t>>& peers) {
  return std::all_of(peers.begin(), peers.end(),
                     [](const auto& ranks) { return ranks.size() < derive::kMinRanks; });
}

/// Each rank compared with its peers. A rank with fewer than two peers has no `beyond_median`.
struct Judged {
  std::vector<Straggler> stragglers;
  std::vector<std::vector<std::uint32_t>> peers;                  ///< by straggler
  std::vector<PartTimes> times;                                   ///< by straggler
  Time cost_together = 0;                                         ///< see StragglerAnswer
  std::vector<std::optional<derive::PartsOfStep>> beyond_median;  ///< by rank
  bool any() const {
    return std::any_of(beyond_median.begin(), beyond_median.end(),
                       [](const auto& of) { return of.has_value(); });
  }
};
/// Single steps of a rank whose clock jumps do not count.
Judged judged(const std::vector<std::vector<std::uint32_t>>& peers,
              const std::vector<std::vector<derive::PartsOfStep>>& parts,
              const std::vector<derive::RankClock>& clocks) {
  Judged out;
  out.beyond_median.resize(parts.size());
  for (const std::vector<std::uint32_t>& ranks : peers) {
    std::vector<std::vector<derive::PartsOfStep>> theirs;
    for (const std::uint32_t r : ranks) theirs.push_back(parts[r]);
    derive::StragglerAnswer answer = derive::find_stragglers(theirs);
    out.cost_together = std::max(out.cost_together, answer.cost_together);
    for (Straggler& s : answer.stragglers) {
      s.rank = ranks[s.rank];
      if (s.persistent || !clocks[s.rank].jumps) out.stragglers.push_back(s);
    }
    for (std::size_t i = 0; i < answer.beyond_median.size(); ++i)
      out.beyond_median[ranks[i]] = answer.beyond_median[i];
  }
  std::stable_sort(out.stragglers.begin(), out.stragglers.end(), [](const Straggler& a, const Straggler& b) {
    return a.persistent != b.persistent ? a.persistent : a.persistent && a.excess > b.excess;
  });
  for (const Straggler& s : out.stragglers) {
    const auto its = std::find_if(peers.begin(), peers.end(), [&](const std::vector<std::uint32_t>& ranks) {
      return std::find(ranks.begin(), ranks.end(), s.rank) != ranks.end();
    });
    out.peers.push_back(*its);
    out.times.push_back(part_times(parts, s, *its));
  }
  return out;
}

/// Of what the job gains over the recording without this rank, the share of a single slow step: its cost by
/// the parts, of that of all single steps in which the rank is slow.
double share_of_step(const std::vector<Straggler>& all, const Straggler& s) {
  Time sum = 0;
  double steps = 0;
  for (const Straggler& other : all)
    if (!other.persistent && other.rank == s.rank) sum += other.cost, ++steps;
  return sum > 0 ? report::ratio(s.cost, sum) : 1 / steps;
}

/// A straggler with its cost: from replay if possible, else from the parts alone. `numbers`: step numbers.
SlowRank slow_rank(const Derived& derived, const std::vector<Straggler>& all, const Straggler& s,
                   const PartTimes& times, const std::vector<std::int64_t>& numbers) {
  const bool every = s.persistent && numbers.size() > 1;
  SlowRank slow{derived.trace().ranks[s.rank].rank,
                every ? kNoInt : numbers[s.step],
                s.part,
                s.second,
                times,
                s.excess,
                s.cost,
                kNoInt,
                kNoInt,
                CostBy::parts,
                s.z};
  if (!derived.job().usable() || !derived.job().does_without(s.rank)) return slow;
  const ReplayedJob::Prediction at = derived.job().cost_of({s.rank});
  const double steps =
      s.persistent ? 1 : share_of_step(all, s) * static_cast<double>(derived.job().rank(s.rank).steps());
  const auto in_step = [&](std::int64_t per_step) {
    return static_cast<std::int64_t>(steps * static_cast<double>(per_step));
  };
  slow.cost_low = in_step(at.low);
  slow.cost = in_step(at.step);
  slow.cost_high = in_step(at.high);
  slow.by = CostBy::replay;
  return slow;
}

/// nullopt unless several ranks are slow in every step.
std::optional<SlowTogether> slow_together(const Derived& derived, const Judged& answer) {
  std::vector<std::size_t> slow;
  SlowTogether out{{}, answer.cost_together};
  for (const Straggler& s : answer.stragglers)
    if (s.persistent) slow.push_back(s.rank);
  if (slow.size() < 2) return std::nullopt;
  std::sort(slow.begin(), slow.end());
  for (const std::size_t r : slow) out.ranks.push_back(derived.trace().ranks[r].rank);
  const ReplayedJob& job = derived.job();
  if (!job.usable() ||
      !std::all_of(slow.begin(), slow.end(), [&](std::size_t r) { return job.does_without(r); }))
    return out;
  const ReplayedJob::Prediction at = job.cost_of(slow);
  out.cost_low = at.low;
  out.cost = at.step;
  out.cost_high = at.high;
  return out;
}

Imbalance imbalance_of(const ReplayedJob& job) {
  const std::int64_t now = job.step(job.identity()), balanced = std::min(now, job.balanced());
  return {now, balanced, now - balanced, report::ratio(now - balanced, now)};
}

std::vector<ShorterTransfers> shorter_transfers(const Derived& derived) {
  const ReplayedJob& job = derived.job();
  std::vector<ShorterTransfers> out;
  const std::int64_t now = job.step(job.identity());
  for (const double factor : {0.8, 0.2}) {
    const Scale collectives{.what = Scale::What::comm, .factor = factor};
    derive::JointChanges changes;
    for (std::size_t r = 0; r < derived.trace().ranks.size(); ++r)
      changes.ranks.push_back(job.rank(r).change_of({&collectives, 1}).changes);
    const std::int64_t step = std::min(now, job.step(job.lengths(changes)));
    out.push_back({factor, step, now - step});
  }
  return out;
}

/// Mean parts over the steps, for ranks that have steps. `parts`: by rank and step.
std::vector<RankParts> means_of(const trace::Trace& trace,
                                const std::vector<std::vector<derive::PartsOfStep>>& parts) {
  std::vector<RankParts> means;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    if (parts[r].empty()) continue;
    RankParts& mean = means.emplace_back(RankParts{trace.ranks[r].rank, {}});
    for (std::size_t p = 0; p < derive::kStepParts; ++p) {
      for (const derive::PartsOfStep& step : parts[r]) report::add_to(mean.parts[p], step[p]);
      mean.parts[p] = report::mean(mean.parts[p], std::ssize(parts[r]));
    }
  }
  return means;
}

std::string sentence(const SlowRank& slow) {
  const auto time = [](Time ns) { return report::format_value(ns, Unit::ns); };
  const std::string own = fmt::format("in {} it takes {} longer than the median rank, mostly in {}",
                                      slow.when(), time(slow.excess), name_of(slow.part));
  if (slow.cost <= 0)
    return fmt::format("Rank {} is slow, but others arrive even later: {}; fixing it alone gains nothing.",
                       slow.rank, own);
  return fmt::format("Rank {} delays the others: {}; at their pace the step would be about {} shorter.",
                     slow.rank, own, time(slow.cost));
}

/// "Ranks 1 and 4 are slow in every step: …"
std::string sentence(const SlowTogether& together) {
  return fmt::format(
      "Ranks {} are slow in every step: with all of them at the others' pace, the step would be about "
      "{} shorter.",
      report::listed_ranks(together.ranks), report::format_value(together.cost, Unit::ns));
}

/// Where no rank is slow in every step, another one may come late each time.
std::string nobody(const std::optional<Imbalance>& imbalance) {
  if (!imbalance || imbalance->share < kTakeTurns)
    return "No rank delays the others by more than ranks differ by chance.";
  return fmt::format(
      "No rank is slow in every step, but each time some rank comes late: with even work, the step "
      "would be about {} shorter ({}).",
      report::format_value(imbalance->cost, Unit::ns), report::format_value(imbalance->share, Unit::share));
}

/// `judged`: some ranks could be compared; `few_peers`: at most two ranks do the same work.
void note_slow(Stragglers& out, bool judged, bool few_peers) {
  if (!judged)
    out.notes.emplace_back(
        out.waits.size() < 3 ? "Two ranks do not show which is unusual: give at least three."
        : few_peers
            ? "These ranks are stages of a pipeline, at most two of each stage: stages differ by design "
              "(`pipeline`), so give at least three ranks of one stage to see which is unusual."
            : "No step is complete on all ranks with device work, so their steps cannot be compared.");
  else if (out.slow.empty())
    out.notes.push_back(nobody(out.imbalance));
  constexpr std::size_t kTold = 3;
  if (out.together)
    out.notes.push_back(sentence(*out.together));
  else
    for (std::size_t i = 0; i < std::min(kTold, out.slow.size()); ++i)
      out.notes.push_back(sentence(out.slow[i]));
}

/// `crowded`: a step has too many collectives to match them by order.
void note_waits(Stragglers& out, bool crowded) {
  if (std::any_of(out.waits.begin(), out.waits.end(),
                  [](const RankWaits& waits) { return waits.collectives > 0; }))
    return;
  out.notes.push_back(fmt::format(
      "No all-reduce or other collective that all ranks leave together could be matched{}: waiting for "
      "others counts as transfer, and a rank that is slow on the network looks like one that waits.",
      crowded ? ", as a step has more than 100,000 without sequence numbers" : ""));
}

}  // namespace

std::string SlowRank::when() const { return always() ? "every step" : fmt::format("step {}", step); }

std::string_view name_of(CostBy by) { return by == CostBy::replay ? "replay" : "parts"; }

Stragglers stragglers_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  Stragglers out;
  if (trace.ranks.size() < 2) {
    out.notes.emplace_back("Only one rank is open: name several files, or the folder that holds them.");
    return out;
  }
  out.notes = trace.doubts;
  out.apart = ranks_apart(derived);
  for (const RankApart& of : out.apart) out.notes.push_back(fmt::format("Rank {}: {}.", of.rank, of.why));
  std::vector<Waiting> waits = waits_of(derived);
  out.waits.assign(waits.begin(), waits.end());
  const std::vector<std::int64_t> numbers = common_steps(derived);
  std::vector<std::vector<derive::PartsOfStep>> parts;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    parts.push_back(parts_of(derived.steps(trace.ranks[r]), waits[r], numbers));
  const auto peers = peers_of(derived.alignment());
  const Judged answer = judged(peers, parts, derived.alignment().clocks);
  for (std::size_t i = 0; i < answer.stragglers.size(); ++i)
    out.slow.push_back(slow_rank(derived, answer.stragglers, answer.stragglers[i], answer.times[i], numbers));
  out.together = slow_together(derived, answer);
  for (std::size_t r = 0; r < answer.beyond_median.size(); ++r)
    if (answer.beyond_median[r]) out.beyond_median.push_back({trace.ranks[r].rank, *answer.beyond_median[r]});
  if (derived.job().usable()) {
    if (answer.any()) out.imbalance = imbalance_of(derived.job());
    out.shorter_transfers = shorter_transfers(derived);
  }
  note_slow(out, answer.any(), few(peers));
  note_waits(out, !derived.collectives().matches.crowded.empty());
  out.kernels = slow_kernels(derived, parts, answer.stragglers, answer.peers);
  out.means = means_of(trace, parts);
  return out;
}

}  // namespace stepscope::analyze
