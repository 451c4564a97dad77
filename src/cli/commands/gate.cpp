// `stepscope gate BASE NEW`: the exit code that a build waits for.
#include "compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/exit.h"
#include "cli/present.h"
#include "read/files.h"
#include "report/html/html.h"
#include "report/page.h"
#include "report/table.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

using report::field;
using report::Table;

/// A text from a file inside a Markdown table: on one line, with nothing that Markdown or HTML would act on.
std::string markdown_text(const std::string& text) {
  constexpr std::string_view kActive = "\\`*_{}[]<>#|~&@";
  std::string out;
  for (const char c : report::one_line(text)) {
    if (kActive.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::size_t count_of(const Table& checks, std::string_view outcome) {
  std::size_t count = 0;
  for (std::size_t row = 0; row < checks.rows(); ++row) count += field(checks, "outcome", row) == outcome;
  return count;
}

/// For a pull request's comment or a job's summary.
std::string to_markdown(const report::Report& gate) {
  const Table &verdict = gate.tables[0], &checks = gate.tables[1];
  const std::string outcome = field(verdict, "outcome", 0);
  const std::string_view mark = outcome == "pass" ? "✅" : outcome == "regression" ? "❌" : "❔";
  std::string out = fmt::format("### {} stepscope gate: {}\n\n{}\n\n", mark, outcome,
                                markdown_text(field(verdict, "headline", 0)));
  out += "| metric | limit | BASE | NEW | change | outcome | why |\n|---|---|--:|--:|--:|---|---|\n";
  for (std::size_t row = 0; row < checks.rows(); ++row) {
    out += '|';
    for (const char* column : {"metric", "limit", "base", "new", "change", "outcome", "reason"})
      out += ' ' + markdown_text(field(checks, column, row)) + " |";
    out += '\n';
  }
  if (!gate.notes.empty()) out += '\n';
  for (const std::string& note : gate.notes) out += "- " + markdown_text(note) + '\n';
  return out;
}

/// One test suite, one test case per limit; inconclusive is an error, a regression a failure.
std::string to_junit(const report::Report& gate) {
  const Table &verdict = gate.tables[0], &checks = gate.tables[1];
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuite name=\"stepscope gate\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
                     checks.rows(), count_of(checks, "regression"), count_of(checks, "inconclusive"));
  std::string doubts;
  for (const std::string& note : gate.notes) doubts += report::one_line(note) + '\n';
  for (std::size_t row = 0; row < checks.rows(); ++row) {
    const std::string outcome = field(checks, "outcome", row), reason = field(checks, "reason", row);
    out += fmt::format("  <testcase classname=\"stepscope.gate\" name=\"{} {}\"",
                       report::escaped(field(checks, "metric", row)),
                       report::escaped(field(checks, "limit", row)));
    if (outcome == "pass") {
      out += fmt::format(">\n    <system-out>{}</system-out>\n  </testcase>\n", report::escaped(reason));
      continue;
    }
    const std::string_view tag = outcome == "regression" ? "failure" : "error";
    out += fmt::format(">\n    <{0} type=\"{1}\" message=\"{2}\">BASE {3}, NEW {4}</{0}>\n  </testcase>\n",
                       tag, outcome, report::escaped(reason), report::escaped(field(checks, "base", row)),
                       report::escaped(field(checks, "new", row)));
  }
  out += fmt::format("  <system-out>{}\n{}</system-out>\n</testsuite>\n",
                     report::escaped(field(verdict, "headline", 0)), report::escaped(doubts));
  return out;
}

/// The values of a flag that may be given several times, those that are empty too.
std::vector<std::string> values_of(std::string_view joined) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= joined.size();) {
    const std::size_t end = std::min(joined.find(';', from), joined.size());
    out.emplace_back(joined.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

/// BASE or NEW and what stands behind its flag.
std::vector<std::string> side(const Call& call, std::size_t word, const char* flag) {
  std::vector<std::string> paths = {call.words[word]};
  if (call.params.has(flag))
    for (std::string& path : values_of(call.params.text(flag))) paths.push_back(std::move(path));
  return paths;
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

/// For people: without the columns for machines; why each limit but the first was decided so stands below.
report::Report for_people(report::Report gate) {
  const report::Table& checks = gate.tables[1];
  std::vector<std::string> reasons;
  for (std::size_t row = 0; checks.rows() > 1 && row < checks.rows(); ++row)
    reasons.push_back(report::field(checks, "metric", row) + ": " + report::field(checks, "reason", row));
  gate.notes.insert(gate.notes.begin(), reasons.begin(), reasons.end());
  for (report::Table& table : gate.tables)
    std::erase_if(table.columns,
                  [](const report::Column& column) { return column.role == report::Role::detail; });
  return gate;
}

int print_gate(const Call& call, const report::Report& report) {
  const std::string format = format_of(call);
  if (format == "markdown") return put(call, to_markdown(report));
  if (format == "junit") return put(call, to_junit(report));
  return print(call, format == "text" ? for_people(report) : report);
}

}  // namespace

int run_gate(const Call& call) {
  if (call.words.size() != 2)
    return misuse(
        call, fmt::format("gate needs two recordings, BASE and NEW, not {}; more runs of a side go behind "
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
      return misuse(call, twice + " is given twice for one side; runs must be recordings of their own");
  auto sides = open_sides(call, base, now);
  if (!sides) {
    fail(sides.error());
    return kUsage;
  }
  const compare::Gate gate =
      compare::gate(sides->a, sides->b, limits, call.params.share("allow-noise"), call.params);
  if (!gate.wrong.empty()) return misuse(call, gate.wrong.front());
  const int printed = print_gate(call, compare::as_report(gate));
  return printed == kDone ? exit_code(gate.outcome()) : kUsage;
}

}  // namespace stepscope::cli
