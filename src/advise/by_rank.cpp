#include "advise/by_rank.h"

#include <algorithm>
#include <utility>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/append.h"

namespace stepscope::advise {

void Digests::add(const trace::Trace& one, std::size_t place) {
  const analyze::Derived derived(one, params_);
  analyze::RankDigest digest = analyze::digest_of(derived, one.ranks.front());
  const std::lock_guard lock(mutex_);
  if (by_place_.size() <= place) by_place_.resize(place + 1);
  by_place_[place] = std::move(digest);
}

std::vector<analyze::RankDigest> Digests::at(const std::vector<std::size_t>& places) {
  std::vector<analyze::RankDigest> digests;
  for (const std::size_t place : places) digests.push_back(std::move(by_place_[place]));
  return digests;
}
namespace {

using report::Report;

bool has_rows(const Report& report) {
  return std::any_of(report.tables.begin(), report.tables.end(),
                     [](const report::Table& table) { return table.rows() > 0; });
}

/// Notes of a rank without rows are dropped if other ranks have rows: they do not hold for those.
Report merged(std::vector<Report> of_ranks) {
  const bool any = std::any_of(of_ranks.begin(), of_ranks.end(), has_rows);
  Report all;
  for (Report& of_rank : of_ranks) {
    if (any && !has_rows(of_rank)) of_rank.notes.clear();
    report::append(all, std::move(of_rank));
  }
  return all;
}

bool compares(const analyze::Analysis& analysis) { return analysis.needs == analyze::Needs::digests; }

/// The mean step of all ranks needs the steps themselves, not the printed answer of each rank.
bool joins_answers(const analyze::Analysis& analysis) { return analysis.about == &analyze::steps_about; }

}  // namespace

Result<RankAnswers> ask(RankByRank ranks, std::span<const analyze::Analysis* const> analyses,
                        const report::Params& params, bool judged, bool all) {
  ranks.digests.resize(ranks.heads.ranks.size());
  const analyze::Derived job(ranks.heads, params, std::move(ranks.digests));
  const std::size_t count = ranks.heads.ranks.size();
  RankAnswers answers;
  const auto of_job = std::make_shared<JobReports>();
  if (judged)
    *of_job = {analyze::stragglers_of(job), analyze::pipeline_of(job), analyze::communication_of(job)};
  std::vector<std::vector<Report>> of_ranks(analyses.size(), std::vector<Report>(count));
  const bool steps_asked = judged || std::any_of(analyses.begin(), analyses.end(),
                                                 [](const auto* a) { return joins_answers(*a); });
  std::vector<analyze::Steps> steps(steps_asked ? count : 0);
  std::vector<Report> overviews(judged ? count : 0);
  std::vector<JudgedRank> verdicts(overviews.size());
  const auto look = [&](const trace::Trace& one, std::size_t rank) {
    const analyze::Derived derived(one, params);
    if (judged) {
      Reports reports = gather(derived, 1);
      reports.job = of_job;
      verdicts[rank] = judged_rank(derived, reports, one.ranks.front(), 1, all);
      steps[rank] = std::move(reports.steps);
      overviews[rank].notes = std::move(reports.overview.notes);
    } else if (steps_asked) {
      steps[rank] = analyze::steps_of(derived);
    }
    for (std::size_t a = 0; a < analyses.size(); ++a)
      if (!compares(*analyses[a]) && !joins_answers(*analyses[a]))
        of_ranks[a][rank] = analyses[a]->run(derived, params);
  };
  if (judged || !std::all_of(analyses.begin(), analyses.end(), [](const auto* a) { return compares(*a); }))
    if (auto visited = ranks.visit(look); !visited) return visited.error();
  analyze::Steps of_all = analyze::joined(std::move(steps));
  for (std::size_t a = 0; a < analyses.size(); ++a) {
    answers.reports.push_back(compares(*analyses[a])        ? analyses[a]->run(job, params)
                              : joins_answers(*analyses[a]) ? analyze::printed(of_all, true)
                                                            : merged(std::move(of_ranks[a])));
    analyze::finish(*analyses[a], ranks.heads, params, answers.reports.back());
  }
  answers.judged = std::move(verdicts);
  Report all_overviews;
  if (judged) answers.steps = std::move(of_all.steps);
  for (Report& overview : overviews) report::append(all_overviews, std::move(overview));
  answers.notes = std::move(all_overviews.notes);
  return answers;
}

Result<Answer> ask(RankByRank ranks, const analyze::Analysis& analysis, const report::Params& params,
                   std::optional<std::int64_t> rank) {
  const trace::Trace& heads = ranks.heads;
  if (!asks_findings(analysis, params)) {
    const analyze::Analysis* const asked[] = {&analysis};
    auto answers = ask(std::move(ranks), asked, rank ? uncut(params) : params, false);
    if (!answers) return answers.error();
    Answer answer{std::move(answers->reports.front()), std::nullopt};
    if (rank) keep_rank(answer.report, *rank, analysis, heads, params);
    return answer;
  }
  auto answers = ask(std::move(ranks), {}, params, true, params.flag("all"));
  if (!answers) return answers.error();
  report::Verdict all = verdict(std::move(answers->judged), true, std::move(answers->notes));
  if (rank) keep_rank(all, *rank);
  return findings_of(std::move(all), analysis, heads, params);
}

}  // namespace stepscope::advise
