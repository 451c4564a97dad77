#include "report/html/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/base64.h"
#include "base/sha256.h"
#include "report/html/parts.h"
#include "report/text/layout.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

// On paper, the live page gives way to the static one.
constexpr std::string_view kOnPaper = "@media print{#page{display:none}}";

/// As a policy names an element's text.
std::string source_of(std::string_view text) {
  const auto hash = sha256(text);
  return fmt::format("'sha256-{}'", base64({reinterpret_cast<const char*>(hash.data()), hash.size()}));
}

std::string policy_of(const Live& live, std::string_view static_style) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {} {}; require-trusted-types-for 'script'; "
      "img-src data:; base-uri 'none'; form-action 'none'",
      source_of(live.script), source_of(static_style), source_of(live.style));
}

void put_head(std::string& out, const Page& page, const Live* live) {
  std::string style = style_sheet();
  if (live != nullptr) style += kOnPaper;
  out += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n",
                     live == nullptr ? std::string(kPolicy) : policy_of(*live, style));
  out += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  out += "<meta name=\"referrer\" content=\"no-referrer\">\n";
  out += fmt::format("<title>{}</title>\n", escaped(page.title));
  if (live == nullptr) {
    out += fmt::format("<style>{}</style>\n</head>\n<body>\n", style);
    return;
  }
  out += "<link rel=\"icon\" href=\"data:,\">\n";
  out += fmt::format("<style id=\"static-style\">{}</style>\n<style id=\"live-style\" media=\"not all\">",
                     style);
  out += live->style;
  out += "</style>\n</head>\n<body>\n<div id=\"page\"></div>\n<div id=\"static\">\n";
}

/// What the script reads comes before it.
void put_live(std::string& out, const Live& live) {
  out += "</div>\n";
  for (const Block& block : live.blocks) {
    out += fmt::format("<script type=\"application/octet-stream\" id=\"{}\">", block.id);
    out += block.base64;
    out += "</script>\n";
  }
  out += "<script type=\"module\">";
  out += live.script;
  out += "</script>\n";
}

void put_title(std::string& out, const Page& page) {
  const bool judged = !page.headline.empty() || (page.verdict && !page.verdict->ranks.empty());
  out += "<header>\n";
  out += fmt::format("<{}>{}</{}>\n", judged ? "p class=\"what\"" : "h1", escaped(page.title),
                     judged ? "p" : "h1");
  if (!page.headline.empty()) put_html_headline(out, page.headline);
  if (page.verdict) {
    put_html_verdict(out, *page.verdict);
    put_html_summary(out, *page.verdict);
  }
  out += "</header>\n";
}

/// The table of a page that compares the ranks' steps, nullptr if there is none.
const Table* ranks_compared(const Page& page) {
  for (const Report& report : page.reports)
    for (const Table& table : report.tables)
      if (const auto stack = stack_of(table); stack && compares_ranks(*stack) && table.rows() > 1)
        return &table;
  return nullptr;
}

/// Where the time of a step goes: the average as one bar, then the ranks' average steps as bars below each
/// other, or the steps side by side if the page does not compare ranks.
void put_steps(std::string& out, const Page& page) {
  for (const Report& report : page.reports) {
    const auto whole = std::find_if(report.tables.begin(), report.tables.end(), shows_whole);
    if (whole == report.tables.end()) continue;
    const std::string title = title_of_whole(page.verdict ? &*page.verdict : nullptr, *whole);
    out += fmt::format("<section>\n<h2>{}</h2>\n", escaped(title));
    put_html_whole(out, parts_of(*whole), title);
    const Table* ranks = ranks_compared(page);
    for (const Table& table : report.tables) {
      const Table& drawn = ranks == nullptr ? table : *ranks;
      const auto stack = stack_of(drawn);
      if (!stack_of(table) || drawn.rows() < 2) continue;
      out += fmt::format("<h3>{}</h3>\n", escaped(drawn.title));
      put_html_stack(out, drawn, *stack, ranks != nullptr);
    }
    out += "</section>\n";
  }
}

