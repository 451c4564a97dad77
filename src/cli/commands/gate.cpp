// `stepscope gate BASE NEW`: the exit code that a build waits for.
#include "compare/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/gate_formats.h"
#include "cli/exit.h"
#include "cli/present.h"
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

}  // namespace

int run_gate(const Call& call) {
  if (call.words.size() != 2)
    return misuse(call, fmt::format("gate needs two recordings, BASE and NEW, not {}; give more runs with "
                                    "--base and --new",
                                    call.words.size()));
  std::vector<compare::Limit> limits;
  for (const std::string& text : values_of(call.params.text("fail-on", "step.total>5%"))) {
    auto limit = compare::parse_limit(text);
    if (!limit) return misuse(call, limit.error().message);
    limits.push_back(std::move(*limit));
  }
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
  if (!gate.wrong.empty()) return misuse(call, gate.wrong.front());
  const int printed = print_gate(call, gate);
  return printed == kDone ? exit_code(gate.outcome()) : kUsage;
}

}  // namespace stepscope::cli
