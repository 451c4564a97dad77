#include <fmt/format.h>

#include "advise/analyses.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "report/formats/csv.h"
#include "report/formats/json.h"
#include "report/suggest.h"
#include "write/events.h"
#include "write/output.h"
#include "write/sqlite.h"

namespace stepscope::cli {
namespace {

int export_sqlite(const Call& call, const trace::Trace& trace) {
  const std::string path(call.params.text("output"));
  if (path.empty() || path == "-") return misuse(call, "SQLite needs a file: -o trace.sqlite");
  auto database = write::Database::create(path);
  if (!database) return fail(database.error());
  Progress progress(shows_progress(call));
  database->on_progress([&] { progress.tell("writing " + path); });
  const std::string_view what = call.params.text("what");
  for (const write::TraceTable& table : write::trace_tables())
    if (what.empty() || what == "events")
      if (const auto error = database->add(table.name, trace)) return fail(*error);
  for (const analyze::Analysis& analysis : advise::all_analyses())
    if (answers_alone(analysis) && (what.empty() ? analysis.in_report : what == analysis.name))
      if (const auto error = database->add(analyze::run(analysis, trace, {}))) return fail(*error);
  if (const auto error = database->finish()) return fail(*error);
  say_written(call);
  return kDone;
}

int export_events(const Call& call, const trace::Trace& trace, bool json) {
  auto output = write::Output::open(std::string(call.params.text("output")));
  if (!output) return fail(output.error());
  bool first = true;
  write::events(trace, [&](const report::Table& piece) {
    std::string text;
    if (json)
      text = first ? report::json_head("events", piece) : "";
    else
      text = first ? report::csv_head(piece) : "";
    text += json ? report::json_rows(piece, first) : report::csv_rows(piece);
    first = false;
    return output->write(text);
  });
  if (json) output->write(report::json_tail());
  if (const auto error = output->finish()) return fail(*error);
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
