#include "advise/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "advise/verdict.h"
#include "analyze/list.h"
#include "base/parallel.h"
#include "report/judgement.h"

namespace stepscope::advise {
namespace {

/// Quoted for a shell.
std::string quoted(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-@%:,=";
  return path.find_first_not_of(kPlain) == std::string::npos ? path : "'" + path + "'";
}

/// Analyses for the page that need no id: `steps` first, `overview` last.
std::vector<const analyze::Analysis*> answering_by_themselves() {
  std::vector<const analyze::Analysis*> chosen;
  for (const analyze::Analysis& analysis : analyze::all())
    if (analysis.in_report && answers_alone(analysis)) chosen.push_back(&analysis);
  const auto place = [](const analyze::Analysis* a) {
    return a->about == &analyze::steps_about ? 0 : a->about == &analyze::overview_about ? 2 : 1;
  };
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const auto* a, const auto* b) { return place(a) < place(b); });
  return chosen;
}

/// Where a step's time goes, for the first screen.
void add_whole(report::Page& page, const std::vector<analyze::StepTime>& steps) {
  report::Report whole{std::string(analyze::analysis_of(analyze::steps_about).name), {}, {}};
  if (auto average = analyze::average_step(steps); average && report::shows_whole(*average))
    whole.tables.push_back(std::move(*average));
  page.reports.push_back(std::move(whole));
}

/// The paths as given; "TRACE" if a command cannot repeat them, or if they are many.
std::string traces_of(const std::vector<std::string>& paths) {
  constexpr std::size_t kMax = 3;
  std::string words;
  for (const std::string& path : paths) {
    if (path == "-" || path.find('\'') != std::string::npos || paths.size() > kMax) return "TRACE";
    words += (words.empty() ? "" : " ") + quoted(path);
  }
  return words;
}

/// "2 ranks"; "2 of 128 ranks" if the job has more ranks than are open.
std::string count_of_ranks(const trace::Trace& trace) {
  const auto open = static_cast<std::int64_t>(trace.ranks.size());
  std::int64_t size = open;
  for (const trace::Rank& rank : trace.ranks) size = std::max(size, rank.world_size);
  return size > open ? fmt::format("{} of {} ranks", open, size) : fmt::format("{} ranks", open);
}

/// "a.json.gz and 1 more · 2 ranks · NVIDIA H100".
std::string title_of(const trace::Trace& trace) {
  const trace::Rank& first = trace.ranks.front();
  std::string title = std::filesystem::path(first.path).filename().string();
  if (trace.ranks.size() > 1)
    title += fmt::format(" and {} more · {}", trace.ranks.size() - 1, count_of_ranks(trace));
  std::set<std::string> devices;
  for (const trace::Rank& rank : trace.ranks)
    for (const trace::Device& device : rank.devices)
      if (!device.name.empty()) devices.insert(device.name);
  for (const std::string& device : devices) title += " · " + device;
  return title;
}

/// Analyses to see next: those named as evidence; for several ranks, communication as the last one, if any
/// was recorded.
std::vector<std::string_view> analyses_to_see(const report::Verdict& verdict, bool snapshots_alone) {
  constexpr std::size_t kMax = 2;
  const std::string_view overview = analyze::analysis_of(analyze::overview_about).name,
                         communication = analyze::analysis_of(analyze::communication_about).name;
  std::vector<std::string_view> names = report::proving_analyses(verdict);
  const bool several = verdict.several && !snapshots_alone;
  if (several)
    std::erase_if(names, [&](std::string_view name) { return name == overview || name == communication; });
  names.resize(std::min(names.size(), several ? kMax - 1 : kMax));
  if (several) names.push_back(communication);
  return names;
}

/// The rule or the health row worth explaining.
std::string_view id_to_explain(const report::Verdict& verdict) {
  if (!verdict.findings.empty()) return name_of(verdict.findings.front().id);
  return verdict.health.empty() ? "" : name_of(verdict.health.front().id);
}

report::Page first_screen(const trace::Trace& trace, report::Verdict verdict,
                          const std::vector<analyze::StepTime>& steps, const PageOptions& options) {
  report::Page page{title_of(trace), {as_report(verdict)}, {}};
  const bool files_alone = std::all_of(verdict.ranks.begin(), verdict.ranks.end(),
                                       [](const auto& rank) { return rank.bound == report::Bound::files; });
  add_whole(page, files_alone ? std::vector<analyze::StepTime>{} : steps);
  const std::string traces = traces_of(options.paths);
  for (const std::string_view name : analyses_to_see(verdict, trace.snapshots_alone()))
    page.next.push_back(fmt::format("stepscope show {} {}", name, traces));
  if (const std::string_view id = id_to_explain(verdict); !id.empty())
    page.next.push_back(fmt::format("stepscope explain {} {}", id, traces));
  page.next.push_back(fmt::format("stepscope report {} -o report.html", traces));
  page.verdict = std::move(verdict);
  return page;
}

void add_everything(report::Page& page, const analyze::Derived& derived, const PageOptions& options) {
  const std::vector<const analyze::Analysis*> chosen = answering_by_themselves();
  std::vector<report::Report> reports(chosen.size());
  parallel_for(chosen.size(), thread_count(options.threads),
               [&](std::size_t i) { reports[i] = analyze::run(*chosen[i], derived, options.params); });
  for (report::Report& report : reports) page.reports.push_back(std::move(report));
}

}  // namespace

report::Page page_of(const trace::Trace& trace, const PageOptions& options) {
  return page_of(analyze::Derived(trace, options.params), options);
}

report::Page page_of(const analyze::Derived& derived, const PageOptions& options) {
  const Reports reports = gather(derived, options.threads);
  report::Page page =
      first_screen(derived.trace(), verdict(derived, reports, options.threads), reports.steps.steps, options);
  if (!options.everything) return page;
  page.reports.resize(1);  // the steps are part of everything else
  add_everything(page, derived, options);
  return page;
}

Result<report::Page> page_of(RankByRank ranks, const PageOptions& options) {
  std::vector<const analyze::Analysis*> chosen;
  if (options.everything) chosen = answering_by_themselves();
  std::erase_if(chosen, [](const auto* analysis) { return analysis->needs == analyze::Needs::all_ranks; });
  const trace::Trace& heads = ranks.heads;
  auto answers = ask(std::move(ranks), chosen, options.params, true);
  if (!answers) return answers.error();
  report::Page page = first_screen(
      heads, verdict(std::move(answers->judged), true, std::move(answers->notes)), answers->steps, options);
  if (options.everything) page.reports.resize(1);
  for (report::Report& report : answers->reports) page.reports.push_back(std::move(report));
  return page;
}

}  // namespace stepscope::advise
