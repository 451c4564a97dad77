#include "compare/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "compare/analysis_difference.h"
#include "report/suggest.h"

namespace stepscope::compare {

Result<const analyze::Analysis*> comparable_named(std::string_view name) {
  std::vector<std::string> known;
  for (const analyze::Analysis* analysis : comparable_analyses()) {
    if (analysis->name == name) return analysis;
    known.emplace_back(analysis->name);
  }
  return Error{fmt::format("--what {}: this is not an analysis that can be compared.{} These can: {}", name,
                           report::did_you_mean(name, known), fmt::join(known, ", ")),
               ""};
}

report::Page page_of(const trace::Trace& a, const trace::Trace& b, const Pair& pair,
                     const StepDifference& difference, unsigned threads) {
  report::Page page{"", {as_report(difference)}, {}};
  page.headline = headline(difference);
  for (report::Report& of_analysis : analysis_differences(a, b, pair, comparable_analyses(), threads))
    page.reports.push_back(std::move(of_analysis));
  return page;
}

report::Report report_of(const trace::Trace& a, const trace::Trace& b, const Pair& pair,
                         const analyze::Analysis& asked, const report::Params& params, unsigned threads) {
  std::vector<report::Report> reports = analysis_differences(a, b, pair, {&asked}, threads);
  report::Report report{std::string(asked.name), {}, {}};
  if (!reports.empty()) report = std::move(reports.front());
  if (report.tables.empty())
    report.notes.emplace_back(
        "Nothing to compare: no rows, or rows that only one recording can have (events, times, steps).");
  if (pair.a.counted.marked || pair.b.counted.marked)
    report.notes.emplace_back("Numbers are means over single steps, at most a dozen on each side.");
  for (report::Table& table : report.tables)
    report::cut(table, static_cast<std::size_t>(params.integer("top")));
  return report;
}

}  // namespace stepscope::compare
