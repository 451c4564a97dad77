#include <fmt/format.h>

#include "advise/analyses.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "report/suggest.h"
#include "write/events.h"
#include "write/query.h"

namespace stepscope::cli {
namespace {

int export_sqlite(const Call& call, const trace::Trace& trace) {
  const std::string path(call.params.text("output"));
  if (path.empty() || path == "-") return misuse(call, "SQLite needs a file: -o trace.sqlite");
  const std::string_view what = call.params.text("what");
  std::vector<write::QueriedReport> reports;
  for (const analyze::Analysis& analysis : advise::all_analyses())
    if (answers_alone(analysis) && (what.empty() ? analysis.in_report : what == analysis.name))
      reports.push_back({analysis.name, [&] { return analyze::run(analysis, trace, {}); }});
  Progress progress(shows_progress(call));
  const bool reports_only = !what.empty() && what != "events";
  if (const auto error =
          write::export_sqlite(trace, reports, path, reports_only, [&] { progress.tell("writing " + path); }))
    return fail(*error);
  say_written(call);
  return kDone;
}

int export_events(const Call& call, const trace::Trace& trace, bool json) {
  const std::string path(call.params.text("output"));
  if (const auto error = write::export_events(trace, path, json)) return fail(*error);
  say_written(call);
  return kDone;
}

}  // namespace

int run_export(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  const std::string format = format_of(call);
  if (format != "csv" && format != "json" && format != "sqlite")
    return misuse(call,
                  "export writes csv, json or sqlite: give --format, or -o FILE with one of these endings");
  const std::string what(call.params.text("what", "events"));
  const analyze::Analysis* analysis = advise::find_analysis(what);
  if (what != "events" && analysis == nullptr) {
    std::vector<std::string> names = {"events"};
    for (const analyze::Analysis& known : advise::all_analyses()) names.emplace_back(known.name);
    return misuse(call, fmt::format("--what is 'events' or the name of an analysis, not '{}'.{}", what,
                                    report::did_you_mean(what, names)));
  }
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  say_unread(*trace);
  if (format == "sqlite") return export_sqlite(call, *trace);
  if (analysis == nullptr) return export_events(call, *trace, format == "json");
  return print(call, analyze::run(*analysis, *trace, {}));
}

}  // namespace stepscope::cli
