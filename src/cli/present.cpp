#include "cli/present.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "cli/exit.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "read/open.h"
#include "report/csv.h"
#include "report/html.h"
#include "report/json.h"
#include "report/text.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kRowsOnTerminal = 40;

void say(const std::string& line) { fmt::print(stderr, "{}\n", report::one_line(line)); }

report::TextStyle style_of(const Call& call, bool to_file) {
  report::TextStyle style;
  style.width = width(call.environment);
  style.colour = !to_file && coloured(call.environment);
  if (!to_file && is_terminal(STDOUT_FILENO) && !call.params.has("top")) style.most_rows = kRowsOnTerminal;
  return style;
}

bool to_file(const Call& call) {
  return !call.params.text("output").empty() && call.params.text("output") != "-";
}

void say_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) say("note: " + note);
}

}  // namespace

int fail(const Error& error) {
  say("stepscope: " + error.text());
  return kFailed;
}

int misuse(const Call& call, const std::string& message) {
  say("stepscope: " + message);
  say(fmt::format("`stepscope {} --help` explains it.", call.command->name));
  return kUsage;
}

Result<trace::Trace> open_trace(const Call& call, const std::vector<std::string>& paths) {
  const std::string output(call.params.text("output"));
  std::error_code missing;
  for (const std::string& path : paths)
    if (!output.empty() && std::filesystem::equivalent(output, path, missing))
      return Error{"is the trace itself and would be overwritten; choose another place with -o", output};
  Progress progress(is_terminal(STDERR_FILENO) && !call.environment.dumb);
  read::OpenOptions options;
  options.threads = static_cast<unsigned>(std::min<std::int64_t>(call.params.integer("threads"), 1024));
  options.progress = [&](std::int64_t done, std::int64_t total) { progress.tell(done, total); };
  return read::open(paths, options);
}

void say_unread(const trace::Trace& trace) {
  for (const std::string& reason : trace.unread) say("not read: " + reason);
}

std::string format_of(const Call& call) {
  if (call.params.has("format")) return std::string(call.params.text("format"));
  const std::string ending = std::filesystem::path(call.params.text("output")).extension().string();
  for (const char* format : {"csv", "json", "html", "sqlite"})
    if (ending == std::string(".") + format) return format;
  return ending == ".htm" ? "html" : ending == ".db" || ending == ".sqlite3" ? "sqlite" : "text";
}

std::string title_of(const trace::Trace& trace) {
  const trace::Rank& first = trace.ranks.front();
  std::string title = std::filesystem::path(first.path).filename().string();
  if (trace.ranks.size() > 1)
    title += fmt::format(" and {} more · {} ranks", trace.ranks.size() - 1, trace.ranks.size());
  std::size_t steps = 0;
  std::set<std::string> devices;
  for (const trace::Rank& rank : trace.ranks) {
    std::size_t marked = 0;
    for (const trace::Step& step : rank.steps) marked += step.row == trace::kNoRow ? 0 : 1;
    steps = std::max(steps, marked);
    for (const trace::Device& device : rank.devices)
      if (!device.name.empty()) devices.insert(device.name);
  }
  if (steps > 0) title += fmt::format(" · {} step{}", steps, steps == 1 ? "" : "s");
  for (const std::string& device : devices) title += " · " + device;
  return title;
}

int put(const Call& call, const std::string& text) {
  auto output = Output::open(std::string(call.params.text("output")));
  if (!output) return fail(output.error());
  output->write(output->on_terminal() && format_of(call) == "csv" ? harmless(text) : text);
  const auto error = output->finish();
  return error ? fail(*error) : kDone;
}

int print(const Call& call, const report::Report& report) {
  const std::string format = format_of(call);
  if (format == "json") return put(call, report::to_json(report));
  if (format == "html") return put(call, report::to_html(report));
  if (format == "sqlite") return misuse(call, "only `stepscope export` writes SQLite");
  if (format == "text") return put(call, report::to_text(report, style_of(call, to_file(call))));
  say_notes(report.notes);
  return put(call, report::to_csv(report));
}

int print(const Call& call, const report::Page& page) {
  const std::string format = format_of(call);
  if (format == "json") return put(call, report::to_json(page.reports));
  if (format == "html") return put(call, report::to_html(page));
  if (format == "sqlite") return misuse(call, "only `stepscope export` writes SQLite");
  if (format == "text") return put(call, report::to_text(page, style_of(call, to_file(call))));
  say_notes(report::notes_of(page));
  return put(call, report::to_csv(page.reports));
}

}  // namespace stepscope::cli
