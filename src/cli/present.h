// Shared by the commands: opening traces with progress, reporting errors, printing reports in the chosen
// format.
#pragma once

#include <string>
#include <vector>

#include "advise/analyses.h"
#include "base/result.h"
#include "cli/commands.h"
#include "read/open.h"
#include "report/page.h"
#include "trace/trace.h"

namespace stepscope::cli {

/// Prints a line on stderr.
void say(const std::string& line);
/// Prints "stepscope: …" on stderr; returns kFailed.
int fail(const Error& error);
/// The same for an invalid command line; returns kUsage.
int misuse(const Call& call, const std::string& message);
/// The same for one that names no trace.
int no_trace(const Call& call);

class Progress;
/// Whether standard error is a terminal that can draw progress.
bool shows_progress(const Call& call);
/// The options that the flags ask for; they report to `progress`, which must outlive them.
read::OpenOptions open_options(const Call& call, Progress& progress);
/// Opens `paths` with progress on stderr.
Result<trace::Trace> open_trace(const Call& call, const std::vector<std::string>& paths);
/// Two sides of a comparison, one trace per recording.
struct Sides {
  std::vector<trace::Trace> a, b;
};
/// Each path is one recording: a file, or a directory of the ranks of one job.
Result<Sides> open_sides(const Call& call, const std::vector<std::string>& a,
                         const std::vector<std::string>& b);

/// Removes the columns that are for programs.
void leave_out_details(report::Report& report);
/// Names unreadable files on stderr, for answers whose notes do not name them.
void say_unread(const trace::Trace& trace);

/// Reports on stderr what was written to the path of -o.
void say_written(const Call& call);

/// --format, else the ending of --output, else "text".
std::string format_of(const Call& call);
/// The error if --output has an ending that is no format's and --format is not given, else "".
std::string ending_misfit(const Call& call);

/// Writes `text` to --output or stdout; returns the exit code.
int put(const Call& call, const std::string& text);
/// A report as text for --output or the terminal, to be put among other text.
std::string drawn(const Call& call, const report::Report& report);
/// Prints to stdout, e.g. help.
int print(const std::string& text);
/// Prints one report. With CSV, its notes go to stderr.
/// `headline`: as Page::headline.
int print(const Call& call, const report::Report& report, const std::string& headline = "");
int print(const Call& call, const advise::Answer& answer);
int print(const Call& call, const report::Page& page);

}  // namespace stepscope::cli
