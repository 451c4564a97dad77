#include "advise/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "advise/claims.h"
#include "advise/collective_facts.h"
#include "advise/rules/constants.h"
#include "analyze/analyses.h"
#include "analyze/replay/replayed_rank.h"
#include "base/parallel.h"
#include "report/judgement.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using report::Unit;

bool has_no_device_work(const trace::Rank& rank) {
  for (const trace::Row row : rank.device_rows())
    if (is_device_work(rank.events.kind[row])) return false;
  return true;
}

bool has_stacks(const trace::Rank& rank) {
  const auto& kinds = rank.events.kind;
  return std::find(kinds.begin(), kinds.end(), trace::Kind::python) != kinds.end();
}

}  // namespace

Reports gather(const analyze::Derived& derived, unsigned threads) {
  Reports reports;
  const std::vector<trace::Rank>& ranks = derived.trace().ranks;
  reports.launched.resize(ranks.size());
  std::vector<std::function<void()>> tasks;  // longest first
  for (std::size_t r = 0; r < ranks.size(); ++r)
    tasks.emplace_back([&, r] {
      reports.launched[r] = derived.replayed(ranks[r]).launched_in(kAskedRanges, derived.idle(ranks[r]));
    });
  const auto answer = [&](auto& to, auto question) {
    tasks.emplace_back([&, question] { to = question(derived); });
  };
  answer(reports.ledger, analyze::ledger_of);
  answer(reports.idle, analyze::idle_of);
  answer(reports.memory_events,
         [](const analyze::Derived& of) { return analyze::memory_events_of(of.trace(), of.choice()); });
  answer(reports.checkpointing, analyze::checkpointing_of);
  answer(reports.launches, analyze::launches_of);
  answer(reports.products, analyze::products_of);
  answer(reports.copies, analyze::copies_of);
  answer(reports.collectives, analyze::collectives_of);
  answer(reports.steps, analyze::steps_of);
  answer(reports.overview, analyze::overview_of);
  answer(reports.devices, analyze::devices_of);
  answer(reports.kernels,
         [](const analyze::Derived& of) { return analyze::kernels_of(of.trace(), of.choice()); });
  answer(reports.synchronizations, analyze::synchronizations_of);
  answer(reports.input_wait, analyze::input_wait_of);
  answer(reports.files, [](const analyze::Derived& of) {
    const analyze::Io& io = analyze::io_answer(of);
    std::vector<analyze::IoFile> reread;
    std::ranges::copy_if(io.files, std::back_inserter(reread), [](const analyze::IoFile& file) {
      return file.opens > 1 || file.in_order < file.placed;
    });
    return FileReports{io.overlap, io.kinds,   io.groups,  io.fetching,
                       io.saved,   io.flushed, io.holding, std::move(reread)};
  });
  if (std::any_of(ranks.begin(), ranks.end(), has_no_device_work)) {
    answer(reports.operators, [](const analyze::Derived& of) { return analyze::operators_of(of); });
    answer(reports.host_time, analyze::host_time_of);
    answer(reports.phases, analyze::phases_of);
  }
  if (std::any_of(ranks.begin(), ranks.end(),
                  [](const trace::Rank& rank) { return has_no_device_work(rank) || has_stacks(rank); }))
    answer(reports.lines, analyze::lines_of);
  if (std::any_of(ranks.begin(), ranks.end(),
                  [](const trace::Rank& rank) { return rank.snapshot != nullptr; })) {
    SnapshotReports& snapshot = reports.snapshot;
    answer(snapshot.summary, analyze::memory_summary_of);
    answer(snapshot.at_peak, [](const analyze::Derived& of) { return analyze::memory_holders_of(of); });
    answer(snapshot.failures, analyze::out_of_memory_of);
    answer(snapshot.fragmentation, [](const analyze::Derived& of) { return analyze::fragmentation_of(of); });
    answer(snapshot.leaks, analyze::leaks_of);
    answer(snapshot.churn, analyze::memory_churn_of);
  }
  if (ranks.size() > 1) {
    answer(reports.job->stragglers, analyze::stragglers_of);
    answer(reports.job->pipeline, analyze::pipeline_of);
    answer(reports.job->communication, analyze::communication_of);
  }
  parallel_for(tasks.size(), thread_count(threads), [&](std::size_t i) { tasks[i](); });
  return reports;
}

