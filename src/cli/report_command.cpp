#include <fmt/format.h>

#include <algorithm>

#include "advise/verdict.h"
#include "base/parallel.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "report/judgement.h"

namespace stepscope::cli {
namespace {

/// For a shell.
std::string quoted(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-@%:,=";
  return path.find_first_not_of(kPlain) == std::string::npos ? path : "'" + path + "'";
}

/// Analyses that answer without being told what to look at; the steps first, the facts of the recording last.
std::vector<const analyze::Analysis*> answering_by_themselves() {
  std::vector<const analyze::Analysis*> chosen;
  for (const analyze::Analysis& analysis : analyze::all())
    if (analysis.in_report && answers_alone(analysis)) chosen.push_back(&analysis);
  const auto place = [](const analyze::Analysis* a) {
    return a->name == "steps" ? 0 : a->name == "overview" ? 2 : 1;
  };
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const auto* a, const auto* b) { return place(a) < place(b); });
  return chosen;
}

/// Where a step's time goes, for the first screen.
void add_whole(report::Page& page, const report::Report& steps) {
  report::Report whole{steps.name, {}, {}};
  for (const report::Table& table : steps.tables)
    if (report::place_of(table) == report::Place::whole) whole.tables.push_back(table);
  page.reports.push_back(std::move(whole));
}

/// The traces as they were given; "TRACE" for what a command cannot repeat, or would be long.
std::string traces_of(const Call& call) {
  constexpr std::size_t kMost = 3;
  std::string words;
  for (const std::string& word : call.words) {
    if (word == "-" || word.find('\'') != std::string::npos || call.words.size() > kMost) return "TRACE";
    words += (words.empty() ? "" : " ") + quoted(word);
  }
  return words;
}

report::Page first_screen(const Call& call, const analyze::Derived& derived, const report::Params& params) {
  constexpr std::size_t kMostProofs = 2;
  const auto threads = static_cast<unsigned>(call.params.integer("threads"));
  const advise::Reports reports = advise::gather(derived, params, threads);
  report::Page page{title_of(derived.trace()), {advise::verdict(derived, reports, threads)}, {}};
  add_whole(page, reports.steps);
  const std::string traces = traces_of(call);
  const report::Judgement judgement = report::judgement_of(page.reports);
  for (const std::string& name : report::proving_analyses(judgement))
    if (analyze::find(name) != nullptr && page.next.size() < kMostProofs)
      page.next.push_back(fmt::format("stepscope show {} {}", name, traces));
  const report::Table& asked = judgement.findings->rows() > 0 ? *judgement.findings : *judgement.health;
  if (asked.rows() > 0)
    page.next.push_back(fmt::format("stepscope explain {} {}", report::field(asked, "id", 0), traces));
  page.next.push_back(fmt::format("stepscope report {} -o report.html", traces));
  return page;
}

void add_everything(report::Page& page, const analyze::Derived& derived, const report::Params& params,
                    unsigned threads) {
  const std::vector<const analyze::Analysis*> chosen = answering_by_themselves();
  std::vector<report::Report> reports(chosen.size());
  parallel_for(chosen.size(), thread_count(threads),
               [&](std::size_t i) { reports[i] = analyze::run(*chosen[i], derived, params); });
  for (report::Report& report : reports) page.reports.push_back(std::move(report));
}

}  // namespace

int run_report(const Call& call) {
  if (call.words.empty())
    return misuse(call, "report needs a trace: a file, a directory, or - for standard input");
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  const auto threads = static_cast<unsigned>(call.params.integer("threads"));
  report::Params params;
  for (const char* name : {"step", "top"})
    if (call.params.has(name)) params.set(name, std::string(call.params.text(name)));
  const std::string format = format_of(call);
  report::Params uncut = params;
  uncut.set("top", "0");
  const analyze::Derived derived(*trace, params);
  report::Page page = first_screen(call, derived, uncut);
  if (format == "text") return print(call, page);
  page.reports.resize(1);  // the steps come with everything else
  add_everything(page, derived, params, threads);
  return print(call, page);
}

}  // namespace stepscope::cli
