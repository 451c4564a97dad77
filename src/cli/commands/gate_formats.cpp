#include "cli/commands/gate_formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/page.h"
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

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : report::one_line(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::size_t count_of(const Table& checks, std::string_view outcome) {
  std::size_t count = 0;
  for (std::size_t row = 0; row < checks.rows(); ++row) count += field(checks, "outcome", row) == outcome;
  return count;
}

}  // namespace

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
                       xml_text(field(checks, "metric", row)), xml_text(field(checks, "limit", row)));
    if (outcome == "pass") {
      out += fmt::format(">\n    <system-out>{}</system-out>\n  </testcase>\n", xml_text(reason));
      continue;
    }
    const std::string_view tag = outcome == "regression" ? "failure" : "error";
    out += fmt::format(">\n    <{0} type=\"{1}\" message=\"{2}\">BASE {3}, NEW {4}</{0}>\n  </testcase>\n",
                       tag, outcome, xml_text(reason), xml_text(field(checks, "base", row)),
                       xml_text(field(checks, "new", row)));
  }
  out += fmt::format("  <system-out>{}\n{}</system-out>\n</testsuite>\n",
                     xml_text(field(verdict, "headline", 0)), xml_text(doubts));
  return out;
}

}  // namespace stepscope::cli
