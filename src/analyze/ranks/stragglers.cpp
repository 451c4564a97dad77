// Which rank holds the others up, in which part of its step, and who waits for whom.
#include "derive/ranks/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/ranks/straggler_work.h"
#include "analyze/replay/replayed_job.h"
#include "derive/ranks/collective_match.h"
#include "derive/ranks/pipeline.h"
#include "derive/ranks/step_parts.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::CollectiveRow;
using derive::StepPart;
using derive::Straggler;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Interval;
using timeline::Time;

/// Of each rank: when its collectives waited for others, and how often it came last.
struct Waiting {
  Column<Interval> spans;  ///< on the rank's own clock, in the rows' time
  std::int64_t collectives = 0, last = 0, first = 0;
  Time wait = 0, total = 0;
};

/// See derive::Collectives::transfer.
std::vector<Waiting> waits_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  const derive::Collectives& collectives = derived.collectives();
  std::vector<Waiting> waits(trace.ranks.size());
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
  return waits;
}

/// Numbers of the steps that all ranks recorded whole.
std::vector<std::int64_t> common_steps(const Derived& derived) {
  std::map<std::int64_t, std::size_t> ranks;
  for (const trace::Rank& rank : derived.trace().ranks)
    for (const std::int64_t number : derived.steps(rank).numbers) ++ranks[number];
  std::vector<std::int64_t> common;
  for (const auto& [number, count] : ranks)
    if (count == derived.trace().ranks.size()) common.push_back(number);
  return common;
}

/// Of the rank's steps with these numbers; empty without device work.
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

/// Ranks by what they do: those of a pipeline by its stage, all others together.
std::vector<std::vector<std::uint32_t>> peers_of(const std::vector<derive::Stage>& stages) {
  std::map<std::pair<std::int64_t, std::int32_t>, std::vector<std::uint32_t>> peers;
  for (std::uint32_t r = 0; r < stages.size(); ++r) peers[{stages[r].stages, stages[r].number}].push_back(r);
  std::vector<std::vector<std::uint32_t>> out;
  for (auto& [place, ranks] : peers) out.push_back(std::move(ranks));
  return out;
}

bool few(const std::vector<std::vector<std::uint32_t>>& peers) {
  return std::all_of(peers.begin(), peers.end(),
                     [](const auto& ranks) { return ranks.size() < derive::kMinRanks; });
}

