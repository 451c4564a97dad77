#include "advise/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "advise/bound.h"
#include "advise/cite.h"
#include "advise/collective_facts.h"
#include "advise/health.h"
#include "advise/rules/constants.h"
#include "advise/rules/rules.h"
#include "analyze/analyses.h"
#include "analyze/replay/replayed_rank.h"
#include "base/parallel.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using report::Role;
using report::Shape;
using report::Unit;

std::string reason_of(std::string_view id) {
  for (const HealthRule& rule : health_rules())
    if (rule.id == id) return std::string(rule.one_line);
  return std::string(id);
}

void doubt(Finding& f, int levels, const std::vector<Health>& health) {
  for (; levels > 0 && f.confidence != Confidence::low; --levels)
    f.confidence = static_cast<Confidence>(static_cast<int>(f.confidence) - 1);
  const char* before = "; lowered: ";
  for (const Health& h : health)
    if (h.grade == HealthClass::B && (h.id == "Q05" || h.id == "Q06" || h.id == "Q02"))
      f.because += std::exchange(before, ", ") + reason_of(h.id);
}

std::vector<Finding> found_in(const Evidence& evidence, Bound bound, const Permission& permission,
                              const std::vector<Health>& health) {
  std::vector<Finding> findings;
  if (bound == Bound::too_little || !permission.rules) return findings;
  for (const Rule& rule : rules()) {
    if (rule.needs_device && bound == Bound::unknown) continue;
    auto found = rule.find(evidence, bound);
    if (!found) continue;
    found->remedy = worded(evidence, found->remedy);
    doubt(*found, permission.doubt, health);
    findings.push_back(std::move(*found));
  }
  return findings;
}

/// A symptom is explained by the first of its causes that was found.
struct Explained {
  std::string_view symptom;
  std::array<std::string_view, 2> causes;
};
constexpr Explained kExplained[] = {
    {"K02", {"H01", "G03"}},
    {"H09", {"I06", "K10"}},
};

void attach(Finding& cause, const Finding& symptom) {
  cause.evidence += fmt::format("; {}: {} ({})", symptom.id, symptom.title, symptom.evidence);
}

/// Symptoms become evidence of their causes.
void attach_symptoms(std::vector<Finding>& findings) {
  for (const Explained& known : kExplained) {
    const auto symptom = std::find_if(findings.begin(), findings.end(),
                                      [&](const Finding& f) { return f.id == known.symptom; });
    if (symptom == findings.end()) continue;
    auto cause = findings.end();
    for (const std::string_view id : known.causes)
      if (cause == findings.end())
        cause = std::find_if(findings.begin(), findings.end(),
                             [&](const Finding& f) { return !id.empty() && f.id == id; });
    if (cause == findings.end()) continue;
    attach(*cause, *symptom);
    findings.erase(symptom);
  }
}

/// Findings with one remedy become one, with the evidence and the changes of all.
void merge_remedies(std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    Finding& first = findings[i];
    for (std::size_t j = i + 1; j < findings.size();) {
      const Finding& same = findings[j];
      if (same.remedy != first.remedy || same.next != first.next ||
          same.ideal.empty() != first.ideal.empty()) {
        ++j;
        continue;
      }
      attach(first, same);
      first.ideal.insert(first.ideal.end(), same.ideal.begin(), same.ideal.end());
      if (first.mild.empty() == same.mild.empty())
        first.mild.insert(first.mild.end(), same.mild.begin(), same.mild.end());
      first.saving_low = std::max(first.saving_low, same.saving_low);
      first.saving_high = std::max(first.saving_high, same.saving_high);
      first.shortens_kernels |= same.shortens_kernels;
      findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

/// At least one finding is sure to save something, or may save a lot.
bool any_worth(const std::vector<Finding>& findings, std::int64_t step) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
    return static_cast<double>(f.saving_low) >= kSureWorth * static_cast<double>(step) ||
           static_cast<double>(f.saving_high) >= kPossibleWorth * static_cast<double>(step);
  });
}

struct Tables {
  report::Table verdict{"Verdict", Shape::table, {}}, findings{"Findings", Shape::table, {}},
      health{"Health", Shape::table, {}};
};

std::string_view when_of(const Finding& f) {
  if (f.small) return f.next ? "hidden" : "small";
  if (f.next) return "next";
  if (f.covered) return "covered";
  return f.saving_high == report::kNoInt ? "fact" : "now";
}

