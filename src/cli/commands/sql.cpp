#include <fmt/format.h>

#include <chrono>

#include "advise/analyses.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "write/query.h"

namespace stepscope::cli {
namespace {

write::AskLimits limits_of(const Call& call) {
  constexpr std::size_t kRowsUnasked = 1000;
  constexpr std::chrono::seconds kTime(60);
  return {
      .rows = call.params.has("top") ? static_cast<std::size_t>(call.params.integer("top")) : kRowsUnasked,
      .time = kTime};
}

/// A note when not all rows are shown; else "".
std::string left_out(const write::Answer& answer) {
  if (answer.rows <= answer.table.rows() && answer.all_counted) return "";
  return fmt::format("The first {} of {}{} rows are shown; --top N shows N, --top 0 all.",
                     answer.table.rows(), answer.all_counted ? "" : "more than ", answer.rows);
}

/// A table for each answer.
report::Report as_report(std::vector<write::Answer> answers) {
  report::Report report{"sql", {}, {}};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string title = answers.size() == 1 ? "" : fmt::format("Query {}", i + 1);
    if (std::string note = left_out(answers[i]); !note.empty())
      report.notes.push_back(title.empty() ? note : title + ": " + note);
    answers[i].table.title = title;
    report.tables.push_back(std::move(answers[i].table));
  }
  return report;
}

std::vector<write::QueriedReport> reports_of(const trace::Trace& trace) {
  std::vector<write::QueriedReport> reports;
  for (const analyze::Analysis& analysis : advise::all_analyses())
    if (answers_alone(analysis))
      reports.push_back({analysis.name, [&] { return analyze::run(analysis, trace, {}); }});
  return reports;
}

}  // namespace

int run_sql(const Call& call) {
  std::vector<std::string> paths = call.words;
  const bool list = call.params.flag("tables");
  if (paths.empty() || (paths.size() < 2 && !list))
    return misuse(
        call, "sql needs a trace and a query, e.g. stepscope sql trace.json.gz 'SELECT count(*) FROM event'");
  std::string query;
  if (!list) {
    query = paths.back();
    paths.pop_back();
  }
  auto trace = open_trace(call, paths);
  if (!trace) return fail(trace.error());
  say_unread(*trace);
  const std::vector<write::QueriedReport> reports = reports_of(*trace);
  if (list) {
    Call whole = call;
    if (!whole.params.has("top")) whole.params.set("top", "0");
    return print(whole, write::queried_tables(reports));
  }
  Progress progress(shows_progress(call));
  auto answers = write::query(
      *trace, reports, query,
      {limits_of(call), "`stepscope sql TRACE --tables`", [&] { progress.tell("querying SQLite"); }});
  if (!answers) return fail(answers.error());
  return print(call, as_report(std::move(*answers)));
}

}  // namespace stepscope::cli
