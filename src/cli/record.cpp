#include "cli/record.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>

#include "cli/exit.h"
#include "cli/present.h"
#include "cli/record_io.h"
#include "record/text/worker_files.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

/// Whether the text is FIRST:END with FIRST below END.
bool is_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto first = number(text.substr(0, colon)), end = number(text.substr(colon + 1));
  return first && end && *first < *end;
}

Error unmade(const fs::path& folder, const std::string& why) {
  return {fmt::format("the folder cannot be created: {}; choose another with -o", why), folder.string()};
}

/// Makes stepscope-YEARMONTHDAY-TIME, with a number after it if somebody has that folder already.
Result<fs::path> new_folder() {
  const std::time_t seconds = std::time(nullptr);
  char text[64];
  std::strftime(text, sizeof text, "stepscope-%Y%m%d-%H%M%S", std::localtime(&seconds));
  std::error_code error;
  const fs::path first = fs::absolute(text, error);
  fs::path folder = first;
  for (int number = 2; ::mkdir(folder.c_str(), 0777) != 0; ++number) {
    if (errno != EEXIST) return unmade(folder, std::strerror(errno));
    folder = fmt::format("{}-{}", first.string(), number);
  }
  return folder;
}

std::vector<std::string> recordings_in(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".stepscope" && !record::is_workers(entry.path().string()))
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Of a run that left no recording; `is_told`: the reason was said before.
std::string why_nothing(const Call& call, bool is_told) {
  if (is_told) return ".";
  if (!call.params.flag("io"))
    return ": no Python in it imported PyTorch, or it ended before the first of --steps. Python's options "
           "-I, -E and -S, and programs on the way that set PYTHONPATH, prevent recording.";
  return call.params.has("io-include")
             ? ": the program did no I/O on files below the folders of --io-include. Programs that are "
               "linked "
               "statically are not seen."
             : ": the program did no I/O on files outside the folders of the system and of its libraries; "
               "--io-include names others. Programs that are linked statically are not seen.";
}

}  // namespace

bool is_count(std::string_view text) { return number(text).value_or(0) > 0; }

std::map<std::string, std::string> recording_options(const Call& call, const fs::path& folder) {
  std::map<std::string, std::string> options = {{"folder", folder.string()}};
  for (const char* name : {"steps", "seconds", "stacks", "shapes", "megabytes", "keep"})
    if (call.params.has(name)) options[name] = call.params.text(name);
  options.try_emplace("stacks", "sampled");
  if (call.params.flag("memory")) options["memory"] = "1";
  if (call.params.flag("memory-history")) options["memory_history"] = "1";
  options.try_emplace("shapes", "cheap");
  return options;
}

Result<fs::path> folder_for(const Call& call) {
  std::error_code error;
  fs::path folder = fs::absolute(call.params.text("output", "."), error);
  // The recorder gets its folder's name in JSON.
  if (report::valid_utf8(folder.string()) != folder.string())
    return Error{"is not UTF-8; choose another folder with -o", folder.string()};
  if (!call.params.has("output")) return new_folder();
  fs::create_directories(folder, error);
  if (error) return unmade(folder, error.message());
  const bool is_empty = fs::is_empty(folder, error);
  if (error)
    return Error{"cannot be read: " + error.message() + "; choose another folder with -o", folder.string()};
  if (!is_empty) return Error{"is not empty; choose a new or empty folder with -o", folder.string()};
  return folder;
}

int report_on(const Call& call, std::vector<std::string> recordings) {
  Call report;
  report.command = find_command("report");
  report.environment = call.environment;
  report.words = std::move(recordings);
  return report.command->run(report);
}

void say_where(const fs::path& folder) { say(fmt::format("recorded in {}", folder.string())); }

int run_record(const Call& call) {
  if (call.program.empty() || !call.words.empty())
    return misuse(call, "record needs a program after --: stepscope record -o DIR -- python train.py");
  if (call.params.has("steps") && !is_range(call.params.text("steps")))
    return misuse(call, fmt::format("--steps {}: give FIRST:END, e.g. 10:15 for the five steps 10 to 14",
                                    call.params.text("steps")));
  const auto folder = folder_for(call);
  if (!folder) return fail(folder.error());
  const auto io = io_setup(call, *folder);
  if (!io) {
    std::error_code ignored;
    fs::remove(*folder, ignored);
    return fail(io.error());
  }
  const auto ended = run_recorded(call.program, recording_options(call, *folder), io->environment);
  const std::vector<std::string> troubles = io_troubles(*folder);
  for (const std::string& trouble : troubles) say("stepscope: I/O was not recorded " + trouble);
  std::vector<std::string> recordings = recordings_in(*folder);
  std::error_code ignored;
  const bool is_there = fs::exists(*folder, ignored);
  if (recordings.empty()) fs::remove(*folder, ignored);
  if (!ended) return fail(ended.error());
  if (ended->signal != 0)
    say(fmt::format("{} was ended by signal {}; its recording up to then follows", call.program[0],
                    ended->signal));
  else if (ended->code != 0)
    say(fmt::format("{} ended with exit code {}; its recording up to then follows", call.program[0],
                    ended->code));
  if (!is_there)
    return fail(
        Error{"is gone, and the recordings in it: record into a folder that the program does not remove (-o)",
              folder->string()});
  if (recordings.empty()) {
    say("stepscope: nothing was recorded" + why_nothing(call, !troubles.empty()));
    return ended->code != 0 || call.params.flag("io") ? ended->code : kFailed;
  }
  const int reported = report_on(call, std::move(recordings));
  say_where(*folder);
  return ended->code != 0 ? ended->code : reported;
}

int run_run(const Call& call) {
  if (call.program.empty() || !call.words.empty())
    return misuse(call, "run needs a program after --: stepscope run -- python train.py");
  say(fmt::format("stepscope: to record steps of it: stepscope attach {} --steps 3", ::getpid()));
  const auto ended = run_recorded(call.program, {{"wait", "1"}});
  return ended ? ended->code : fail(ended.error());
}

}  // namespace stepscope::cli
