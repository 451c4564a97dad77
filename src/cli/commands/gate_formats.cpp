#include "cli/commands/gate_formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html/html.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

/// A text from a file for a Markdown table: on one line, with nothing that Markdown or HTML would interpret.
std::string markdown_text(const std::string& text) {
  constexpr std::string_view kActive = "\\`*_{}[]<>#|~&@";
  std::string out;
  for (const char c : report::one_line(text)) {
    if (kActive.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string to_markdown(const compare::Gate& gate) {
  const compare::Outcome outcome = gate.outcome();
  const std::string_view mark = outcome == compare::Outcome::pass         ? "✅"
                                : outcome == compare::Outcome::regression ? "❌"
                                                                          : "❔";
  std::string out = fmt::format("### {} stepscope gate: {}\n\n{}\n\n", mark, name_of(outcome),
                                markdown_text(compare::headline(gate)));
  out += "| metric | limit | BASE | NEW | change | outcome | why |\n|---|---|--:|--:|--:|---|---|\n";
  for (const compare::Check& c : gate.checks) {
    const std::string change = report::format_value(c.growth(), report::Unit::share);
    out += '|';
    for (const std::string& cell : {c.limit.metric(), c.limit_text(), c.base_text(), c.now_text(), change,
                                    std::string(name_of(c.outcome)), c.reason})
      out += ' ' + markdown_text(cell) + " |";
    out += '\n';
  }
  if (!gate.notes.empty()) out += '\n';
  for (const std::string& note : gate.notes) out += "- " + markdown_text(note) + '\n';
  return out;
}

std::string to_junit(const compare::Gate& gate) {
  using compare::Outcome;
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuite name=\"stepscope gate\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
                     gate.checks.size(), gate.count(Outcome::regression), gate.count(Outcome::inconclusive));
  std::string doubts;
  for (const std::string& note : gate.notes) doubts += report::one_line(note) + '\n';
  for (const compare::Check& c : gate.checks) {
    out += fmt::format("  <testcase classname=\"stepscope.gate\" name=\"{} {}\"",
                       report::escaped(c.limit.metric()), report::escaped(c.limit_text()));
    if (c.outcome == Outcome::pass) {
      out += fmt::format(">\n    <system-out>{}</system-out>\n  </testcase>\n", report::escaped(c.reason));
      continue;
    }
    const std::string_view tag = c.outcome == Outcome::regression ? "failure" : "error";
    out += fmt::format(">\n    <{0} type=\"{1}\" message=\"{2}\">BASE {3}, NEW {4}</{0}>\n  </testcase>\n",
                       tag, name_of(c.outcome), report::escaped(c.reason), report::escaped(c.base_text()),
                       report::escaped(c.now_text()));
  }
  out += fmt::format("  <system-out>{}\n{}</system-out>\n</testsuite>\n",
                     report::escaped(compare::headline(gate)), report::escaped(doubts));
  return out;
}

}  // namespace stepscope::cli