Judged judge(const analyze::Derived& derived, const Evidence& evidence, const trace::Rank& rank,
             unsigned threads) {
  Judged judged;
  judged.health = check_health(evidence);
  judged.bound = bound_of(evidence, permission_of(judged.health));
  std::vector<Claim> claims =
      with_remedies_merged(with_symptoms_attached(claims_of(evidence, judged.bound, judged.health)));
  if (claims.empty()) return judged;
  const analyze::ReplayedRank& replayed = derived.replayed(rank);
  const Basis basis = basis_of(evidence, replayed);
  judged.prices = price(std::move(claims), basis, replays_of(replayed, basis), threads);
  return judged;
}

namespace {

/// At least one finding is sure to save something, or may save a lot.
bool any_worth(const std::vector<Ranked>& findings, std::int64_t step) {
  return std::any_of(findings.begin(), findings.end(), [&](const Ranked& f) {
    return static_cast<double>(f.saving.low) >= kSureWorth * static_cast<double>(step) ||
           static_cast<double>(f.saving.high) >= kPossibleWorth * static_cast<double>(step);
  });
}

/// A sentence about the ranks that hold the others up; "" if there are none, or they cost little.
std::string who_holds_up(const Evidence& evidence) {
  if (const analyze::SlowTogether* slow = slow_together(evidence))
    return fmt::format(
        " Ranks {} hold the others up: with all of them at the others' pace, the step would be about "
        "{} shorter.",
        report::listed_ranks(slow->ranks), report::format_value(slow->cost, Unit::ns));
  if (const analyze::SlowRank* slow = slowest_rank(evidence);
      slow != nullptr && evidence.share(slow->cost * evidence.steps()) >= kWaitingShare)
    return fmt::format(" Rank {} holds the others up: it takes {} longer in every step, for {}.", slow->rank,
                       report::format_value(slow->excess, Unit::ns), work_of(slow->part));
  const analyze::Stragglers& of = evidence.reports().job->stragglers;
  if (of.slow.empty() && of.imbalance && of.imbalance->share >= kWaitingShare)
    return fmt::format(
        " In each step another rank comes late: with even work, the step would be about {} shorter.",
        report::format_value(of.imbalance->cost, Unit::ns));
  return "";
}

/// A sentence about a rank whose clock or collectives do not go with those of the others.
std::string what_is_apart(const Evidence& evidence) {
  const analyze::RankApart* apart = rank_apart(evidence);
  if (apart == nullptr) return "";
  return fmt::format(" Rank {} cannot be compared: {}{}.", apart->rank, apart->why,
                     apart->jumps ? ", so that the times of that step are wrong" : "");
}

/// ns per step that the host needs, if the device limits and the host needs nearly as much; else 0.
std::int64_t host_beside(Bound bound, const analyze::ReplayedRank& replayed) {
  if (bound != Bound::device || !replayed.usable()) return 0;
  const std::int64_t host = replayed.host_alone({});
  return static_cast<double>(host) >= kNearLimit * static_cast<double>(replayed.identity())
             ? host / replayed.steps()
             : 0;
}

/// The mean step that savings are subtracted from, without a slow first step, ns.
std::int64_t savings_of(const Evidence& evidence, const analyze::ReplayedRank& replayed) {
  if (!replayable(replayed) || !slow_first_step(evidence, replayed)) return evidence.step_length();
  return replayed.identity(true) / (replayed.steps() - 1);
}

/// A sentence that savings refer to the other steps; "" without a slow first step.
std::string first_step(const Evidence& evidence, const analyze::ReplayedRank& replayed) {
  const auto slow = replayable(replayed) ? slow_first_step(evidence, replayed) : std::nullopt;
  if (!slow) return "";
  return fmt::format(" The first step took {}, the median step {}: savings are for the other steps, {} each.",
                     report::format_value(slow->length, Unit::ns),
                     report::format_value(slow->median, Unit::ns),
                     report::format_value(savings_of(evidence, replayed), Unit::ns));
}

report::Finding said(Ranked f, bool per_step) {
  std::string because = std::move(f.claim.because);
  for (const std::string& reason : f.reasons) because += "; " + reason;
  const report::When when = when_of(f);
  return {f.claim.id,
          std::move(f.claim.title),
          f.claim.rank,
          per_step,
          f.saving,
          f.after,
          when,
          std::move(f.aside),
          f.confidence,
          std::move(because),
          std::move(f.claim.evidence),
          f.claim.at,
          std::move(f.claim.remedy),
          std::move(f.claim.verify)};
}

}  // namespace