/// `with_steps`: ranks whose time is told per step.
void add_findings(report::Table& table, const std::vector<Finding>& findings,
                  const std::set<std::int64_t>& with_steps, bool several) {
  auto& position = table.ints("rank", Unit::none, Role::key);
  auto& of_rank = table.texts("of_rank", Role::detail);
  auto& id = table.texts("id");
  auto& title = table.texts("title", Role::value);
  auto& category = table.texts("category", Role::detail);
  auto& per = table.texts("per", Role::detail);
  auto& low = table.ints("saving_low", Unit::ns);
  auto& high = table.ints("saving_high", Unit::ns);
  auto& after_low = table.ints("after_low", Unit::ns, Role::detail);
  auto& after_high = table.ints("after_high", Unit::ns, Role::detail);
  auto& when = table.texts("when", Role::detail);
  auto& aside = table.texts("aside", Role::detail);
  auto& confidence = table.texts("confidence", Role::value);
  auto& because = table.texts("because", Role::detail);
  auto& evidence = table.texts("evidence", Role::detail);
  auto& remedy = table.texts("remedy", Role::value);
  auto& verify = table.texts("verify", Role::detail);
  std::int64_t n = 0;
  for (const Finding& f : findings) {
    position.push_back(++n);
    of_rank.push_back(several ? std::to_string(f.rank) : "");
    id.push_back(f.id);
    title.push_back(f.title);
    category.push_back(f.category);
    per.emplace_back(with_steps.contains(f.rank) ? "step" : "recording");
    low.push_back(f.saving_low);
    high.push_back(f.saving_high);
    after_low.push_back(f.after_low);
    after_high.push_back(f.after_high);
    when.emplace_back(when_of(f));
    aside.push_back(f.aside);
    confidence.emplace_back(name_of(f.confidence));
    because.push_back(f.because);
    evidence.push_back(f.evidence);
    remedy.push_back(f.remedy);
    verify.push_back(f.verify);
  }
}

void add_health(report::Table& table, const std::vector<Health>& rows, bool several) {
  auto& of_rank = table.texts("of_rank", Role::detail);
  auto& id = table.texts("id");
  auto& grade = table.texts("class", Role::value);
  auto& what = table.texts("what", Role::value);
  auto& suffers = table.texts("suffers", Role::detail);
  auto& remedy = table.texts("remedy", Role::value);
  for (const Health& h : rows) {
    of_rank.push_back(several ? std::to_string(h.rank) : "");
    id.push_back(h.id);
    grade.emplace_back(1, static_cast<char>(h.grade));
    what.push_back(h.what);
    suffers.push_back(h.suffers);
    remedy.push_back(h.remedy);
  }
}

}  // namespace

namespace {

bool has_no_device_work(const trace::Rank& rank) {
  for (const trace::Row row : rank.device_rows())
    if (is_device_work(rank.events.kind[row])) return false;
  return true;
}

}  // namespace

Reports gather(const analyze::Derived& derived, const report::Params& params, unsigned threads) {
  Reports reports;
  const std::vector<trace::Rank>& ranks = derived.trace().ranks;
  reports.launched.resize(ranks.size());
  std::vector<std::function<void()>> tasks;  // the longest ones first
  for (std::size_t r = 0; r < ranks.size(); ++r)
    tasks.emplace_back([&, r] {
      reports.launched[r] = derived.replayed(ranks[r]).launched_in(kAskedRanges, derived.idle(ranks[r]));
    });
  const auto answer = [&](auto& to, auto question) {
    tasks.emplace_back([&, question] { to = question(derived); });
  };
  const auto table = [&](report::Report& to, const char* name) {
    tasks.emplace_back([&, name] { to = analyze::find(name)->run(derived, params); });
  };
  answer(reports.ledger, analyze::ledger_of);
  answer(reports.idle, analyze::idle_of);
  answer(reports.memory_events,
         [](const analyze::Derived& of) { return analyze::memory_events_of(of.trace(), of.choice()); });
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
  if (std::any_of(ranks.begin(), ranks.end(), has_no_device_work)) {
    answer(reports.operators, [](const analyze::Derived& of) { return analyze::operators_of(of); });
    answer(reports.host_time, analyze::host_time_of);
  }
  if (ranks.size() > 1) {
    answer(reports.stragglers, analyze::stragglers_of);
    answer(reports.pipeline, analyze::pipeline_of);
  }
  parallel_for(tasks.size(), thread_count(threads), [&](std::size_t i) { tasks[i](); });
  return reports;
}

report::Params uncut(report::Params params) {
  params.set("top", "0");
  return params;
}

Judged judge(const analyze::Derived& derived, const Evidence& evidence, const trace::Rank& rank,
             unsigned threads) {
  Judged judged;
  judged.health = check_health(evidence);
  const Permission permission = permission_of(judged.health);
  judged.bound = bound_of(evidence, permission);
  judged.findings = found_in(evidence, judged.bound, permission, judged.health);
  attach_symptoms(judged.findings);
  merge_remedies(judged.findings);
  if (!judged.findings.empty())
    judged.together = price(judged.findings, evidence, derived.replayed(rank), threads);
  return judged;
}

