#include <fmt/format.h>

#include "cli/present.h"
#include "cli/suggest.h"

namespace stepscope::cli {
namespace {

/// A message when --sort names no column, or "".
std::string sort_misfit(const report::Params& params, const report::Report& report) {
  const std::string_view wanted = params.text("sort");
  if (wanted.empty() || report.tables.empty()) return "";
  std::vector<std::string> names;
  for (const report::Table& table : report.tables) {
    if (table.column(wanted) != nullptr) return "";
    for (const report::Column& c : table.columns) names.push_back(c.name);
  }
  std::string all;
  for (const report::Column& c : report.tables.front().columns) all += (all.empty() ? "" : ", ") + c.name;
  return fmt::format("--sort: there is no column '{}'.{} The columns are {}.", wanted,
                     did_you_mean(wanted, names), all);
}

}  // namespace

int run_show(const Call& call) {
  if (call.words.empty())
    return misuse(call, fmt::format("show {} needs a trace: a file, a directory, or - for standard input",
                                    call.analysis->name));
  const bool names_an_event = !analyze::answers_alone(*call.analysis);
  if (names_an_event && !call.params.has("id"))
    return misuse(call, fmt::format("show {} needs --id N, a position in the file's list of events",
                                    call.analysis->name));
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  if (call.analysis->name != "overview") say_unread(*trace);  // its notes name them
  const report::Report report = analyze::run(*call.analysis, *trace, call.params);
  const std::string reason = sort_misfit(call.params, report);
  if (!reason.empty()) return misuse(call, reason);
  if (names_an_event && report.tables.front().rows() == 0) return fail(Error{report.notes.front(), ""});
  return print(call, report);
}

}  // namespace stepscope::cli