/// Each rank compared with its peers; `beyond_median` is empty of ranks with fewer than two of them.
struct Judged {
  std::vector<Straggler> stragglers;
  std::vector<std::vector<std::uint32_t>> peers;                  ///< by straggler
  std::vector<PartTimes> times;                                   ///< likewise
  std::vector<std::optional<derive::PartsOfStep>> beyond_median;  ///< by rank
  bool any() const {
    return std::any_of(beyond_median.begin(), beyond_median.end(),
                       [](const auto& of) { return of.has_value(); });
  }
};
Judged judged(const std::vector<std::vector<std::uint32_t>>& peers,
              const std::vector<std::vector<derive::PartsOfStep>>& parts) {
  Judged out;
  out.beyond_median.resize(parts.size());
  for (const std::vector<std::uint32_t>& ranks : peers) {
    std::vector<std::vector<derive::PartsOfStep>> theirs;
    for (const std::uint32_t r : ranks) theirs.push_back(parts[r]);
    derive::StragglerAnswer answer = derive::find_stragglers(theirs);
    for (Straggler& s : answer.stragglers) {
      s.rank = ranks[s.rank];
      out.stragglers.push_back(s);
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

/// ns per step; of a single step, in it.
struct Cost {
  Time low, cost, high;
  std::string_view by;
};

/// What each straggler costs: by replay, else by the parts alone.
std::vector<Cost> costs_of(const Derived& derived, const Judged& answer) {
  std::vector<Cost> costs;
  for (const Straggler& s : answer.stragglers) {
    if (!derived.job().usable() || !derived.job().does_without(s.rank)) {
      costs.push_back({kNoInt, s.cost, kNoInt, "parts"});
      continue;
    }
    const ReplayedJob::Prediction at = derived.job().cost_of(s.rank);
    const std::int64_t times = s.persistent ? 1 : derived.job().rank(s.rank).steps();
    costs.push_back({at.low * times, at.step * times, at.high * times, "replay"});
  }
  return costs;
}

Table imbalance(const ReplayedJob& job) {
  Table table{"Imbalance", Shape::table, {}};
  const std::int64_t now = job.step(job.identity()), balanced = std::min(now, job.balanced());
  table.ints("step", Unit::ns).push_back(now);
  table.ints("balanced", Unit::ns).push_back(balanced);
  table.ints("cost", Unit::ns).push_back(now - balanced);
  table.reals("share", Unit::share).push_back(report::ratio(now - balanced, now));
  return table;
}

Table shorter_transfers(const Derived& derived) {
  const ReplayedJob& job = derived.job();
  Table table{"If transfers took less", Shape::table, {}};
  auto& factor = table.reals("factor", Unit::none, Role::key);
  auto& step = table.ints("step", Unit::ns);
  auto& saving = table.ints("saving", Unit::ns);
  const std::int64_t now = job.step(job.identity());
  for (const double f : {0.8, 0.2}) {
    const Scale collectives{.what = Scale::What::comm, .factor = f};
    derive::JointChanges changes;
    for (std::size_t r = 0; r < derived.trace().ranks.size(); ++r)
      changes.ranks.push_back(job.rank(r).change_of({&collectives, 1}).changes);
    factor.push_back(f);
    step.push_back(std::min(now, job.step(job.lengths(changes))));
    saving.push_back(now - step.back());
  }
  return table;
}

Table verdicts(const trace::Trace& trace, const Judged& answer, const std::vector<Cost>& costs,
               const std::vector<std::int64_t>& numbers) {
  Table table{"Stragglers", Shape::table, {}};
  auto& rank = table.ints("rank", Unit::none, Role::key);
  auto& when = table.texts("when");
  auto& part = table.texts("part", Role::value);
  auto& also = table.texts("also", Role::detail);
  auto& time = table.ints("time", Unit::ns, Role::detail);
  auto& others = table.ints("others_time", Unit::ns, Role::detail);
  auto& apart = table.ints("apart", Unit::ns, Role::detail);
  auto& excess = table.ints("excess", Unit::ns);
  auto& cost = table.ints("cost", Unit::ns);
  auto& low = table.ints("cost_low", Unit::ns, Role::detail);
  auto& high = table.ints("cost_high", Unit::ns, Role::detail);
  auto& by = table.texts("cost_by", Role::detail);
  auto& z = table.reals("z", Unit::none);
  for (std::size_t i = 0; i < answer.stragglers.size(); ++i) {
    const Straggler& s = answer.stragglers[i];
    rank.push_back(trace.ranks[s.rank].rank);
    const bool every = s.persistent && numbers.size() > 1;
    when.push_back(every ? "every step" : fmt::format("step {}", numbers[s.step]));
    part.emplace_back(derive::name_of(s.part));
    also.emplace_back(s.second == s.part ? "" : derive::name_of(s.second));
    time.push_back(answer.times[i].own);
    others.push_back(answer.times[i].others);
    apart.push_back(answer.times[i].apart);
    excess.push_back(s.excess);
    cost.push_back(costs[i].cost);
    low.push_back(costs[i].low);
    high.push_back(costs[i].high);
    by.emplace_back(costs[i].by);
    z.push_back(s.z);
  }
  return table;
}

Table matrix(const trace::Trace& trace, const Judged& answer) {
  Table table{"Beyond the median rank, per step", Shape::table, {}};
  auto& rank = table.ints("rank", Unit::none, Role::key);
  std::vector<report::Ints*> parts;
  for (std::size_t p = 0; p < derive::kStepParts; ++p)
    parts.push_back(&table.ints(std::string(derive::name_of(static_cast<StepPart>(p))), Unit::ns));
  for (std::size_t r = 0; r < answer.beyond_median.size(); ++r) {
    if (!answer.beyond_median[r]) continue;
    rank.push_back(trace.ranks[r].rank);
    for (std::size_t p = 0; p < derive::kStepParts; ++p) parts[p]->push_back((*answer.beyond_median[r])[p]);
  }
  return table;
}

/// Means over `parts`, by rank of the trace and step.
Table rank_steps(const trace::Trace& trace, const std::vector<std::vector<derive::PartsOfStep>>& parts) {
  Table table{"Average step of each rank", Shape::bars, {}};
  auto& rank = table.ints("rank", Unit::none, Role::key);
  std::vector<report::Ints*> columns;
  for (std::size_t p = 0; p < derive::kStepParts; ++p)
    columns.push_back(&table.ints(std::string(derive::name_of(static_cast<StepPart>(p))), Unit::ns));
  auto& total = table.ints("total", Unit::ns);
  for (std::size_t r = 0; r < parts.size(); ++r) {
    if (parts[r].empty()) continue;
    rank.push_back(trace.ranks[r].rank);
    Time whole = 0;
    for (std::size_t p = 0; p < derive::kStepParts; ++p) {
      Time sum = 0;
      for (const derive::PartsOfStep& step : parts[r]) report::add_to(sum, step[p]);
      columns[p]->push_back(report::mean(sum, static_cast<std::int64_t>(parts[r].size())));
      report::add_to(whole, columns[p]->back());
    }
    total.push_back(whole);
  }
  return table;
}

Table wait_table(const trace::Trace& trace, const std::vector<Waiting>& waits) {
  Table table{"Waiting in collectives", Shape::table, {}};
  auto& rank = table.ints("rank", Unit::none, Role::key);
  auto& collectives = table.ints("collectives", Unit::count);
  auto& last = table.ints("last", Unit::count);
  auto& first = table.ints("first", Unit::count);
  auto& wait = table.ints("wait", Unit::ns);
  auto& waited = table.ints("waited", Unit::ns);
  auto& total = table.ints("total", Unit::ns);
  auto& share = table.reals("wait_share", Unit::share, Role::share);
  for (std::size_t r = 0; r < waits.size(); ++r) {
    rank.push_back(trace.ranks[r].rank);
    collectives.push_back(waits[r].collectives);
    last.push_back(waits[r].last);
    first.push_back(waits[r].first);
    wait.push_back(waits[r].wait);
    waited.push_back(timeline::IntervalSet::of(waits[r].spans).length());
    total.push_back(waits[r].total);
    share.push_back(report::ratio(waits[r].wait, waits[r].total));
  }
  return table;
}

std::string sentence(const trace::Trace& trace, const Straggler& s, Time cost,
                     const std::vector<std::int64_t>& numbers) {
  const bool every = s.persistent && numbers.size() > 1;
  const std::string when = every ? "in every step" : fmt::format("in step {}", numbers[s.step]);
  const auto time = [](Time ns) { return report::format_value(ns, Unit::ns); };
  const std::string own = fmt::format("{} it takes {} more than the median rank, most of it {}", when,
                                      time(s.excess), derive::name_of(s.part));
  const std::int64_t rank = trace.ranks[s.rank].rank;
  if (cost <= 0)
    return fmt::format("Rank {} is slow, but others come later still: {}; mending it alone gains nothing.",
                       rank, own);
  return fmt::format("Rank {} holds the others up: {}; at their pace the step would be about {} shorter.",
                     rank, own, time(cost));
}

}  // namespace

constinit const About stragglers_about = {{}, true, Needs::digests};

report::Report stragglers(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  report::Report report{"stragglers", {}, {}};
  if (trace.ranks.size() < 2) {
    report.notes.emplace_back("Only one rank is open: name several files, or the folder that holds them.");
    report.tables = {verdicts(trace, {}, {}, {}), matrix(trace, {}), wait_table(trace, {}),
                     rank_steps(trace, {})};
    return report;
  }
  report.notes = trace.doubts;
  std::vector<Waiting> waits = waits_of(derived);
  Table waiting = wait_table(trace, waits);
  const std::vector<std::int64_t> numbers = common_steps(derived);
  std::vector<std::vector<derive::PartsOfStep>> parts;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    parts.push_back(parts_of(derived.steps(trace.ranks[r]), waits[r], numbers));
  const auto peers = peers_of(derive::stages_of(derived.collectives()));
  const Judged answer = judged(peers, parts);
  const std::vector<Cost> costs = costs_of(derived, answer);
  if (!answer.any())
    report.notes.emplace_back(
        trace.ranks.size() < 3 ? "Two ranks cannot tell which of them is unusual: give at least three."
        : few(peers)
            ? "These ranks are stages of a pipeline, at most two of each stage: as stages differ by design "
              "(`pipeline`), at least three of one are needed to tell which is unusual."
            : "No step was recorded whole by all ranks with device work, so their steps cannot be compared.");
  else if (answer.stragglers.empty())
    report.notes.emplace_back("No rank holds the others up by more than ranks differ by chance.");
  constexpr std::size_t kTold = 3;
  for (std::size_t i = 0; i < std::min(kTold, answer.stragglers.size()); ++i)
    report.notes.push_back(sentence(trace, answer.stragglers[i], costs[i].cost, numbers));
  if (std::all_of(waits.begin(), waits.end(), [](const Waiting& w) { return w.collectives == 0; }))
    report.notes.push_back(fmt::format(
        "No all-reduce or other collective that all ranks leave together could be matched{}: waiting for "
        "others "
        "counts as transfer, and a rank that is slow on the network cannot be told from one that waits.",
        derived.collectives().matches.crowded.empty()
            ? ""
            : ", as a step has more than 100,000 without sequence numbers"));
  report.tables.push_back(verdicts(trace, answer, costs, numbers));
  report.tables.push_back(matrix(trace, answer));
  report.tables.push_back(std::move(waiting));
  if (answer.any() && derived.job().usable()) report.tables.push_back(imbalance(derived.job()));
  if (derived.job().usable()) report.tables.push_back(shorter_transfers(derived));
  if (Table kernels = straggler_kernels(derived, parts, answer.stragglers, answer.peers); kernels.rows() > 0)
    report.tables.push_back(std::move(kernels));
  report.tables.push_back(rank_steps(trace, parts));
  return report;
}

}  // namespace stepscope::analyze
