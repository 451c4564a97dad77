#include <fmt/format.h>

#include "report/html_parts.h"
#include "report/layout.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

std::string_view entity_of(char32_t code) {
  switch (code) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

void put_line(std::string& out, std::string_view label, const std::string& text) {
  if (!text.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>", label, escaped(text));
}

void put_card(std::string& out, const Table& table, std::size_t row) {
  const std::string rank = field(table, "rank", row);
  out += fmt::format("<li class=\"card\"><header><h3><span>{}</span>{}</h3>",
                     escaped(rank.empty() ? std::to_string(row + 1) : rank), escaped(title_of(table, row)));
  const std::string saving = saving_of(table, row);
  if (!saving.empty()) out += fmt::format("<span class=\"saves\">saves {} per step</span>", escaped(saving));
  out += "</header><dl>";
  put_line(out, "Do", field(table, "remedy", row));
  put_line(out, "See", field(table, "evidence", row));
  const std::string because = field(table, "because", row);
  put_line(out, "Confidence", field(table, "confidence", row) + (because.empty() ? "" : ": " + because));
  put_line(out, "Check", field(table, "verify", row));
  out += "</dl></li>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  const std::string line = one_line(text);
  std::string out;
  for (std::string_view rest = line; !rest.empty();) {
    const char32_t code = take_code_point(rest);
    const std::string_view entity = entity_of(code);
    if (entity.empty())
      append_utf8(out, code);
    else
      out += entity;
  }
  return out;
}

void put_html_verdict(std::string& out, const Table& table) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    out += fmt::format("<{0}>{1}</{0}>\n<ul class=\"facts\">", row == 0 ? "h1" : "h2",
                       escaped(headline_of(table, row)));
    for (const std::string& fact : facts_of(table, row)) out += "<li>" + escaped(fact) + "</li>";
    out += "</ul>\n";
  }
}

void put_html_findings(std::string& out, const Table& table) {
  out += "<section>\n<h2>What to change</h2>\n";
  if (table.rows() == 0) out += "<p>Nothing that this recording can prove worth changing.</p>\n";
  out += "<ol class=\"findings\">\n";
  for (std::size_t row = 0; row < table.rows(); ++row) put_card(out, table, row);
  out += "</ol>\n";
  if (table.rows() > 1) out += "<p class=\"more\">Savings of causes that overlap do not add up.</p>\n";
  out += "</section>\n";
}

void put_html_warning(std::string& out, std::string_view text) {
  out += fmt::format("<div class=\"warning\"><b aria-hidden=\"true\">!</b><p>{}</p></div>\n", escaped(text));
}

}  // namespace stepscope::report