namespace {

/// Of several ranks, as far as it is worth a sentence.
std::string who_holds_up(const Evidence& evidence) {
  const analyze::SlowRank* slow = slowest_rank(evidence);
  if (slow == nullptr || evidence.share(slow->cost * evidence.steps()) < kWaitingShare) return "";
  return fmt::format(" Rank {} holds the others up: it takes {} longer in every step, for {}.", slow->rank,
                     report::format_value(slow->excess, Unit::ns), work_of(slow->part));
}

/// Of a step that the device limits: what the host needs, ns per step, where that is nearly as much; else 0.
std::int64_t host_beside(Bound bound, const analyze::ReplayedRank& replayed) {
  if (bound != Bound::device || !replayed.usable()) return 0;
  const std::int64_t host = replayed.host_alone({});
  return static_cast<double>(host) >= kNearLimit * static_cast<double>(replayed.identity())
             ? host / replayed.steps()
             : 0;
}

/// The mean step that savings are taken off: without a slow first one; ns.
std::int64_t savings_of(const Evidence& evidence, const analyze::ReplayedRank& replayed) {
  if (!replayable(replayed) || !slow_first_step(evidence, replayed)) return evidence.step_length();
  return replayed.identity(true) / (replayed.steps() - 1);
}

/// That savings are of the other steps.
std::string first_step(const Evidence& evidence, const analyze::ReplayedRank& replayed) {
  const auto slow = replayable(replayed) ? slow_first_step(evidence, replayed) : std::nullopt;
  if (!slow) return "";
  return fmt::format(" The first step took {}, the median step {}: savings are of the other steps, {} each.",
                     report::format_value(slow->length, Unit::ns),
                     report::format_value(slow->median, Unit::ns),
                     report::format_value(savings_of(evidence, replayed), Unit::ns));
}

}  // namespace

RankVerdict verdict_of(const analyze::Derived& derived, const Reports& reports, const trace::Rank& rank,
                       unsigned threads, bool all) {
  const trace::Trace& trace = derived.trace();
  const Evidence evidence(reports, rank.rank, trace.several(),
                          reports.launched[static_cast<std::size_t>(&rank - trace.ranks.data())]);
  RankVerdict of;
  of.rank = rank.rank;
  Judged judged = judge(derived, evidence, rank, threads);
  of.bound = judged.bound;
  of.together = judged.together;
  of.health = std::move(judged.health);
  of.findings = std::move(judged.findings);
  of.steps = evidence.fact(&Facts::complete_steps);
  if (of.steps > 0) of.step = evidence.step_length();
  if (of.steps > 0) of.saved_from = savings_of(evidence, derived.replayed(rank));
  const bool shown =
      std::any_of(of.findings.begin(), of.findings.end(), [](const Finding& f) { return !f.small; });
  const Outcome outcome =
      outcome_of(evidence, of.bound, shown, any_worth(of.findings, evidence.step_length()));
  of.outcome = name_of(outcome);
  of.headline = headline(evidence, of.bound, of.health, host_beside(of.bound, derived.replayed(rank))) +
                who_holds_up(evidence) +
                (shown ? first_step(evidence, derived.replayed(rank)) : closing(evidence, outcome));
  if (!all) std::erase_if(of.findings, [](const Finding& f) { return f.small; });
  return of;
}

report::Report verdict(std::vector<RankVerdict> ranks, bool several, std::vector<std::string> notes) {
  Tables tables;
  std::vector<Finding> findings;
  std::vector<Health> health;
  std::set<std::int64_t> with_steps;
  auto& rank_column = tables.verdict.ints("rank", Unit::none, Role::key);
  auto& bound_column = tables.verdict.texts("bound", Role::value);
  auto& outcome_column = tables.verdict.texts("outcome", Role::detail);
  auto& headline_column = tables.verdict.texts("headline", Role::value);
  auto& step_column = tables.verdict.ints("step", Unit::ns);
  auto& saved_from = tables.verdict.ints("saved_from", Unit::ns, Role::detail);
  auto& steps_column = tables.verdict.ints("steps", Unit::count);
  auto& together_low = tables.verdict.ints("together_low", Unit::ns, Role::detail);
  auto& together_high = tables.verdict.ints("together_high", Unit::ns, Role::detail);
  auto& evidence_column = tables.verdict.texts("evidence", Role::detail);
  for (RankVerdict& of : ranks) {
    rank_column.push_back(of.rank < 0 ? report::kNoInt : of.rank);
    bound_column.emplace_back(name_of(of.bound));
    outcome_column.push_back(std::move(of.outcome));
    headline_column.push_back(std::move(of.headline));
    step_column.push_back(of.step);
    saved_from.push_back(of.saved_from);
    steps_column.push_back(of.steps);
    together_low.push_back(of.together.low);
    together_high.push_back(of.together.high);
    evidence_column.emplace_back(evidence_of(of.bound));
    if (of.steps > 0) with_steps.insert(of.rank);
    std::move(of.health.begin(), of.health.end(), std::back_inserter(health));
    std::move(of.findings.begin(), of.findings.end(), std::back_inserter(findings));
  }
  std::stable_sort(findings.begin(), findings.end(), ranks_before);
  add_findings(tables.findings, findings, with_steps, several);
  add_health(tables.health, health, several);
  return {"verdict",
          {std::move(tables.verdict), std::move(tables.findings), std::move(tables.health)},
          std::move(notes)};
}

report::Report verdict(const analyze::Derived& derived, const Reports& reports, unsigned threads, bool all) {
  std::vector<RankVerdict> ranks;
  for (const trace::Rank& rank : derived.trace().ranks)
    ranks.push_back(verdict_of(derived, reports, rank, threads, all));
  return verdict(std::move(ranks), derived.trace().several(), reports.overview.notes);
}

}  // namespace stepscope::advise
