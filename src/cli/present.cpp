#include "cli/present.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "analyze/analyses.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/formats/csv.h"
#include "report/formats/folded.h"
#include "report/formats/json.h"
#include "report/html/html.h"
#include "report/text/text.h"
#include "report/units.h"
#include "report/utf8.h"
#include "write/output.h"

namespace stepscope::cli {
void say(const std::string& line) { fmt::print(stderr, "{}\n", report::one_line(line)); }

namespace {

report::TextStyle style_of(const Call& call, bool to_file) {
  report::TextStyle style;
  style.width = width(call.environment);
  style.height = to_file ? 0 : height() - 1;  // the last line is for the shell's prompt
  style.colour = !to_file && coloured(call.environment);
  if (!to_file && is_terminal(STDOUT_FILENO) && !call.params.has("top"))
    style.max_rows = report::kRowsOnTerminal;
  return style;
}

bool to_file(const Call& call) {
  return !call.params.text("output").empty() && call.params.text("output") != "-";
}

struct Ending {
  std::string_view ending, format;
};
constexpr Ending kEndings[] = {{".html", "html"},      {".htm", "html"},      {".json", "json"},
                               {".csv", "csv"},        {".txt", "text"},      {".sqlite", "sqlite"},
                               {".sqlite3", "sqlite"}, {".db", "sqlite"},     {".md", "markdown"},
                               {".xml", "junit"},      {".folded", "folded"}, {".pickle", "pickle"},
                               {".pkl", "pickle"},     {".pfw", "pfw"},       {".pfw.gz", "pfw"}};

const Ending* ending_of(const Call& call) {
  const std::filesystem::path path = call.params.text("output");
  std::string ending = path.extension().string();
  if (ending == ".gz") ending = path.stem().extension().string() + ending;
  const auto* found = std::find_if(std::begin(kEndings), std::end(kEndings),
                                   [&](const Ending& known) { return known.ending == ending; });
  return found == std::end(kEndings) ? nullptr : found;
}

/// The error if reports are not written in that format, else "".
std::string misplaced(std::string_view format) {
  if (format == "sqlite" || format == "pickle" || format == "pfw")
    return "only `stepscope export` writes SQLite, pickles and .pfw";
  if (format == "folded") return "only `stepscope show` writes folded stacks";
  return format == "markdown" || format == "junit" ? "only `stepscope gate` writes Markdown and JUnit" : "";
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
  say(fmt::format("`stepscope {}{} --help` explains it.", call.command->name,
                  call.analysis == nullptr ? "" : " " + std::string(call.analysis->name)));
  return kUsage;
}

int no_trace(const Call& call) {
  return misuse(call, fmt::format("{}{} needs a trace: a file, a directory, or - for standard input",
                                  call.command->name,
                                  call.analysis == nullptr ? "" : " " + std::string(call.analysis->name)));
}

bool shows_progress(const Call& call) { return is_terminal(STDERR_FILENO) && !call.environment.dumb; }

read::OpenOptions open_options(const Call& call, Progress& progress) {
  constexpr std::int64_t kMaxThreads = 1024;
  read::OpenOptions options;
  options.threads = static_cast<unsigned>(std::min(call.params.integer("threads"), kMaxThreads));
  options.progress = [&](std::int64_t done, std::int64_t total) { progress.tell(done, total); };
  options.run = call.params.integer("run");
  options.companions_alone = call.command->run == run_validate;
  return options;
}

Result<trace::Trace> open_trace(const Call& call, const std::vector<std::string>& paths) {
  Progress progress(shows_progress(call));
  auto trace = read::open(paths, open_options(call, progress));
  if (!trace || !call.params.has("step")) return trace;
  const std::string absent = analyze::absent_step(*trace, call.params);
  return absent.empty() ? std::move(trace) : Error{absent, paths.size() == 1 ? paths[0] : ""};
}

void say_unread(const trace::Trace& trace) {
  for (const std::string& reason : trace.unread) say("not read: " + reason);
}

Result<Sides> open_sides(const Call& call, const std::vector<std::string>& a,
                         const std::vector<std::string>& b) {
  Sides sides;
  for (const auto& [paths, traces] : {std::pair{&a, &sides.a}, {&b, &sides.b}}) {
    for (const std::string& path : *paths) {
      auto trace = open_trace(call, {path});
      if (!trace) return trace.error();
      say_unread(*trace);
      traces->push_back(std::move(*trace));
    }
  }
  return sides;
}

void say_written(const Call& call) {
  const std::string path(call.params.text("output"));
  std::error_code error;
  if (!to_file(call) || !std::filesystem::is_regular_file(path, error)) return;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  say(fmt::format("wrote {}, {}", path, report::format_value(size, report::Unit::bytes)));
}

std::string format_of(const Call& call) {
  if (call.params.has("format")) return std::string(call.params.text("format"));
  const Ending* ending = ending_of(call);
  return ending == nullptr ? "text" : std::string(ending->format);
}

std::string ending_misfit(const Call& call) {
  const std::filesystem::path path = call.params.text("output");
  if (call.command->run == run_merge || call.command->run == run_overlay || call.command->run == run_attach ||
      call.command->runs_program)
    return "";  // these check their own endings
  if (call.params.has("format") || !path.has_extension() || ending_of(call) != nullptr) return "";
  return fmt::format(
      "-o {}: no format ends in '{}'; reports end in .html, .json, .csv or .txt, databases in .sqlite. Or "
      "give --format",
      path.string(), path.extension().string());
}

int put(const Call& call, const std::string& text) {
  auto output = write::Output::open(std::string(call.params.text("output")));
  if (!output) return fail(output.error());
  output->write(text);
  if (const auto error = output->finish()) return fail(*error);
  say_written(call);
  return kDone;
}

std::string drawn(const Call& call, const report::Report& report) {
  return report::to_text(report, style_of(call, to_file(call)));
}

int print(const std::string& text) { return put(Call{}, text); }

int print(const Call& call, const report::Report& report, const std::string& headline) {
  const std::string format = format_of(call);
  if (format == "json") return put(call, report::to_json(report));
  if (format == "html") return put(call, report::to_html(report, nullptr, headline));
  if (format == "folded") {
    const auto stacks = report::to_folded(report);
    return stacks
               ? put(call, *stacks)
               : misuse(call, fmt::format("{} has no stacks; python_stacks and memory_peak do", report.name));
  }
  if (const std::string why = misplaced(format); !why.empty()) return misuse(call, why);
  if (format == "text") return put(call, report::to_text(report, style_of(call, to_file(call)), headline));
  say_notes(report.notes);
  return put(call, report::to_csv(report));
}

int print(const Call& call, const advise::Answer& answer) {
  if (answer.verdict && format_of(call) == "html")
    return put(call, report::to_html(answer.report, &*answer.verdict));
  if (answer.verdict && format_of(call) == "text")
    return put(call, report::to_text(*answer.verdict, style_of(call, to_file(call))));
  return print(call, answer.report);
}

int print(const Call& call, const report::Page& page) {
  const std::string format = format_of(call);
  if (format == "json") return put(call, report::to_json(page.reports));
  if (format == "html") return put(call, report::to_html(page));
  if (const std::string why = misplaced(format); !why.empty()) return misuse(call, why);
  if (format == "text") return put(call, report::to_text(page, style_of(call, to_file(call))));
  say_notes(report::notes_of(page));
  return put(call, report::to_csv(page.reports));
}

void leave_out_details(report::Report& report) {
  for (report::Table& table : report.tables)
    std::erase_if(table.columns,
                  [](const report::Column& column) { return column.role == report::Role::detail; });
}

}  // namespace stepscope::cli
