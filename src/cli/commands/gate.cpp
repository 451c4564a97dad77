// `stepscope gate BASE NEW`: the exit code that a build waits for.
#include "compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands/gate_formats.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "compare/history.h"
#include "read/files.h"

namespace stepscope::cli {
namespace {

/// The values of a flag that may be given several times, including empty ones.
std::vector<std::string> values_of(std::string_view joined) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= joined.size();) {
    const std::size_t end = std::min(joined.find(';', from), joined.size());
    out.emplace_back(joined.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

/// The recordings of a history: each file and each folder in DIR. Not `newest`, by whatever path.
Result<std::vector<std::string>> recordings_in(const std::string& folder, const std::string& newest) {
  std::error_code error;
  std::vector<std::string> out;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    const bool readable = entry.is_directory(error) ||
                          std::any_of(std::begin(read::kReadable), std::end(read::kReadable),
                                      [&](std::string_view ending) { return path.ends_with(ending); });
    std::error_code absent;
    if (readable && (newest.empty() || !std::filesystem::equivalent(entry.path(), newest, absent)))
      out.push_back(path);
  }
  if (error) return Error{"--history needs a folder of recordings: " + error.message(), folder};
  std::sort(out.begin(), out.end());
  return out;
}

/// BASE or NEW, and the paths after its flag.
std::vector<std::string> side(const Call& call, std::size_t word, const char* flag) {
  std::vector<std::string> paths = {call.words[word]};
  if (call.params.has(flag))
    for (std::string& path : values_of(call.params.text(flag))) paths.push_back(std::move(path));
  return paths;
}

compare::Runs runs_of(const std::vector<trace::Trace>& traces) {
  compare::Runs runs;
  for (const trace::Trace& trace : traces) runs.push_back(&trace);
  return runs;
}

int exit_code(compare::Outcome outcome) {
  switch (outcome) {
    case compare::Outcome::pass:
      return kDone;
    case compare::Outcome::regression:
      return kRegression;
    default:
      return kInconclusive;
  }
}

/// For a terminal: with several limits, notes below give the reason for each decision.
report::Report for_people(const compare::Gate& gate) {
  report::Report shown = compare::as_report(gate, false);
  std::vector<std::string> reasons;
  if (gate.checks.size() > 1)
    for (const compare::Check& check : gate.checks)
      reasons.push_back(check.limit.metric() + ": " + check.reason);
  shown.notes.insert(shown.notes.begin(), reasons.begin(), reasons.end());
  leave_out_details(shown);
  return shown;
}

int print_gate(const Call& call, const compare::Gate& gate) {
  const std::string format = format_of(call);
  if (format == "markdown") return put(call, to_markdown(gate));
  if (format == "junit") return put(call, to_junit(gate));
  if (format == "text") return print(call, for_people(gate), compare::headline(gate));
  return print(call, compare::as_report(gate, format != "html"), compare::headline(gate));
}

int end_gate(const Call& call, const compare::Gate& gate) {
  if (!gate.wrong.empty()) return misuse(call, gate.wrong.front());
  const int printed = print_gate(call, gate);
  return printed == kDone ? exit_code(gate.outcome()) : kUsage;
}

/// The newest recording against a folder of earlier ones, one in memory at a time.
int run_history(const Call& call, const std::vector<compare::Limit>& limits) {
  const std::string newest = call.words.empty() ? "" : call.words.front();
  if (call.words.size() > 1 || call.params.has("base") || call.params.has("new"))
    return misuse(call, "gate --history DIR takes one recording at most, NEW; the history is BASE");
  auto paths = recordings_in(std::string(call.params.text("history")), newest);
  if (!paths) {
    fail(paths.error());
    return kUsage;
  }
  if (!newest.empty()) paths->push_back(newest);
  if (paths->size() < 2)
    return misuse(call, fmt::format("--history {}: the folder needs recordings, one file or folder each",
                                    call.params.text("history")));
  std::vector<compare::Run> runs;
  for (const std::string& path : *paths) {
    auto trace = open_trace(call, {path});
    if (!trace) {
      say("not read: " + trace.error().text());
      if (path == newest) return kUsage;
      continue;
    }
    say_unread(*trace);
    runs.push_back(
        compare::run_of(std::filesystem::path(path).filename().string(), *trace, limits, call.params));
  }
  if (runs.size() < 2) return misuse(call, "--history: fewer than two recordings can be read");
  return end_gate(call, compare::gate_history(std::move(runs), !newest.empty(), limits,
                                              call.params.share("allow-noise")));
}

}  // namespace

int run_gate(const Call& call) {
  const bool history = call.params.has("history");
  if (!history && call.words.size() != 2)
    return misuse(call, fmt::format("gate needs two recordings, BASE and NEW, not {}; give more runs with "
                                    "--base and --new, or a folder of earlier ones with --history",
                                    call.words.size()));
  std::vector<compare::Limit> limits;
  for (const std::string& text : values_of(call.params.text("fail-on", "step.total>5%"))) {
    auto limit = compare::parse_limit(text);
    if (!limit) return misuse(call, limit.error().message);
    limits.push_back(std::move(*limit));
  }
  if (history) return run_history(call, limits);
  const std::vector<std::string> base = side(call, 0, "base"), now = side(call, 1, "new");
  for (const auto* paths : {&base, &now})
    if (const std::string twice = read::given_twice(*paths); !twice.empty())
      return misuse(call, twice + " is given twice for one side; each run needs a recording of its own");
  auto sides = open_sides(call, base, now);
  if (!sides) {
    fail(sides.error());
    return kUsage;
  }
  const compare::Gate gate = compare::gate(runs_of(sides->a), runs_of(sides->b), limits,
                                           call.params.share("allow-noise"), call.params);
  return end_gate(call, gate);
}

}  // namespace stepscope::cli
