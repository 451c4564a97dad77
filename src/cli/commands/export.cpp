#include <fmt/format.h>

#include <algorithm>

#include "advise/analyses.h"
#include "analyze/memory/memory_instants.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "report/suggest.h"
#include "write/events.h"
#include "write/pfw/pfw.h"
#include "write/query.h"
#include "write/snapshot.h"

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
  const bool reports_only = advise::find_analysis(what) != nullptr;
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

/// The windows of a snapshot's devices that --since and --until name; an Error for an instant that is not
/// there.
Result<std::vector<write::SnapshotWindow>> windows_of(const Call& call, const trace::Rank& rank) {
  std::vector<write::SnapshotWindow> windows(rank.snapshot->devices.size());
  const auto set = [&](std::string_view flag,
                       std::optional<std::int64_t> write::SnapshotWindow::* side) -> std::optional<Error> {
    if (!call.params.has(flag)) return std::nullopt;
    const auto events = analyze::events_at(rank, call.params.text(flag));
    if (!events) return events.error();
    for (std::size_t device = 0; device < windows.size(); ++device) windows[device].*side = (*events)[device];
    return std::nullopt;
  };
  if (auto error = set("since", &write::SnapshotWindow::since)) return *std::move(error);
  if (auto error = set("until", &write::SnapshotWindow::until)) return *std::move(error);
  for (const write::SnapshotWindow& window : windows)
    if (window.since && window.until && *window.since > *window.until)
      return Error{"--since is after --until: give the earlier instant as --since", rank.path};
  return windows;
}

int export_pickle(const Call& call, const trace::Trace& trace) {
  const trace::Rank* of = nullptr;
  for (const trace::Rank& rank : trace.ranks) {
    if (rank.snapshot == nullptr) continue;
    if (of != nullptr)
      return misuse(call, "a pickle holds one snapshot, and here are several: name one file");
    of = &rank;
  }
  if (of == nullptr)
    return misuse(call, "only a memory snapshot becomes a pickle; export writes csv, json or sqlite");
  if (call.params.has("what")) return misuse(call, "a pickle holds the whole snapshot: leave out --what");
  auto windows = windows_of(call, *of);
  if (!windows) return fail(windows.error());
  if (const auto error =
          write::export_snapshot(trace, *of, *windows, std::string(call.params.text("output"))))
    return fail(*error);
  if (of->reading.losses > 0 || !of->reading.complete)
    say("note: " + of->path +
        " is damaged; the pickle has what could be read, and does not say what is missing");
  say_written(call);
  return kDone;
}

int export_pfw(const Call& call, const trace::Trace& trace) {
  if (call.params.has("what"))
    return misuse(call, "a .pfw holds file I/O, ranges and operators: leave out --what");
  const auto written = write::export_pfw(trace, std::string(call.params.text("output")));
  if (!written) return fail(written.error());
  for (const std::string& note : written->notes) say("note: " + note);
  say_written(call);
  return kDone;
}

}  // namespace

int run_export(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  const std::string format = format_of(call);
  static constexpr std::string_view kFormats[] = {"csv", "json", "sqlite", "pickle", "pfw"};
  if (!is_one_of(format, kFormats))
    return misuse(
        call,
        "export writes csv, json, sqlite, pickle or pfw: give --format, or -o FILE with one of these "
        "endings");
  const std::string what(call.params.text("what", "events"));
  const analyze::Analysis* analysis = advise::find_analysis(what);
  const auto table = std::ranges::find_if(
      write::trace_tables(), [&](const write::TraceTable& of) { return of.name == what && of.view.empty(); });
  const bool is_table = table != write::trace_tables().end();
  if (what != "events" && !is_table && analysis == nullptr) {
    std::vector<std::string> names = {"events"};
    for (const write::TraceTable& of : write::trace_tables())
      if (of.view.empty()) names.emplace_back(of.name);
    for (const analyze::Analysis& known : advise::all_analyses()) names.emplace_back(known.name);
    return misuse(
        call,
        fmt::format(
            "--what is 'events', a stored table of `stepscope sql`, or the name of an analysis, not '{}'.{} "
            "`stepscope sql TRACE 'SELECT ...' -o FILE` writes any table.",
            what, report::did_you_mean(what, names)));
  }
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  say_unread(*trace);
  if (format == "pickle") return export_pickle(call, *trace);
  if (call.params.has("since") || call.params.has("until"))
    return misuse(call, "--since and --until are for a snapshot as a pickle: -o FILE.pickle");
  if (format == "pfw") return export_pfw(call, *trace);
  if (format == "sqlite") return export_sqlite(call, *trace);
  if (is_table) {
    if (const auto error =
            write::export_table(*trace, *table, std::string(call.params.text("output")), format == "json"))
      return fail(*error);
    say_written(call);
    return kDone;
  }
  if (analysis == nullptr) return export_events(call, *trace, format == "json");
  return print(call, analyze::run(*analysis, *trace, {}));
}

}  // namespace stepscope::cli