JudgedRank judged_rank(const analyze::Derived& derived, const Reports& reports, const trace::Rank& rank,
                       unsigned threads, bool all) {
  const trace::Trace& trace = derived.trace();
  const Evidence evidence(reports, rank.rank,
                          reports.launched[static_cast<std::size_t>(&rank - trace.ranks.data())]);
  Judged judged = judge(derived, evidence, rank, threads);
  JudgedRank of{{}, std::move(judged.prices.findings), std::move(judged.health), reports.job};
  of.verdict.rank = rank.rank;
  of.verdict.bound = judged.bound;
  of.verdict.evidence = evidence_of(judged.bound);
  of.verdict.together = judged.prices.together;
  of.verdict.steps = evidence.fact(&Facts::complete_steps);
  of.verdict.found_by = rank.step_border;
  if (of.verdict.steps > 0) of.verdict.step = evidence.step_length();
  if (of.verdict.steps > 0) of.verdict.saved_from = savings_of(evidence, derived.replayed(rank));
  const bool shown =
      std::any_of(of.findings.begin(), of.findings.end(), [](const Ranked& f) { return !f.small; });
  of.verdict.outcome =
      outcome_of(evidence, judged.bound, shown, any_worth(of.findings, evidence.step_length()));
  of.verdict.headline =
      headline(evidence, judged.bound, of.health, host_beside(judged.bound, derived.replayed(rank))) +
      who_holds_up(evidence) + what_is_apart(evidence) +
      (shown ? first_step(evidence, derived.replayed(rank)) : closing(evidence, of.verdict.outcome));
  if (!all) std::erase_if(of.findings, [](const Ranked& f) { return f.small; });
  return of;
}

report::Verdict verdict(std::vector<JudgedRank> ranks, bool several, std::vector<std::string> notes) {
  report::Verdict verdict{several, {}, {}, {}, std::move(notes)};
  std::vector<Ranked> findings;
  std::set<std::int64_t> with_steps, without_time;
  for (JudgedRank& of : ranks) {
    if (of.verdict.bound == Bound::memory || of.verdict.bound == Bound::files)
      without_time.insert(of.verdict.rank);
    if (of.verdict.steps > 0) with_steps.insert(of.verdict.rank);
    verdict.ranks.push_back(std::move(of.verdict));
    std::move(of.health.begin(), of.health.end(), std::back_inserter(verdict.health));
    std::move(of.findings.begin(), of.findings.end(), std::back_inserter(findings));
  }
  if (!ranks.empty()) cap_by_job(findings, ranks.front().job->stragglers);
  put_in_order(findings);
  for (Ranked& f : findings) {
    const bool per_step = with_steps.contains(f.claim.rank), timeless = without_time.contains(f.claim.rank);
    report::Finding& finding = verdict.findings.emplace_back(said(std::move(f), per_step));
    if (timeless && finding.when == report::When::fact) finding.when = report::When::now;
  }
  return verdict;
}

report::Verdict verdict(const analyze::Derived& derived, const Reports& reports, unsigned threads, bool all) {
  std::vector<JudgedRank> ranks;
  for (const trace::Rank& rank : derived.trace().ranks)
    ranks.push_back(judged_rank(derived, reports, rank, threads, all));
  return verdict(std::move(ranks), derived.trace().several(), reports.overview.notes);
}

}  // namespace stepscope::advise
