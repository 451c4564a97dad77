// One analysis on the page: its tables, each with its picture, and its notes below them.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/html/parts.h"
#include "report/text/layout.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kOpenRows = 12;  // sections not asked for and tables below a picture fold beyond this

/// Draws the table's picture; false if it has none that replaces the numbers.
bool put_picture(std::string& out, const Table& table) {
  if (table.shape == Shape::flame) return put_html_flame(out, table);
  return (table.shape == Shape::curve && put_html_curve(out, table)) ||
         (table.shape == Shape::matrix && put_html_matrix(out, table));
}

void put_table(std::string& out, const Table& table, bool with_stack) {
  out += fmt::format("<h3>{}</h3>\n", escaped(table.title));
  if (const auto stack = stack_of(table); stack && with_stack) put_html_stack(out, table, *stack, true);
  const bool folded = put_picture(out, table) && table.rows() > kOpenRows;
  if (folded) out += "<details><summary>Numbers</summary>\n";
  put_html_table(out, table);
  if (folded) out += "</details>\n";
}

std::size_t rows_of(std::span<const Table> tables) {
  std::size_t rows = 0;
  for (const Table& table : tables) rows += table.rows();
  return rows;
}

std::string empty_tables(std::span<const Table> tables) {
  std::string names;
  for (const Table& table : tables)
    if (table.rows() == 0) names += (names.empty() ? "" : ", ") + table.title;
  return names;
}

}  // namespace

std::string anchor_of(std::string_view name) {
  std::string anchor = "of-";
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    anchor += plain ? c : '-';
  }
  return anchor;
}

void put_html_section(std::string& out, const Report& report, bool asked_for, bool compared) {
  const auto tables = std::span(report.tables).subspan(compared ? 1 : 0);
  const std::size_t rows = rows_of(tables);
  const bool open = asked_for || (rows > 0 && rows <= kOpenRows);
  out += fmt::format("<details class=\"section\"{}>\n<summary><h2>{}</h2>", open ? " open" : "",
                     escaped(spoken(report.name)));
  if (!report.question.empty()) out += fmt::format("<span>{}</span>", escaped(report.question));
  if (rows == 0) out += "<i>nothing recorded</i>";
  // The id is inside the fold, so that a link to it opens the fold.
  out += fmt::format("</summary>\n<div id=\"{}\">\n", anchor_of(report.name));
  const bool on_top = std::any_of(tables.begin(), tables.end(), shows_whole);
  for (const Table& table : tables)
    if (table.rows() > 0) put_table(out, table, !on_top);
  for (const std::string& note : compared ? std::vector<std::string>() : report.notes)
    out += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  if (const std::string names = empty_tables(tables); !names.empty())
    out += fmt::format("<p class=\"more\">No rows: {}.</p>\n", escaped(names));
  out += "</div>\n</details>\n";
}

}  // namespace stepscope::report