void put_health(std::string& out, const Page& page) {
  std::vector<std::string> lines;
  if (page.verdict) {
    for (const Warning& warning : warnings_of(*page.verdict))
      lines.push_back(fmt::format("{}  {}", warning.id, text_of(warning)));
    lines.insert(lines.end(), page.verdict->notes.begin(), page.verdict->notes.end());
  }
  if (!page.headline.empty()) lines = page.reports.front().notes;
  if (lines.empty()) return;
  out += "<section id=\"health\">\n<h2>What this recording cannot tell</h2>\n";
  for (const std::string& line : lines) put_html_warning(out, line);
  out += "</section>\n";
}

void put_contents(std::string& out, const std::vector<const Report*>& sections) {
  if (sections.size() < 2) return;
  out += "<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">All numbers</h2>\n<ul>";
  for (const Report* report : sections)
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>", anchor_of(report->name),
                       escaped(spoken(report->name)));
  out += "</ul></nav>\n";
}

void put_next(std::string& out, const Page& page) {
  if (page.next.empty()) return;
  out += "<section class=\"next\"><h2>Next</h2>";
  for (const std::string& command : page.next) out += "<code>" + escaped(command) + "</code>";
  out += "</section>\n";
}

/// The analyses without a row, in one line: a program on the CPU has a dozen of them.
void put_empty(std::string& out, const std::vector<const Report*>& empty) {
  if (empty.empty()) return;
  std::string names;
  for (const Report* report : empty) names += (names.empty() ? "" : ", ") + escaped(spoken(report->name));
  out += fmt::format("<p class=\"more\">Nothing is recorded for: {}.</p>\n", names);
}

/// Everything between head and footer.
void put_body(std::string& out, const Page& page) {
  std::vector<std::string_view> proofs;
  if (page.verdict) proofs = proving_analyses(*page.verdict);
  const auto proves = [&](const Report& report) {
    return std::find(proofs.begin(), proofs.end(), report.name) != proofs.end();
  };
  const auto is_empty = [](const Report& report) {
    return std::all_of(report.tables.begin(), report.tables.end(),
                       [](const Table& table) { return table.rows() == 0; });
  };
  std::vector<const Report*> sections, empty;
  for (const Report& report : answers(page))
    (page.verdict && is_empty(report) && !proves(report) ? empty : sections).push_back(&report);
  put_title(out, page);
  put_steps(out, page);
  if (page.verdict) put_html_findings(out, *page.verdict, sections);
  put_health(out, page);
  put_contents(out, sections);
  for (const Report* report : sections) {
    const bool compared = report == sections.front() && !page.headline.empty();
    put_html_section(out, *report, proves(*report) || compared || sections.size() == 1, compared);
  }
  put_empty(out, empty);
  put_next(out, page);
}

}  // namespace

namespace {

std::string whole_file(const Page& page, const Live* live) {
  std::string out;
  put_head(out, page, live);
  out += chart_patterns();
  out += "\n<main>\n";
  put_body(out, page);
  out += "<footer>Written by stepscope " STEPSCOPE_VERSION ". This file is complete: it loads nothing.";
  if (live != nullptr)
    for (const std::string& note : live->notes) out += " " + escaped(note);
  out += "</footer>\n</main>\n";
  if (live != nullptr) put_live(out, *live);
  out += "</body>\n</html>\n";
  return out;
}

}  // namespace

std::string to_html(const Page& page) { return whole_file(page, nullptr); }
std::string to_html(const Page& page, const Live& live) { return whole_file(page, &live); }

std::string to_html(const Report& report, const Verdict* verdict, const std::string& headline) {
  Page page{"stepscope: " + report.name, {report}, {}};
  if (verdict != nullptr) page.verdict = *verdict;
  page.headline = headline;
  return to_html(page);
}

std::string to_html_fragment(const Page& page) {
  std::string body = chart_patterns() + "\n";
  put_body(body, page);
  return scoped(std::move(body));
}

std::string to_html_fragment(const Report& report) {
  std::string body = chart_patterns() + "\n";
  put_html_section(body, report, true);
  return scoped(std::move(body));
}

}  // namespace stepscope::report
